"""Which sentences pay for removed heads: the worst losses, and quality by phenomenon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .agreement import Cell
from .choice import smallest_within
from .differences import Segment, differing
from .drawing.palette import heat_step
from .findings import Findings
from .wording import fixed, interval, missing, signed

Row = dict[str, Any]


@dataclass(frozen=True)
class Loss:
    """One sentence that loses much; `before` and `after` mark what changed."""

    row: Row
    change: str
    before: list[Segment]
    after: list[Segment]


@dataclass(frozen=True)
class Line:
    """One phenomenon: its name, its sentences, and its cells from the whole model down."""

    name: str
    sentences: int
    cells: list[Cell]


def worst_losses(findings: Findings) -> list[tuple[int, list[Loss]]]:
    """Return the losses by head count, that of the page's answer first, then the others.

    Without an answer the count nearest to half of the heads comes first.
    """
    rows = findings.records("prune", "losses")
    counts = sorted({row["heads_left"] for row in rows}, reverse=True)
    if not counts:
        return []
    first = _first(findings, counts)
    ordered = [first, *(count for count in counts if count != first)]
    return [(n, [_loss(row) for row in rows if row["heads_left"] == n]) for n in ordered]


def _first(findings: Findings, counts: list[int]) -> int:
    curve = findings.rows("prune", "curve")
    choice = smallest_within(curve, findings.allowed_loss)
    chosen = None if choice is None or choice.chosen is None else choice.chosen["heads_left"]
    half = curve["heads_left"].max() / 2
    return int(chosen) if chosen in counts else min(counts, key=lambda count: abs(count - half))


def _loss(row: Row) -> Loss:
    change = f"chrF {fixed(row['chrf'], 0)}, {signed(row['chrf_difference'], 0)}"
    return Loss(row, change, *differing(row["whole"], row["translation"]))


def grid(findings: Findings) -> tuple[list[int], list[Line]]:
    """Return head counts from the whole model down, and one line a phenomenon.

    The phenomenon that loses most over all head counts comes first.
    """
    rows = findings.records("prune", "phenomena")
    counts = sorted({row["heads_left"] for row in rows}, reverse=True)
    lines = []
    for name in dict.fromkeys(row["phenomenon"] for row in rows):
        own = {row["heads_left"]: row for row in rows if row["phenomenon"] == name}
        lost = sum(_change(row) for row in own.values())
        line = Line(
            name.replace("_", " "),
            next(iter(own.values()))["sentences"],
            [_cell(name, own[count]) if count in own else Cell("", None, "") for count in counts],
        )
        lines.append((lost, line))
    lines.sort(key=lambda pair: pair[0])
    return counts, [line for _, line in lines]


def _change(row: Row) -> float:
    return 0.0 if missing(row["bleu_difference"]) else float(row["bleu_difference"])


def _cell(name: str, row: Row) -> Cell:
    # What surely differs from the whole model is marked, so that colour is not all there is.
    sure = row["difference_high"] < 0 or row["difference_low"] > 0
    change = f"{signed(row['bleu_difference'], 1)} "
    change += f"[{signed(row['difference_low'], 1)}, {signed(row['difference_high'], 1)}]"
    bounds = interval(row["bleu_low"], row["bleu_high"], 1)
    title = (
        f"{name}, {row['heads_left']} heads left: BLEU {fixed(row['bleu'], 1)} {bounds}, change "
        f"{change}; NLL {fixed(row['nll'], 2)} ({signed(row['nll_difference'], 2)}) nats a token"
    )
    text = fixed(row["bleu"], 0) + ("*" if sure else "")
    return Cell(text, heat_step(row["bleu"] / 100), title)
