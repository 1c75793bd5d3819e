"""`headcount doctor --planted`: every metric on a network whose truth is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import HeadcountError
from .options import echo_json

if TYPE_CHECKING:
    from ..analyses.result import Result


def show_planted(as_json: bool) -> None:
    """Measure all metrics on the planted network and print what they say of it.

    Raises:
        HeadcountError: a metric does not rank the carrier first, or a proof does not hold.
    """
    from ..analyses.planted import planted
    from .progress import ProgressBar

    with ProgressBar() as progress:
        result = planted(progress=progress)
    rows = _records(result, "planted")
    if as_json:
        echo_json({"planted": rows, "proofs": _records(result, "proofs"), "passes": not _bad(rows)})
    else:
        click.echo("\n".join(_lines(result, rows)))
    if wrong := _bad(rows):
        row = wrong[0]
        what = (
            f"gives the carrier rank {row['rank']}"
            if row["rank"] != 1
            else f"proves {row['hold']} of its {row['proofs']} claims"
        )
        raise HeadcountError(f"{row['metric']} {what}: do not believe this metric here")


def _records(result: Result, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table; a value that is not a number is None."""
    rows = result.tables[table].rows
    return [
        {str(name): None if value != value else value for name, value in row.items()}
        for row in rows.to_dict("records")
    ]


def _bad(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the metrics that fail; chance is excused."""
    return [row for row in rows if not row["passes"] and not row["exempt"]]


def _lines(result: Result, rows: list[dict[str, Any]]) -> Iterable[str]:
    """Turn the tables into lines for people."""
    table = result.tables["planted"]
    yield f"{table.caption} {table.n}."
    yield from result.remarks
    yield ""
    yield (
        f"{'metric':22} {'rank':>4} {'carrier':>11} {'copier':>11} {'best idle':>11}"
        f" {'seconds':>8}  {'proofs':8} unit"
    )
    for row in rows:
        proofs = f"{row['hold']} of {row['proofs']}" if row["proofs"] else "-"
        mark = "  (chance, excused)" if row["exempt"] else "" if row["passes"] else "  <- FAILS"
        yield (
            f"{row['metric']:22} {row['rank']:4} {row['value']:11.4g} {row['copier']:11.4g}"
            f" {row['idle']:11.4g} {row['seconds']:8.2f}  {proofs:8} {row['unit']}{mark}"
        )
    for proof in _records(result, "proofs"):
        if not proof["holds"]:
            error = "not a number" if proof["error"] is None else f"{proof['error']:.3g}"
            yield (
                f"\n{proof['metric']}: {proof['claim']}: error {error} {proof['unit']},"
                f" allowed {proof['tolerance']:.3g}"
            )
