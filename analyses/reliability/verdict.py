"""Which metric can be believed on this model, and why: four questions with stated thresholds.

1. Do its proofs hold? Numbers whose computation is wrong need no statistics.
2. Does it order single heads as leave-one-out does, which is exact? Kendall's tau over all
   heads is at least `least_kendall`, and its interval lies above 0.
3. Does its order prune better than chance? The interval of the difference of its area from
   that of random orders (NLL) lies on the good side of 0.
4. Would other sentences say the same? Spearman's rho between halves of the data is at least
   `least_halves`.

All four have to be answered with yes. A metric can fail the second and pass the third: the
best single order need not be the best joint one (Michel et al. 2019, section 4.1). What is
not measured is not held against a metric, and is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...models.settings import Settings
from ...probe.importance import Proof
from ..ranking import ALL
from ..removal import RANDOM
from ..result import Column, Table

LEAVE_ONE_OUT = "leave_one_out"
VERDICT = (
    Column("metric", "text", "importance metric"),
    Column("believable", "truth", "whether all questions that could be asked are answered yes"),
    Column("proofs", "whole", "proofs it gives of itself"),
    Column("proofs_hold", "whole", "proofs that hold"),
    Column("kendall", "number", "Kendall's tau-b with leave-one-out, all heads"),
    Column("against_random", "number", "area less that of random orders", "nats a token"),
    Column("against_greedy", "number", "area less that of the greedy order", "nats a token"),
    Column("halves", "number", "Spearman's rho between halves of the sentences, all heads"),
    Column("stable_at", "whole", "fewest sentences from which on rho with the rest is high"),
    Column("against", "text", "what speaks against it or was not asked; empty for nothing"),
    Column("why", "text", "all answers, those against it first"),
)


class Thresholds(Settings):
    """Where yes begins.

    Args:
        least_kendall: tau-b with leave-one-out.
        least_halves: mean Spearman's rho between halves.
        least_stable: mean Spearman's rho of n sentences with the rest, for `stable_at`.
    """

    least_kendall: float = 0.3
    least_halves: float = 0.8
    least_stable: float = 0.9


@dataclass(frozen=True)
class _Answer:
    """One question's answer: yes, no, or None where it could not be asked."""

    yes: bool | None
    words: str


def verdict_table(
    names: Sequence[str],
    proofs: Mapping[str, Sequence[Proof]],
    tables: Mapping[str, Table],
    thresholds: Thresholds,
    n: str,
) -> Table:
    """Return one row a metric.

    Args:
        names: the metrics.
        proofs: what each proved on this model.
        tables: `faithfulness`, `areas` (may be missing) and `stability`.
        thresholds: where yes begins.
        n: what it rests on, in words.
    """
    records = [_verdict(name, proofs.get(name, ()), tables, thresholds) for name in names]
    caption = (
        "Which metric can be believed on this model: its proofs hold; Kendall's tau with "
        f"leave-one-out is at least {thresholds.least_kendall:g} and surely above 0; its order "
        "of removal surely beats random ones (NLL); Spearman's rho between halves of the "
        f"sentences is at least {thresholds.least_halves:g}. It is stable from so many sentences "
        f"on as have a rho of at least {thresholds.least_stable:g} with all the others."
    )
    return Table.of(caption, VERDICT, records, n=n)


def _verdict(
    name: str, proofs: Sequence[Proof], tables: Mapping[str, Table], thresholds: Thresholds
) -> dict[str, Any]:
    found = {
        "kendall": _one(tables, "faithfulness", metric=name, site=ALL),
        "area": _one(tables, "areas", order=name, measure="nll"),
        "halves": _one(tables, "stability", metric=name, across="halves", site=ALL),
    }
    row: dict[str, Any] = {
        "metric": name,
        "proofs": len(proofs),
        "proofs_hold": sum(it.holds for it in proofs),
        "kendall": _number(found["kendall"], "kendall"),
        "against_random": _number(found["area"], "against_random"),
        "against_greedy": _number(found["area"], "against_greedy"),
        "halves": _number(found["halves"], "spearman"),
        "stable_at": _stable_at(name, tables, thresholds.least_stable),
    }
    if name == RANDOM:
        words = "chance: what every metric has to beat"
        return {**row, "believable": False, "against": words, "why": words}
    answers = [
        _proven(proofs),
        _faithful(name, found["kendall"], thresholds.least_kendall),
        _prunes(found["area"]),
        _repeats(row["halves"], thresholds.least_halves),
    ]
    # Reasons against it first, then what could not be asked, then reasons for it.
    reasons = sorted(answers, key=lambda it: (it.yes is not False, it.yes is not None))
    return {
        **row,
        "believable": all(it.yes is not False for it in answers),
        "against": "; ".join(it.words for it in reasons if it.yes is not True),
        "why": "; ".join(it.words for it in reasons),
    }


def _proven(proofs: Sequence[Proof]) -> _Answer:
    broken = [it for it in proofs if not it.holds]
    if broken:
        first = broken[0]
        words = f"a proof fails ({first.claim}: {first.error:.2g}, allowed {first.tolerance:.2g})"
        return _Answer(False, words)
    if not proofs:
        return _Answer(None, "gives no proof of itself")
    return _Answer(
        True, "its proof holds" if len(proofs) == 1 else f"its {len(proofs)} proofs hold"
    )


def _faithful(name: str, row: pd.Series | None, least: float) -> _Answer:
    if name == LEAVE_ONE_OUT:
        return _Answer(True, "is the exact change of the loss")
    tau = _number(row, "kendall")
    if row is None or tau != tau:
        return _Answer(False, "does not tell heads apart: tau with leave-one-out is not defined")
    low = _number(row, "kendall_low")
    words = f"tau {tau:.2f} with leave-one-out"
    if tau < least:
        return _Answer(False, f"{words} is below {least:g}")
    if low <= 0:
        return _Answer(False, f"{words} is not surely above 0")
    return _Answer(True, words)


def _prunes(row: pd.Series | None) -> _Answer:
    gain = _number(row, "against_random")
    if row is None or gain != gain:
        return _Answer(None, "its removal curve was not measured")
    words = f"{abs(gain):.2f} nats a token {'better' if gain < 0 else 'worse'} than random orders"
    high = _number(row, "against_random_high")
    if gain < 0 and high >= 0:
        return _Answer(False, f"{words}, which may be chance")
    return _Answer(gain < 0, words)


def _repeats(halves: float, least: float) -> _Answer:
    if halves != halves:
        return _Answer(None, "whether other sentences say the same was not asked")
    words = f"rho {halves:.2f} between halves of the sentences"
    if halves < least:
        return _Answer(False, f"{words} is below {least:g}")
    return _Answer(True, words)


def _stable_at(name: str, tables: Mapping[str, Table], least: float) -> int | None:
    """Return the smallest n from which on every measured n is stable."""
    rows = tables["stability"].rows
    rows = rows[
        (rows["metric"] == name) & (rows["across"] == "sentences") & (rows["site"] == ALL)
    ].sort_values("sentences", ascending=False)
    stable = None
    for count, rho in zip(rows["sentences"], rows["spearman"], strict=True):
        if not rho >= least:
            break
        stable = int(count)
    return stable


def _one(tables: Mapping[str, Table], table: str, **values: str) -> pd.Series | None:
    """Return the row in which columns have these values, None where there is none."""
    if table not in tables:
        return None
    rows = tables[table].rows
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows.iloc[0] if len(rows) else None


def _number(row: pd.Series | None, column: str) -> float:
    return float("nan") if row is None else float(row[column])
