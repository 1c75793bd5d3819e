"""What the slider over head counts needs: which heads go when, what is left, what it says.

Everything is written out here, so that the page's script only chooses among texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .choice import RANDOM, smallest_within
from .differences import merged
from .findings import Findings, records
from .wording import (
    ABSENT,
    duration,
    fixed,
    interval,
    missing,
    multiple,
    signed,
    size,
    title_of,
    whole,
)

Name = tuple[str, int, int]
Row = Mapping[str, Any]
LABELS = (
    "BLEU",
    "Change of BLEU",
    "Token NLL",
    "Parameters",
    "Weights",
    "Multiplications a token",
    "Decoding",
)
SITES = ("encoder", "decoder", "cross")  # in the order of the text's way through a model
SAMPLES = 3


def head_names(findings: Findings) -> list[Name]:
    """Return every head once, by site, layer and head, the number of which is its place."""
    for analysis, table in (("score", "heads"), ("prune", "removals")):
        if findings.table(analysis, table) is not None:
            rows = findings.rows(analysis, table)[["site", "layer", "head"]].drop_duplicates()
            names = [(row["site"], row["layer"], row["head"]) for row in records(rows)]
            return sorted(names, key=lambda it: (SITES.index(it[0]), *it[1:]))
    return []


def first_order(findings: Findings) -> str:
    """Return the order that is shown before a reader chooses: the one that the answer takes."""
    rows = findings.rows("prune", "curve")
    choice = smallest_within(rows, findings.allowed_loss)
    if choice is None:
        return RANDOM
    shown = choice.chosen if choice.chosen is not None else choice.nearest
    return str((shown if shown is not None else choice.whole)["order"])


def removal_of(findings: Findings) -> dict[str, Any] | None:
    """Return, for the script, in which order heads go and what every stop is like.

    Returns:
        `labels` of the facts; `orders`, each with its name, title, the places of its heads in
        `head_names` as they go, and its `stops` from few heads to many; `says`, different
        translations as pieces (kind, text) with kind 0 as before, 1 new, 2 lost; `first`, the
        number of the order that is shown first. None where a run has no orders.
    """
    if findings.table("prune", "removals") is None or findings.table("prune", "curve") is None:
        return None
    removals, curve = findings.rows("prune", "removals"), findings.rows("prune", "curve")
    places = {name: place for place, name in enumerate(head_names(findings))}
    sites = list(dict.fromkeys(site for site, _, _ in places))
    costs = {_point(row): row for row in findings.records("prune", "costs") if not row["draw"]}
    said, numbers = _translations(findings), sample_numbers(findings)
    says: dict[tuple[tuple[int, str], ...], int] = {}
    orders = []
    for order, steps in removals[removals["draw"] == 0].groupby("order", sort=False):
        rows = records(
            curve[(curve["order"] == order) & (curve["draw"] == 0)].sort_values("heads_left")
        )
        if not rows:
            continue
        gone = records(steps.sort_values("step"))
        stops = []
        for row in rows:
            point, most = _point(row), rows[-1]
            stop = {
                "left": row["heads_left"],
                "sites": [f"{site} {row[f'{site}_left']}" for site in sites],
                "facts": _facts(row, most, costs),
            }
            texts = [_pieces(said, number, point, _point(most)) for number in numbers]
            if all(texts):
                stop["says"] = [says.setdefault(text, len(says)) for text in texts]
            stops.append(stop)
        orders.append(
            {
                "name": order,
                "title": "One random order" if order == RANDOM else title_of(str(order)),
                "gone": [places.get((it["site"], it["layer"], it["head"]), -1) for it in gone],
                "stops": stops,
            }
        )
    if not orders:
        return None
    names = [order["name"] for order in orders]
    first = first_order(findings)
    return {
        "labels": LABELS,
        "orders": orders,
        "says": list(says),
        "first": names.index(first) if first in names else 0,
    }


def sample_numbers(findings: Findings) -> list[int]:
    """Return the numbers of the sentences that are shown at every stop."""
    table = "samples" if findings.table("prune", "samples") is not None else "examples"
    rows = findings.records("prune", table)
    return list(dict.fromkeys(row["sentence"] for row in rows))[:SAMPLES]


def sample_rows(findings: Findings) -> list[Row]:
    """Return source, reference and the whole model's translation of those sentences."""
    table = "samples" if findings.table("prune", "samples") is not None else "examples"
    rows = findings.records("prune", table)
    most = max((row["heads_left"] for row in rows), default=0)
    by_number = {row["sentence"]: row for row in reversed(rows) if row["heads_left"] == most}
    return [by_number[number] for number in sample_numbers(findings) if number in by_number]


def _translations(findings: Findings) -> dict[tuple[str, int, int], str]:
    """Return translations by order, heads left and sentence; old runs have only some."""
    return {
        (row["order"], row["heads_left"], row["sentence"]): row["translation"]
        for table in ("examples", "samples")
        for row in findings.records("prune", table)
    }


def _pieces(
    said: Mapping[tuple[str, int, int], str],
    number: int,
    point: tuple[str, int],
    whole_model: tuple[str, int],
) -> tuple[tuple[int, str], ...]:
    """Return a translation with what changed against the whole model; empty if not kept."""
    before, after = said.get((*whole_model, number)), said.get((*point, number))
    if before is None or after is None:
        return ()
    return tuple(merged(before, after)) or ((0, ""),)


def _point(row: Row) -> tuple[str, int]:
    return row["order"], row["heads_left"]


def _facts(row: Row, most: Row, costs: Mapping[tuple[str, int], Row]) -> list[str]:
    """Return what stands beside each of `LABELS` at one head count."""
    cost = costs.get(_point(row))
    change = f"{signed(row['bleu_difference'])} "
    change += interval(row["difference_low"], row["difference_high"])
    seconds = duration(row["seconds"])
    if not missing(row["seconds"]) and not missing(most["seconds"]) and row["seconds"]:
        seconds += f" ({multiple(most['seconds'] / row['seconds'])})"
    smaller = 100 * (row["parameters"] / most["parameters"] - 1)
    return [
        f"{fixed(row['bleu'])} {interval(row['bleu_low'], row['bleu_high'])}",
        change,
        fixed(row["nll"], 3),
        f"{whole(row['parameters'])} ({signed(smaller, 0)} %)",
        size(cost["weights"]) if cost else ABSENT,
        f"{whole(cost['multiplications'])} ({signed(100 * (cost['share'] - 1), 0)} %)"
        if cost
        else ABSENT,
        seconds,
    ]
