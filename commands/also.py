"""`headcount prune --also ffn`: feed-forward units go too, as a second step that stands apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .goal_options import collected
from .options import Decorated

if TYPE_CHECKING:
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result
    from ..analyses.smaller import SmallerSettings
    from ..analyses.units import UnitsSettings
    from ..models.training.from_corpus import Recipe
    from ..models.transformer import TransformerTranslator
    from ..models.translator import Translator

FOLDER = "also-ffn"
"""Where the model without units lies in the folder of the one without heads."""


def also_options(function: Decorated) -> Decorated:
    """Add `--also` and `--ffn-keep`; `given_goal` has the values."""
    collected(
        "--ffn-keep",
        "ffn_keep",
        "With --also ffn, the share of the units that stays; 50% when not given.",
        metavar="SHARE",
    )(function)
    collected(
        "--also",
        "also",
        "As a second step that is shown apart, remove feed-forward units too.",
        type=click.Choice(["ffn"]),
    )(function)
    return function


def remove_units(
    pipeline: Pipeline,
    model: Translator,
    settings: SmallerSettings,
    given: dict[str, Any],
    seed: int,
    *,
    recipe: Recipe,
    scratch: Path,
) -> tuple[TransformerTranslator, Result]:
    """Remove feed-forward units of a model without heads, and write nothing but in `scratch`.

    Args:
        pipeline: of the run.
        model: from which heads are gone; it stays as it is.
        settings: how it was made; the second step is trained on and judged alike.
        given: the options that were given.
        seed: of trainings and resamples.
        recipe: how the whole model was trained.
        scratch: keeps the states of trainings.

    Raises:
        UsageError: options that make no sense.
    """
    from ..analyses.pruning.way import Task
    from ..analyses.units import without_units
    from ..models.transformer import TransformerTranslator

    if not isinstance(model, TransformerTranslator):
        raise UsageError("only models that headcount trained can lose feed-forward units")
    whole = pipeline.translator
    task = Task(
        whole, pipeline.corpus, recipe, whole.layout.heads, seed, scratch, pipeline.progress
    )
    return without_units(model, task, units_settings(settings, given))


def save_units(
    fewer: TransformerTranslator, result: Result, pipeline: Pipeline, folder: Path, *, own: bool
) -> None:
    """Save the model beside the one without heads.

    Args:
        folder: of the model without heads.
        own: whether it lies in the run, so that the page of the run shows it.
    """
    result.save(folder / FOLDER / "results" / "units")
    if own:
        result.save(pipeline.run.result(f"units-{folder.name}"))
    fewer.save(folder / FOLDER)


def units_settings(settings: SmallerSettings, given: dict[str, Any]) -> UnitsSettings:
    """Return the settings of the second step: those of the first, and what was given."""
    from ..analyses.units import UnitsSettings

    if "ffn_keep" in given and "also" not in given:
        raise UsageError("--ffn-keep says how many units --also ffn leaves: give both")
    text = str(given.get("ffn_keep", "50%")).strip()
    try:
        keep = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise UsageError(f"--ffn-keep {text}: write a share such as 50%") from None
    return UnitsSettings.from_dict(
        {
            "keep": keep,
            "finish": settings.finish.model_dump(),
            "test_sentences": settings.test_sentences,
            "search": settings.search.model_dump(),
            "resamples": settings.resamples,
        },
        "--ffn-keep",
    )


def show_units(result: Result, folder: Path) -> None:
    """Say what the second step costs and spares."""
    outcome = result.tables["outcome"]
    click.echo(f"feed-forward units, on {outcome.n}:")
    for row in outcome.rows.to_dict("records"):
        click.echo(
            f"  {row['model']:17} {row['heads']:3} heads  {row['units']:5} units  "
            f"{row['parameters']:,} parameters  {row['products']:.0%} of the multiplications  "
            f"BLEU {row['bleu']:.1f} [{row['bleu_low']:.1f}, {row['bleu_high']:.1f}]"
        )
    click.echo(f"the model without these units is in {folder / FOLDER}")
