"""The map of heads: how much each one matters, and which are left when heads go.

One table a site, one row a layer, one column a head: the number in a cell is the head's
importance, and its colour follows the square root of where that number lies between the
lowest and the highest of the map. Importance is very uneven, so on a linear scale all heads
but a few would look alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from ..choice import RANDOM, smallest_within
from ..drawing.palette import HEAT, heat_step
from ..findings import Findings, records
from ..rendering import Sheet, caption_of, render
from ..unproven import unproven
from ..wording import duration, fixed, interval, missing, significant, title_of, whole
from . import section
from .translations import Example, examples_of

SAMPLES = 3


@section("heads", title="The map of heads", place=30, needs=("score",))
def heads(findings: Findings) -> Markup | None:
    """Importance of every head by the metric you choose, and a slider that removes heads."""
    if findings.table("score", "heads") is None:
        return None
    rows = findings.rows("score", "heads")
    names = _head_names(rows)
    removal = _removal(findings, names)
    text = (
        "One table for each attention site, one row for each layer, one column for each head. "
        "Brighter is more important; the colour follows the square root of the value's place "
        "between the lowest and the highest of the map. Ids are those of the uncut model."
    )
    unit = "as stated above each map"
    samples = _samples(findings)
    broken = unproven(findings)
    return render(
        "heads.html",
        {
            "maps": [
                {**_map(findings, rows, metric, names), "broken": broken.get(metric, "")}
                for metric in rows["metric"].unique()
            ],
            "removal": removal,
            "samples": samples,
            "samples_order": samples[0].order if samples else "",
            "first": _first(findings, samples),
            "heads": len(names),
            "remarks": findings.results["score"].remarks,
            "caption": caption_of(findings, "score", ("heads",), text, unit=unit, figure="heads"),
            "sheet": _sheet(rows[~rows["metric"].isin(broken)], names),
        },
    )


def _head_names(rows: pd.DataFrame) -> list[tuple[str, int, int]]:
    """Return every head once, in the order of the table."""
    unique = records(rows[["site", "layer", "head"]].drop_duplicates())
    return [(row["site"], row["layer"], row["head"]) for row in unique]


def _map(
    findings: Findings, rows: pd.DataFrame, metric: str, names: list[tuple[str, int, int]]
) -> dict[str, Any]:
    """Return one metric's tables, its scale and what it means."""
    mine = records(rows[rows["metric"] == metric])
    values = [row["value"] for row in mine if not missing(row["value"])]
    low, high = min(values, default=0.0), max(values, default=0.0)
    power = _power(max(abs(low), abs(high)))
    places = {name: index for index, name in enumerate(names)}
    tables: dict[str, dict[int, dict[int, dict[str, Any]]]] = {}
    for row in mine:
        at = (row["site"], row["layer"], row["head"])
        cell = _cell(row, low, high, power, places[at])
        tables.setdefault(at[0], {}).setdefault(at[1], {})[at[2]] = cell
    digits = _digits(max(abs(low), abs(high)) / 10.0**power)
    return {
        "metric": metric,
        "summary": _summary(findings, metric),
        "unit": mine[0]["unit"],
        "power": power,
        "low": fixed(low / 10.0**power, digits),
        "high": fixed(high / 10.0**power, digits),
        "steps": range(len(HEAT)),
        "sites": [
            (site, sorted({head for line in layers.values() for head in line}), layers)
            for site, layers in tables.items()
        ],
    }


def _cell(
    row: Mapping[str, Any], low: float, high: float, power: int, place: int
) -> dict[str, Any]:
    """Return what one cell shows."""
    name = f"{row['site']}.{row['layer']}.{row['head']}"
    if missing(row["value"]):
        return {"step": None, "text": "–", "place": place, "title": f"{name}: not measured"}
    share = math.sqrt((row["value"] - low) / (high - low)) if high > low else 0.0
    bounds = "" if missing(row["low"]) else f" [{_exact(row['low'])}, {_exact(row['high'])}]"
    digits = _digits(max(abs(low), abs(high)) / 10.0**power)
    return {
        "step": heat_step(share),
        "text": fixed(row["value"] / 10.0**power, digits),
        "place": place,
        "title": f"{name}: {_exact(row['value'])}{bounds} {row['unit']}, rank {row['rank']}",
    }


def _exact(value: float) -> str:
    return significant(value, 3)


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


def _removal(findings: Findings, names: list[tuple[str, int, int]]) -> dict[str, Any] | None:
    """Return, for the script, in which order heads go and what every stop costs."""
    if findings.table("prune", "removals") is None or findings.table("prune", "curve") is None:
        return None
    removals, curve = findings.rows("prune", "removals"), findings.rows("prune", "curve")
    places = {name: index for index, name in enumerate(names)}
    orders = []
    for order, rows in removals[removals["draw"] == 0].groupby("order", sort=False):
        steps = records(rows.sort_values("step"))
        gone = [places.get((row["site"], row["layer"], row["head"]), -1) for row in steps]
        stops = curve[(curve["order"] == order) & (curve["draw"] == 0)].sort_values("heads_left")
        orders.append(
            {
                "name": order,
                "title": "One random order" if order == RANDOM else title_of(str(order)),
                "gone": gone,
                "stops": [_stop(row) for row in records(stops)],
            }
        )
    return {"orders": [order for order in orders if order["stops"]]} if orders else None


def _stop(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the slider says at one head count."""
    seconds = "" if missing(row["seconds"]) else duration(row["seconds"])
    return {
        "left": row["heads_left"],
        "sites": [row["encoder_left"], row["decoder_left"], row["cross_left"]],
        "bleu": f"{fixed(row['bleu'])} {interval(row['bleu_low'], row['bleu_high'])}",
        "parameters": whole(row["parameters"]),
        "seconds": seconds,
    }


def _first(findings: Findings, samples: list[Example]) -> str:
    """Return the metric and order that is shown before a reader chooses.

    It is the one whose translations were kept, else the one that the answer takes.
    """
    if samples:
        return samples[0].order
    if findings.table("prune", "curve") is not None:
        choice = smallest_within(findings.rows("prune", "curve"), findings.allowed_loss)
        if choice is not None and choice.chosen is not None:
            return str(choice.chosen["order"])
    return str(findings.rows("score", "heads")["metric"].iloc[0])


def _samples(findings: Findings) -> list[Example]:
    """Return the first sentences of the first order that has translations."""
    return examples_of(findings)[:SAMPLES]


def _sheet(rows: pd.DataFrame, names: list[tuple[str, int, int]]) -> Sheet:
    """Return all values in one table: one row a head, for readers who want numbers."""
    metrics = list(rows["metric"].unique())
    columns = ["Head"]
    for metric in metrics:
        unit = rows[rows["metric"] == metric]["unit"].iloc[0]
        columns.append(f"{title_of(metric)} ({unit})")
    by_head: dict[tuple[str, int, int], dict[str, Any]] = {}
    for row in records(rows):
        by_head.setdefault((row["site"], row["layer"], row["head"]), {})[row["metric"]] = row
    printed = []
    for name in names:
        cells = ["{}.{}.{}".format(*name)]
        for metric in metrics:
            found = by_head[name].get(metric)
            cells.append(f"{_exact(found['value'])} ({found['rank']})" if found else "–")
        printed.append(cells)
    return Sheet("Every head by every metric, and its rank", columns, printed)
