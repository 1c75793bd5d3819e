"""Maps of heads: one table a site, one row a layer, one column a head.

In a map of importance the number in a cell is the head's importance, and its colour follows
the square root of where that number lies between the lowest and the highest of the map.
Importance is very uneven, so on a linear scale all heads but a few would look alike. Letters
in a cell's corner are the head's roles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .cards import dotted
from .drawing.palette import HEAT, heat_step
from .findings import Findings, records
from .removal import Name
from .role_letters import letters, percent, role_words, roles_by_head, style_of_role
from .wording import fixed, missing, significant, title_of

Cell = dict[str, Any]
Row = Mapping[str, Any]


def importance_map(findings: Findings, metric: str, names: Sequence[Name]) -> dict[str, Any]:
    """Return one metric's tables, its scale and what it means."""
    rows = findings.rows("score", "heads")
    mine = {_name(row): row for row in records(rows[rows["metric"] == metric])}
    values = [row["value"] for row in mine.values() if not missing(row["value"])]
    low, high = min(values, default=0.0), max(values, default=0.0)
    power = _power(max(abs(low), abs(high)))
    digits = _digits(max(abs(low), abs(high)) / 10.0**power)

    def cell(name: Name) -> Cell:
        row = mine.get(name)
        if row is None or missing(row["value"]):
            return {"text": "–", "style": "", "title": f"{dotted(name)}: not measured"}
        share = math.sqrt((row["value"] - low) / (high - low)) if high > low else 0.0
        bounds = _bounds(row)
        return {
            "text": fixed(row["value"] / 10.0**power, digits),
            "style": f"heat-{heat_step(share)}",
            "title": f"{dotted(name)}: {exact(row['value'])}{bounds}, rank {row['rank']}",
        }

    return {
        "key": metric,
        "title": title_of(metric),
        "summary": _summary(findings, metric),
        "unit": next(iter(mine.values()))["unit"],
        "power": power,
        "low": fixed(low / 10.0**power, digits),
        "high": fixed(high / 10.0**power, digits),
        "steps": range(len(HEAT)),
        "sites": _sites(findings, names, cell),
    }


def step_map(
    findings: Findings, names: Sequence[Name], order: str, gone: Sequence[int]
) -> dict[str, Any]:
    """Return the map of when each head is removed.

    Args:
        order: title of the order.
        gone: places of the heads in `names`, the first to go in front.
    """
    total = len(gone)
    steps = {names[place]: step for step, place in enumerate(gone, 1)}

    def cell(name: Name) -> Cell:
        step = steps.get(name)
        if step is None:
            return {"text": "–", "style": "", "title": f"{dotted(name)}: never removed"}
        style = f"heat-{heat_step((step - 1) / max(1, total - 1))}"
        title = f"{dotted(name)}: removed as number {step} of {total}"
        return {"text": f"{step}", "style": style, "title": title}

    summary = f"1 goes first. The order is {order}; with the slider's order it changes."
    scale = {"low": "1", "high": f"{total}", "steps": range(len(HEAT))}
    sites = _sites(findings, names, cell)
    return {"key": "step", "title": "Step of removal", "summary": summary, **scale, "sites": sites}


def role_map(findings: Findings, names: Sequence[Name]) -> dict[str, Any]:
    """Return the map of roles by letter and colour, the strongest role giving the colour."""
    roles = roles_by_head(findings)

    def cell(name: Name) -> Cell:
        own = roles.get(name, [])
        if not own:
            return {"text": "·", "style": "", "title": f"{dotted(name)}: no role passed its tests"}
        strongest = max(own, key=lambda row: 0.0 if missing(row["effect"]) else row["effect"])
        words = "; ".join(f"{role_words(row)} ({percent(row['share'])})" for row in own)
        return {
            "text": letters(own),
            "style": f"role-{style_of_role(strongest['family'])}",
            "title": f"{dotted(name)}: {words}",
        }

    summary = "Colour is the family of the strongest role; a dot has none that passed its tests."
    sites = _sites(findings, names, cell, marked=False)
    return {"key": "role", "title": "Role", "summary": summary, "sites": sites}


def exact(value: float) -> str:
    """Write a value as it stands in a title: three significant digits."""
    return significant(value, 3)


def _bounds(row: Row) -> str:
    """Write the interval; one that is no wider than the value is written has nothing to say."""
    if missing(row["low"]) or exact(row["low"]) == exact(row["value"]) == exact(row["high"]):
        return ""
    return f" [{exact(row['low'])}, {exact(row['high'])}]"


def _name(row: Row) -> Name:
    return row["site"], row["layer"], row["head"]


def _sites(
    findings: Findings, names: Sequence[Name], cell: Callable[[Name], Cell], *, marked: bool = True
) -> list[tuple[str, list[int], dict[int, dict[int, Cell]]]]:
    """Return, for each site, its head numbers and its cells by layer and head."""
    roles = roles_by_head(findings) if marked else {}
    tables: dict[str, dict[int, dict[int, Cell]]] = {}
    for place, name in enumerate(names):
        site, layer, head = name
        mark = letters(roles.get(name, []))
        found = {**cell(name), "place": place, "mark": mark}
        tables.setdefault(site, {}).setdefault(layer, {})[head] = found
    return [
        (site, sorted({head for line in layers.values() for head in line}), layers)
        for site, layers in tables.items()
    ]


def _power(largest: float) -> int:
    """Return the power of ten, a multiple of 3, that leaves one to three digits before the dot.

    Values between 0.1 and 1,000 are shown as they are.
    """
    if largest == 0 or 0.1 <= largest < 1000:
        return 0
    return 3 * math.floor(math.log10(largest) / 3)


def _digits(largest: float) -> int:
    """Return how many decimals make the largest value three digits long."""
    return 2 if largest < 10 else 1 if largest < 100 else 0


def _summary(findings: Findings, metric: str) -> str:
    """Return what the metric is in one line, where the Result says it."""
    if findings.table("score", "metrics") is None:
        return ""
    metrics = findings.rows("score", "metrics")
    found = metrics[metrics["metric"] == metric]["summary"]
    return str(found.iloc[0]) if len(found) else ""
