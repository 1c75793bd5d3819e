"""`headcount prune`: the price of removing heads, and a smaller model for good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .also import also_options
from .comparison import COMPARED, compare_ways, comparison_options
from .goal_options import given_goal, goal_options, make_smaller
from .options import SEED, device_option, echo_json, json_option

if TYPE_CHECKING:
    from ..analyses.result import Result


@click.command(
    epilog="""\b
Examples:
  headcount prune runs/miniature                          the curve of the run, made if missing
  headcount prune runs/miniature --metric gradient --sentences 1000 -o curves/long
  headcount prune runs/miniature --keep 25% --way l0      a model with a quarter of the heads
  headcount prune runs/miniature --max-bleu-loss 0.3 --finetune full --distil --save small
  headcount prune runs/miniature --compare standard        five ways, kept in the run
  headcount prune runs/miniature --compare l0 --compare random --points 36,18 --seeds 1 -o ways
  headcount prune runs/seed0 --compare standard --seeds runs/seed1 --seeds runs/seed2
  headcount prune runs/miniature --heads 6 --sites encoder --finetune none
  headcount prune runs/miniature --keep 25% --also ffn --ffn-keep 50%
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Follow this; repeatable.")
@click.option("--draws", type=click.IntRange(min=0), help="Random orders.")
@click.option("--sentences", type=click.IntRange(min=1), help="Test sentences to translate.")
@click.option("--jobs", type=click.IntRange(min=0), help="Processes; 0 is one a core.")
@click.option(
    "--backend",
    type=click.Choice(["processes", "dask", "ray"]),
    default="processes",
    show_default=True,
    help="Where the jobs run; Dask and Ray find their cluster by DASK_SCHEDULER_ADDRESS and "
    "RAY_ADDRESS, and it has to share the file system.",
)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep a curve made with other settings than the run's here.",
)
@click.option(
    "--compare",
    "ways",
    multiple=True,
    metavar="WAY",
    help="Compare ways to choose; repeatable. `standard` is the five that are usual.",
)
@comparison_options
@goal_options
@also_options
@click.option("--seed", type=SEED, help="Seed of resamples and orders; the run's own.")
@device_option
@json_option
def command(
    run: Path,
    metrics: tuple[str, ...],
    draws: int | None,
    sentences: int | None,
    jobs: int | None,
    backend: str,
    output: Path | None,
    ways: tuple[str, ...],
    seed: int | None,
    device: str,
    as_json: bool,
) -> None:
    """Show BLEU against the heads that are left in RUN, for every order of removal.

    Without further options this is the run's own curve, which is measured and kept in RUN if
    it is missing. With options it is measured anew and kept only with -o.

    With --heads, --keep, --max-bleu-loss, --speedup, --lambda or --plan a smaller model is made
    instead: heads are chosen on validation text, cut out of the weights, and the model is
    trained on, compared with the whole one on test text, and saved. When the goal is not met,
    the exit code is 3. A model that nobody named with --save lies in RUN, and its page shows it.

    With --compare the curves of several ways of choosing are measured, every smaller model
    being made from the one before; they are kept in RUN, or elsewhere with -o.
    """
    from ..analyses.phenomena import shown_by
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.prune import prune
    from ..analyses.workers import cluster
    from ..models.devices import resolve_device
    from ..models.errors import UsageError
    from .progress import ProgressBar

    goal = given_goal(comparing=bool(ways))
    curve = {"metrics": metrics or None, "draws": draws, "sentences": sentences, "jobs": jobs}
    changes = {name: value for name, value in curve.items() if value is not None}
    if not ways and (alone := [name for name in COMPARED if name in goal]):
        raise UsageError(f"--{alone[0].replace('_', '-')} goes with --compare alone")
    if (ways and metrics) or (goal and not ways and (changes or output)):
        raise UsageError("--metric, --draws, --sentences, --jobs and -o are for the curve alone")
    with ProgressBar() as progress, cluster(backend):
        pipeline = Pipeline(open_run(run), resolve_device(device), progress)
        own_seed = pipeline.settings.seed if seed is None else seed
        if ways:
            compare_ways(pipeline, ways, goal, changes, output, own_seed, as_json)
            return
        if goal:
            make_smaller(pipeline, goal, own_seed, as_json)
            return
        if changes or output or seed is not None:
            settings = pipeline.settings.prune.with_changes(**changes)
            arguments = (pipeline.translator, pipeline.corpus, settings, own_seed, progress)
            shown = shown_by(pipeline.settings.corpus)
            result = prune(*arguments, scores=pipeline.score(), shown=shown)
            if output:
                result.save(output)
        else:
            result = pipeline.prune()
    _show(result, as_json)


def _show(result: Result, as_json: bool) -> None:
    curve = result.tables["curve"].rows
    if as_json:
        tables = {name: result.tables[name].rows for name in ("curve", "band", "area")}
        echo_json({name: rows.to_dict("records") for name, rows in tables.items()})
        return
    bleu = curve.pivot_table(index="heads_left", columns="order", values="bleu", sort=False)
    click.echo(f"BLEU by heads left, {result.tables['curve'].n} (random: mean of the draws)")
    click.echo(bleu.to_string(float_format=lambda value: f"{value:.1f}"))
