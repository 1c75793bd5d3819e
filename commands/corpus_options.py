"""Options that name a corpus, the same for every command that reads one.

    @click.command()
    @corpus_options
    def command() -> None:
        settings = CorpusSettings.from_dict(given_corpus())

What was given on the command line is collected on the side, so that a command with these options
does not need a parameter for each; what was not given is missing, so that a configuration
file may say it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..models.errors import UsageError
from .options import Decorated

_GIVEN = "headcount.corpus"
_SPLITS = ("train", "valid", "test")


def corpus_options(function: Decorated) -> Decorated:
    """Add `--corpus`, own files, languages and reading rules; `given_corpus` has the values."""
    for option in reversed(_OPTIONS):
        option(function)
    return function


def given_corpus() -> dict[str, Any]:
    """Return the corpus settings that were given to the command that runs now.

    Own files also say that the corpus is `files`, whatever a configuration file names. Paths
    are absolute, so that a run can be resumed from another folder.

    Raises:
        UsageError: the text of a split is given twice.
    """
    given = dict(click.get_current_context().meta.get(_GIVEN, {}))
    for split, path in zip(_SPLITS, given.pop("tables", ()), strict=False):
        if split in given:
            raise UsageError(f"--tsv names the {split} text, and so does --{split}: give one")
        given[split] = (path,)
    return {"name": "files", **given} if "train" in given else given


def with_whole_paths(values: dict[str, Any]) -> dict[str, Any]:
    """Return settings in which the paths of the corpus are absolute, as options make them.

    Args:
        values: nested like the settings of a run, such as from a configuration file. What is of
            a wrong kind stays as it is, to be refused where settings are checked.
    """
    corpus = values.get("corpus")
    if not isinstance(corpus, dict):
        return values
    whole = dict(corpus)
    for key in (*_SPLITS, "from_folder"):
        match corpus.get(key):
            case str(path):
                whole[key] = _whole_path(path)
            case [*paths] if all(isinstance(path, str) for path in paths):
                whole[key] = [_whole_path(path) for path in paths]
    return {**values, "corpus": whole}


def _whole_path(path: str | Path) -> str:
    from ..models.files import expanded

    return str(expanded(path).absolute())


def _collect(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep a value that was given, under the name of its setting."""
    if value is None or value is False:
        return
    if isinstance(value, tuple):
        value = tuple(map(_whole_path, value))
    elif isinstance(value, Path):
        value = _whole_path(value)
    context.meta.setdefault(_GIVEN, {})[option.name] = value


def _files(split: str, what: str) -> Any:
    return click.option(
        f"--{split}",
        nargs=2,
        metavar="SRC TGT",
        type=click.Path(path_type=Path),
        expose_value=False,
        callback=_collect,
        help=f"Own {what} text: two aligned files, also gzipped.",
    )


_OPTIONS = [
    click.option(
        "--corpus",
        "name",
        metavar="NAME",
        expose_value=False,
        callback=_collect,
        help="A corpus of `headcount data list`; miniature when nothing is given.",
    ),
    _files("train", "training"),
    _files("valid", "validation"),
    _files("test", "test"),
    click.option(
        "--tsv",
        "tables",
        nargs=3,
        metavar="TRAIN VALID TEST",
        type=click.Path(path_type=Path),
        expose_value=False,
        callback=_collect,
        help="Own text as three files with lines source<TAB>target, also gzipped.",
    ),
    click.option(
        "--source-language",
        metavar="CODE",
        expose_value=False,
        callback=_collect,
        help="Such as en; turns miniature and multi30k around.",
    ),
    click.option(
        "--target-language",
        metavar="CODE",
        expose_value=False,
        callback=_collect,
        help="Such as de.",
    ),
    click.option(
        "--sentences",
        metavar="N",
        type=click.IntRange(min=1),
        expose_value=False,
        callback=_collect,
        help="Training sentences of miniature.",
    ),
    click.option(
        "--drop-empty",
        is_flag=True,
        expose_value=False,
        callback=_collect,
        help="Leave out pairs with an empty side instead of refusing the files.",
    ),
    click.option(
        "--longest-line",
        metavar="N",
        type=click.IntRange(min=1),
        expose_value=False,
        callback=_collect,
        help="Characters of the longest sentence that is accepted.",
    ),
    click.option(
        "--from",
        "from_folder",
        metavar="DIR",
        type=click.Path(path_type=Path),
        expose_value=False,
        callback=_collect,
        help="Read multi30k from this folder instead of the cache.",
    ),
]
