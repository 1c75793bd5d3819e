"""Options that make the settings of a run, and the run folder they are for."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..models.errors import UsageError, system_says
from .corpus_options import corpus_options, given_corpus, with_whole_paths
from .options import Decorated, device_option, resume_with, seed_option

if TYPE_CHECKING:
    from ..analyses.run_folder import RunFolder
    from ..models.data.parallel_text import Corpus

PRESETS = ("nano", "miniature", "small", "base")


_RESUME = "headcount.only_resume"


def _keep_resume(context: click.Context, _: click.Parameter, value: bool) -> None:
    """Remember that only an existing run is meant; every run goes on where it was."""
    context.meta[_RESUME] = value


def run_options(function: Decorated) -> Decorated:
    """Add what a run can be told: preset, file, single settings, corpus, seed, device, folder."""
    options: list[Callable[[Decorated], Decorated]] = [
        click.option(
            "--preset",
            type=click.Choice(PRESETS),
            default="miniature",
            show_default=True,
            help="Sizes that go together; everything else is laid over it.",
        ),
        click.option(
            "--config",
            "config",
            metavar="FILE",
            type=click.Path(path_type=Path),
            help="Settings as TOML, such as the config.toml of another run.",
        ),
        click.option(
            "--set",
            "assignments",
            metavar="KEY=VALUE",
            multiple=True,
            help="One setting by its path: --set training.updates=500. Repeatable.",
        ),
        click.option(
            "-o",
            "--output",
            "folder",
            metavar="RUN",
            type=click.Path(path_type=Path),
            help="The run folder; runs/PRESET when not given.",
        ),
        click.option(
            "--resume",
            is_flag=True,
            expose_value=False,
            callback=_keep_resume,
            help="Go on with a run that exists; without it a missing one is begun.",
        ),
        corpus_options,
        seed_option,
        device_option,
    ]
    for option in reversed(options):
        function = option(function)
    return function


def run_of(
    preset: str, config: Path | None, assignments: Sequence[str], folder: Path | None, seed: int
) -> tuple[RunFolder, Corpus | None]:
    """Create the run that the options describe, or go on with it.

    Where the folder holds a run and neither a preset nor a file is given, its recorded
    settings are what the options are laid over. The settings of a new run are checked and its
    text is read before its folder is made: one that was made for a misspelt name or for text
    that cannot be read would stand in the way of the corrected command.

    Returns:
        The run, and its text where that has been read.

    Raises:
        UsageError: settings that are wrong, or others than the run was made with.
        DataError: the text of a new run cannot be read.
    """
    from ..analyses.presets import RunSettings, merged, run_settings
    from ..analyses.run_folder import RunFolder
    from ..models.data.corpora import load_corpus

    path = folder or Path("runs") / preset
    resume_with(f"headcount run -o {path}")
    corpus = given_corpus()
    changes = [with_whole_paths(assigned(assignment)) for assignment in assignments]
    changes += [{"corpus": corpus}] if corpus else []
    changes += [{"seed": seed}] if _typed("seed") else []
    exists = (path / "run.json").exists()
    if click.get_current_context().meta[_RESUME] and not exists:
        raise UsageError(f"{path} holds no run to resume; leave --resume out to begin one")
    if exists and not _typed("preset") and config is None:
        values: dict[str, Any] = RunFolder.open(path).config
        for change in changes:
            values = merged(values, change)
        settings = RunSettings.from_dict(values, "options")
    else:
        layers = [with_whole_paths(read_config(config))] if config else []
        settings = run_settings(preset, *layers, *changes, where=str(config or "options"))
    text = None
    if not exists:
        settings.check()
        text = load_corpus(settings.corpus)
    return RunFolder.resume(path, settings.model_dump(mode="json")), text


def read_config(path: Path) -> dict[str, Any]:
    """Read settings from a TOML file.

    Raises:
        UsageError: no such file, or not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; name a TOML file with settings") from None
    except OSError as error:
        raise UsageError(f"{path}: {system_says(error)}; name a TOML file with settings") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} cannot be read as TOML: {error}") from None


def assigned(assignment: str, option: str = "--set") -> dict[str, Any]:
    """Turn `training.updates=500` into nested settings; a value that is no TOML is text."""
    key, equals, text = assignment.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"{option} {assignment}: write KEY=VALUE, such as training.updates=500")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    nested: dict[str, Any] = {}
    place = nested
    *path, last = key.strip().split(".")
    for part in path:
        place = place.setdefault(part, {})
    place[last] = value
    return nested


def _typed(option: str) -> bool:
    """Say whether an option was given on the command line, default or not."""
    source = click.get_current_context().get_parameter_source(option)
    return source is ParameterSource.COMMANDLINE
