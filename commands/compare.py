"""`headcount compare`: several runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import echo_json, json_option, seed_option

if TYPE_CHECKING:
    from ..analyses.result import Result


@click.command(
    epilog="""\b
Examples:
  headcount compare runs/a runs/b
  headcount compare runs/seed0 runs/seed1 runs/seed2 -o seeds --open
  headcount compare runs/a runs/b --json
"""
)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where the page and its tables go; by default A-against-B beside the first run.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="Bootstrap resamples of the sentences.",
)
@click.option("--open", "open_page", is_flag=True, help="Open the page in the browser.")
@seed_option
@json_option
def command(
    runs: tuple[Path, ...],
    output: Path | None,
    resamples: int,
    open_page: bool,
    seed: int,
    as_json: bool,
) -> None:
    """Set RUNS side by side: the first is what the others are compared with.

    BLEU, chrF and NLL are compared on the sentences that two runs have both translated, with
    paired intervals; curves, heads, settings and costs stand beside them. Nothing is computed
    again: all is read from the results of the runs.
    """
    from ..analyses.compare import compare
    from ..models.errors import UsageError
    from ..reports.comparison import build_comparison
    from ..reports.comparison_sections import COMPARE
    from ..reports.findings import Findings
    from ..reports.page import NAME

    if len({path.resolve() for path in runs}) < max(2, len(runs)):
        raise UsageError("name two or more different runs to compare")
    names = _names(runs)
    folder = output or runs[0].resolve().parent / "-against-".join(
        Path(name).name for name in names
    )
    if not as_json and folder.exists() and not (folder / "results" / COMPARE).is_dir():
        raise UsageError(f"{folder} is there and holds no comparison; choose another with -o")
    found = {name: Findings.of_run(path).results for name, path in zip(names, runs, strict=True)}
    result = compare(found, resamples=resamples, seed=seed)
    if as_json:
        echo_json(result.as_json())
        return
    page = build_comparison(folder, result)
    _show(result)
    click.echo(f"The page is {folder / NAME}")
    if open_page:
        click.launch(page.resolve().as_uri())


def _names(runs: Sequence[Path]) -> list[str]:
    """Return the folders' names, or their paths where two have the same name."""
    short = [path.resolve().name for path in runs]
    return short if len(set(short)) == len(short) else [path.as_posix().strip("/") for path in runs]


def _show(result: Result) -> None:
    """Print the differences, and what could not be compared."""
    from ..reports.wording import fixed, signed

    rows = result.tables["differences"].rows
    for (run, baseline), pair in rows.groupby(["run", "baseline"], sort=False):
        click.echo(f"{run} less {baseline}, on the sentences that both translated")
        for row in pair.drop_duplicates(["split", "measure", "difference"]).to_dict("records"):
            digits = 3 if row["measure"] == "nll" else 2
            search = "" if row["measure"] == "nll" else row["search"]
            bounds = f"[{signed(row['low'], digits)}, {signed(row['high'], digits)}]"
            click.echo(
                f"  {row['split']:<12}{search:<10}{row['measure']:<6}"
                f"{signed(row['difference'], digits):>8} {bounds:<18} p {fixed(row['p'], 3)}  "
                f"{row['unit']}, n {row['sentences']}"
            )
    for remark in result.remarks:
        click.echo(remark)
