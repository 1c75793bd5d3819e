"""`headcount prune`: the price of removing heads, and a smaller model for good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import device_option, echo_json, json_option

if TYPE_CHECKING:
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result


@click.command(
    epilog="""\b
Examples:
  headcount prune runs/miniature                          the curve of the run, made if missing
  headcount prune runs/miniature --metric gradient --sentences 1000 -o curves/long
  headcount prune runs/miniature --keep 36 --save small   a model with 36 heads
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Follow this; repeatable.")
@click.option("--draws", type=click.IntRange(min=0), help="Random orders.")
@click.option("--sentences", type=click.IntRange(min=1), help="Test sentences to translate.")
@click.option("--jobs", type=click.IntRange(min=0), help="Processes; 0 is one a core.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep a curve made with other settings than the run's here.",
)
@click.option(
    "--keep", type=click.IntRange(min=0), metavar="HEADS", help="Heads of the model to save."
)
@click.option(
    "--save",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Save the model that --keep leaves, by the order with the largest area.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of resamples and orders; the run's own."
)
@device_option
@json_option
def command(
    run: Path,
    metrics: tuple[str, ...],
    draws: int | None,
    sentences: int | None,
    jobs: int | None,
    output: Path | None,
    keep: int | None,
    save: Path | None,
    seed: int | None,
    device: str,
    as_json: bool,
) -> None:
    """Show BLEU against the heads that are left in RUN, for every order of removal.

    Without further options this is the run's own curve, which is measured and kept in RUN if
    it is missing. With options it is measured anew and kept only with -o.
    """
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.prune import prune
    from ..models.devices import resolve_device
    from ..models.errors import UsageError
    from .progress import ProgressBar

    if (keep is None) != (save is None):
        raise UsageError("--keep and --save go together: how many heads, and where to")
    given = {"metrics": metrics or None, "draws": draws, "sentences": sentences, "jobs": jobs}
    changes = {name: value for name, value in given.items() if value is not None}
    with ProgressBar() as progress:
        pipeline = Pipeline(open_run(run), resolve_device(device), progress)
        if changes or output or seed is not None:
            settings = pipeline.settings.prune.with_changes(**changes)
            seed = pipeline.settings.seed if seed is None else seed
            arguments = (pipeline.translator, pipeline.corpus, settings, seed, progress)
            result = prune(*arguments, scores=pipeline.score())
            if output:
                result.save(output)
        else:
            result = pipeline.prune()
    _show(result, as_json)
    if keep is not None and save is not None:
        _save(pipeline, result, keep, save)


def _show(result: Result, as_json: bool) -> None:
    curve = result.tables["curve"].rows
    if as_json:
        tables = {name: result.tables[name].rows for name in ("curve", "band", "area")}
        echo_json({name: rows.to_dict("records") for name, rows in tables.items()})
        return
    bleu = curve.pivot_table(index="heads_left", columns="order", values="bleu", sort=False)
    click.echo(f"BLEU by heads left, {result.tables['curve'].n} (random: mean of the draws)")
    click.echo(bleu.to_string(float_format=lambda value: f"{value:.1f}"))


def _save(pipeline: Pipeline, result: Result, keep: int, folder: Path) -> None:
    """Save the model that is left when `keep` heads stay, by the best metric's order."""
    from ..analyses.removal import order_in

    smaller = pipeline.translator.without(order_in(result).removed(keep))
    smaller.save(folder)
    click.echo(f"{len(smaller.layout)} heads ({smaller.layout.describe()}) are in {folder}")
