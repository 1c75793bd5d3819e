"""`headcount score`: how much every head of a trained model matters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import device_option, echo_json, json_option

if TYPE_CHECKING:
    from ..analyses.result import Result


@click.command(
    epilog="""\b
Examples:
  headcount score runs/miniature                    the scores of the run, made if missing
  headcount score runs/miniature --metric gradient --sentences 1000 -o scores/gradient
  headcount score runs/miniature --json | jq '.heads[:3]'
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="Measure this; repeatable."
)
@click.option("--sentences", type=click.IntRange(min=1), help="Validation sentences to read.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Keep scores made with other settings than the run's here.",
)
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the resamples; the run's own.")
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="Heads shown."
)
@device_option
@json_option
def command(
    run: Path,
    metrics: tuple[str, ...],
    sentences: int | None,
    output: Path | None,
    seed: int | None,
    top: int,
    device: str,
    as_json: bool,
) -> None:
    """Show the most important heads of RUN by every metric.

    Without further options these are the run's own scores, which are measured and kept in
    RUN if they are missing. With options they are measured anew and kept only with -o.
    """
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.score import score
    from ..models.devices import resolve_device
    from .progress import ProgressBar

    changes: dict[str, Any] = {}
    if metrics:
        changes["metrics"] = metrics
    if sentences:
        changes["sentences"] = sentences
    with ProgressBar() as progress:
        pipeline = Pipeline(open_run(run), resolve_device(device), progress)
        if changes or output or seed is not None:
            settings = pipeline.settings.score.with_changes(**changes)
            seed = pipeline.settings.seed if seed is None else seed
            result = score(pipeline.translator, pipeline.corpus, settings, seed, progress)
            if output:
                result.save(output)
        else:
            result = pipeline.score()
    _show(result, top, as_json)


def _show(result: Result, top: int, as_json: bool) -> None:
    rows = result.tables["heads"].rows
    if as_json:
        ranked = rows.sort_values(["metric", "rank"])
        echo_json({"heads": ranked.to_dict("records"), "n": result.tables["heads"].n})
        return
    for name in dict.fromkeys(rows["metric"]):
        own = rows[rows["metric"] == name].sort_values("rank")
        click.echo(f"{name} ({own['unit'].iloc[0]}), {result.tables['heads'].n}")
        for row in own.head(top).itertuples():
            head = f"{row.site}.{row.layer}.{row.head}"
            click.echo(
                f"  {row.rank:3} {head:14} {row.value:9.4f}  [{row.low:.4f}, {row.high:.4f}]"
            )
