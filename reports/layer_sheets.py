"""Tables of the section on layers that are there only where they were asked for."""

from __future__ import annotations

from typing import Any

from .findings import Findings
from .rendering import Caption, Sheet, caption_of
from .wording import ABSENT, fixed, interval, missing, signed

Row = dict[str, Any]
SIDES = {"encoder": "Encoder", "decoder": "Decoder"}
MOST_LOST = 20  # tasks and layers that are listed


def of_side(findings: Findings, table: str, side: str) -> list[Row]:
    """Return the rows of one side."""
    return [row for row in findings.records("layers", table) if row["side"] == side]


def name_of(task: str) -> str:
    """Write the name of a task for people."""
    return task.replace("_", " ").replace("upos", "part of speech")


def percent(share: Any, digits: int = 1) -> str:
    """Write a share as a percentage, a dash where there is none."""
    return ABSENT if missing(share) else fixed(100 * share, digits)


def mixes_sheet(findings: Findings) -> tuple[Sheet, Caption] | None:
    """Return where the mixes of layers lie, and where the information first appears."""
    rows = findings.records("layers", "mixes")
    if not rows:
        return None
    printed = [
        [
            SIDES[row["side"]],
            name_of(row["task"]),
            fixed(row["centre"]),
            fixed(row["divergence"], 3),
            "refused"
            if missing(row["expected"])
            else f"{fixed(row['expected'])} {interval(row['expected_low'], row['expected_high'])}",
            f"{signed(100 * row['gain'], 1)} "
            f"{interval(100 * row['gain_low'], 100 * row['gain_high'], 1)}",
        ]
        for row in rows
    ]
    columns = ["Side", "Task", "Centre of gravity", "KL to uniform, bits", "Expected layer"]
    columns += ["Gain over layer 0, points"]
    sheet = Sheet("Mixes of layers", columns, printed, 2, frozenset({0, 1}))
    text = (
        "A probe on a learnt mix of all layers. A centre of gravity near the middle with a "
        "divergence near 0 says nothing. The expected layer is that of cumulative mixes, refused "
        "where the interval of the gain includes 0."
    )
    return sheet, caption_of(findings, "layers", ("mixes", "shares"), text, unit="layers")


def heads_sheet(findings: Findings) -> tuple[Sheet, Caption] | None:
    """Return the head that tells most, for every task and side."""
    best: dict[tuple[str, str], Row] = {}
    for row in findings.records("layers", "heads"):
        key = row["side"], row["task"]
        if key not in best or row["accuracy"] > best[key]["accuracy"]:
            best[key] = row
    if not best:
        return None
    printed = [
        [
            SIDES[side],
            name_of(task),
            "{site}.{layer}.{head}".format(**row),
            f"{percent(row['accuracy'])} {interval(100 * row['low'], 100 * row['high'], 1)}",
            percent(row["random"]),
            percent(row["layer_accuracy"]),
        ]
        for (side, task), row in best.items()
    ]
    columns = ["Side", "Task", "Head", "Right, %", "Random weights, %", "What it reads, %"]
    sheet = Sheet("What single heads tell", columns, printed, 2, frozenset({0, 1, 2}))
    text = (
        "A linear probe on the output of one head, before it is projected; the head that tells "
        "most, chosen among all, so its number is a little high. Beside it the same head with "
        "random weights, and the states that its layer reads."
    )
    return sheet, caption_of(findings, "layers", ("heads",), text, unit="percent of test examples")


