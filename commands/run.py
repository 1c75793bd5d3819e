"""`headcount run`: the whole way from text to the page."""

from __future__ import annotations

from pathlib import Path

import click

from .options import echo_json, json_option
from .run_options import run_of, run_options


@click.command(
    epilog="""\b
Examples:
  headcount run                                    the built-in corpus, five minutes
  headcount run --preset nano -o runs/first        the smallest size, under a minute
  headcount run --preset small --seed 1 -o runs/m  Multi30k (headcount data fetch multi30k)
  headcount run --train a.en a.de --valid b.en b.de --test c.en c.de -o runs/own
  headcount run --config other/config.toml --set training.updates=500 -o runs/short
"""
)
@run_options
@json_option
def command(
    preset: str,
    config: Path | None,
    assignments: tuple[str, ...],
    folder: Path | None,
    seed: int,
    device: str,
    as_json: bool,
) -> None:
    """Train, evaluate, score the heads, remove them, and write the page.

    The same command goes on after an interruption, and does nothing that is done already.
    """
    from ..analyses.pipeline import Pipeline
    from ..models.devices import resolve_device
    from .progress import ProgressBar

    place = resolve_device(device)
    run, text = run_of(preset, config, assignments, folder, seed)
    with ProgressBar() as progress:
        Pipeline(run, place, progress, text).whole_way(_write_page)
    if as_json:
        echo_json({"run": str(run.path), "page": str(run.page), **_findings(run.path)})
        return
    for line in _findings(run.path).values():
        click.echo(line)
    click.echo(f"The page is {run.page}")


def _write_page(run: Path) -> None:
    """Write figures and page; the figures first, for the page points at them."""
    from ..reports.figures import draw_figures
    from ..reports.page import build_page

    draw_figures(run)
    build_page(run)


def _findings(run: Path) -> dict[str, str]:
    """Return the two sentences that a run ends with."""
    from ..analyses.result import Result
    from ..reports.choice import smallest_within

    rows = Result.load(run / "results" / "evaluate").tables["quality"].rows
    bleu = rows[rows["measure"] == "bleu"].itertuples()
    scores = [f"{row.value:.1f} ({row.split}, {row.search})" for row in bleu]
    found = {"bleu": "BLEU " + ", ".join(scores)}
    choice = smallest_within(Result.load(run / "results" / "prune").tables["curve"].rows, 1.0)
    if choice is not None:
        total, chosen = choice.whole["heads_left"], choice.chosen
        if choice.vacuous:
            found["heads"] = "The model translates too badly to ask how many heads it needs"
        elif chosen is None:
            found["heads"] = f"All {total} heads are needed to stay surely within 1 BLEU point"
        else:
            left = chosen["heads_left"]
            found["heads"] = f"{left} of {total} heads stay surely within 1 BLEU point"
    return found
