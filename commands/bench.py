"""`headcount bench`: how fast and how small the measurements are on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import echo_json, json_option, seed_option

if TYPE_CHECKING:
    from ..analyses.result import Result


@click.group()
def command() -> None:
    """Measure speed and memory, as ratios to what the work is made of.

    \b
    Examples:
      headcount bench score
      headcount bench score --rounds 1 --no-memory
    """


@command.command(
    epilog="""\b
Examples:
  headcount bench score                          minutes; leave the machine alone meanwhile
  headcount bench score --rounds 1 --no-memory
  headcount bench score --memory gradient --memory lrp --json
"""
)
@click.option(
    "--sentences",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Sentences of the text.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How often everything is timed.",
)
@click.option(
    "--orders",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Orders of the heads for Shapley values.",
)
@click.option(
    "--shape",
    type=click.Choice(["nano", "miniature", "small", "base"]),
    default="small",
    show_default=True,
    help="Preset whose shape the model has.",
)
@click.option(
    "--vocabulary", type=click.IntRange(16, 17_000), help="Its entries; the preset's own."
)
@click.option("--threads", type=click.IntRange(min=1), help="Threads; as many as torch takes.")
@click.option("--memory", multiple=True, metavar="METRIC", help="Measure its memory; repeatable.")
@click.option("--no-memory", is_flag=True, help="Measure no memory.")
@seed_option
@json_option
def score(
    sentences: int,
    rounds: int,
    orders: int,
    shape: str,
    vocabulary: int | None,
    threads: int | None,
    memory: tuple[str, ...],
    no_memory: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Compare the importance metrics with the passes that they are made of.

    Weights are random, the text is drawn, and all is measured on the CPU. The table gives
    each ratio as reached beside its target, which is the largest that is good enough.
    """
    import torch

    from ..analyses.bench.score import ScoreBenchmark, benchmark_score
    from ..analyses.bench.subject import Subject
    from ..analyses.presets import run_settings
    from .progress import ProgressBar

    if threads:
        torch.set_num_threads(threads)
    preset = run_settings(shape, where="--shape")
    subject = Subject(
        network=preset.network,
        vocabulary=vocabulary or preset.vocabulary.size,
        sentences=sentences,
        seed=seed,
    )
    chosen = () if no_memory else memory or None
    settings = ScoreBenchmark(subject=subject, rounds=rounds, orders=orders, memory=chosen)
    with ProgressBar() as progress:
        result = benchmark_score(settings, progress)
    _show(result, as_json)


def _show(result: Result, as_json: bool) -> None:
    """Print the ratios."""
    import pandas as pd

    table = result.tables["ratios"]
    rows = [
        {str(name): None if pd.isna(value) else value for name, value in row.items()}
        for row in table.rows.to_dict("records")
    ]
    if as_json:
        echo_json({"ratios": rows, "n": table.n})
        return
    click.echo(f"{table.caption} {table.n}.")
    for remark in result.remarks:
        click.echo(remark)
    click.echo(f"\n{'reached':>8} {'target':>7}  what")
    for row in rows:
        target = "" if row["target"] is None else f"{row['target']:.2f}"
        mark = "  <- MISSED" if row["met"] is False else ""
        note = f" ({row['note']})" if row["note"] else ""
        click.echo(
            f"{row['reached']:8.3f} {target:>7}  {row['what']} / {row['against']}{note}{mark}"
        )