def lost_sheet(findings: Findings) -> tuple[Sheet, Caption] | None:
    """Return where a smaller model knows less, the largest losses first."""
    rows = findings.records("layers", "lost")
    changed = [row for row in rows if row["high"] < 0 or row["low"] > 0]
    if not rows:
        return None
    changed.sort(key=lambda row: row["difference"])
    printed = [
        [
            SIDES[row["side"]],
            name_of(row["task"]),
            row["unit"],
            percent(row["whole"]),
            percent(row["smaller"]),
            f"{signed(100 * row['difference'], 1)} "
            f"{interval(100 * row['low'], 100 * row['high'], 1)}",
        ]
        for row in changed[:MOST_LOST]
    ]
    columns = ["Side", "Task", "Layer", "Whole, %", "Smaller, %", "Difference, points"]
    sheet = Sheet("What went with the heads", columns, printed, 1, frozenset({0, 1, 2}))
    text = (
        f"{len(changed)} of {len(rows)} tasks and layers differ; those where the interval leaves "
        f"out 0 are shown, at most {MOST_LOST}. Probes are fitted anew on each model."
    )
    return sheet, caption_of(findings, "layers", ("lost",), text, unit="percent of test examples")


def numbers_sheet(findings: Findings) -> tuple[Sheet, Caption] | None:
    """Return how well quantities are read as numbers, layer by layer."""
    text = (
        "Ridge regression of depths, distances to the head and judgements: the share of the "
        "variance on test sentences that it explains. 0 is what the mean reaches; below 0 it does "
        "worse. Beside it the interval of the best layer and the best of a network with random "
        "weights."
    )
    said = ("Numbers that layers tell: explained variance, %", text, "percent of the variance")
    return _by_layer(findings, said, "numbers", "quantity", "r2", "Random weights, best")


def structure_sheet(findings: Findings) -> tuple[Sheet, Caption] | None:
    """Return how far trees are in the geometry of the layers."""
    text = (
        "Structural probes. Distance: the share of undirected arcs, without punctuation, that the "
        "minimum spanning tree of mapped states has. Depth: the share of roots that are the word "
        "of least length. Beside them the interval of the best layer."
    )
    said = ("Trees in the geometry of layers, %", text, "percent")
    return _by_layer(findings, said, "structure", "kind", "accuracy")


def nonlinear_sheet(findings: Findings) -> tuple[Sheet, Caption] | None:
    """Return what a probe with a hidden layer reads."""
    text = (
        "A probe with one hidden layer. Beside it what it reaches on the control task, in its best "
        "layer: what it has learnt by heart."
    )
    said = ("Right answers of probes with a hidden layer, %", text, "percent of test examples")
    return _by_layer(findings, said, "nonlinear", "task", "accuracy", "Control", "control")


def _by_layer(
    findings: Findings,
    said: tuple[str, str, str],
    table: str,
    name: str,
    value: str,
    further: str = "",
    beside: str = "random",
) -> tuple[Sheet, Caption] | None:
    """Print a value by layer, the interval of the best, and the best of what stands beside it.

    Args:
        said: heading, caption and unit.
        table: of the Result, whose column `name` says what has the value.
        further: heading of one more column, the best of the table's column `beside`.
    """
    rows = findings.records("layers", table)
    if not rows:
        return None
    places = {row.get("unit", str(row["layer"])): row["layer"] for row in rows}
    units = sorted(places, key=lambda unit: (not unit.isdecimal(), places[unit]))
    printed = []
    for side, what in dict.fromkeys((row["side"], row[name]) for row in rows):
        own = {
            row.get("unit", str(row["layer"])): row
            for row in rows
            if (row["side"], row[name]) == (side, what)
        }
        best = max(own.values(), key=lambda row: row[value])
        cells = [percent(own[unit][value]) if unit in own else ABSENT for unit in units]
        bounds = interval(100 * best["low"], 100 * best["high"], 1)
        others = [row[beside] for row in own.values() if not missing(row.get(beside))]
        last = [percent(max(others, default=None))] if further else []
        printed.append([SIDES[side], name_of(what), *cells, bounds, *last])
    columns = ["Side", "What", *units, "Interval of the best"]
    columns += [further] if further else []
    heading, text, unit = said
    sheet = Sheet(heading, columns, printed, 2, frozenset({0, 1}))
    return sheet, caption_of(findings, "layers", (table,), text, unit=unit)
