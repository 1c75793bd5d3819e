"""What heads do: roles, the strongest relations, alignment, what they rest on, who is alike."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from markupsafe import Markup

from ..drawing.palette import heat_step
from ..findings import Findings, records
from ..rendering import Caption, Sheet, caption_of, render
from ..wording import fixed, interval, missing, signed, significant, title_of
from . import section

STRONGEST = 10  # pairs of a head and a relation that are listed
NEAR = 3  # offsets up to this have a column of their own
POSITIONAL = 0.9
MINUS = "\u2212"
ALIGNERS = {"mean": "mean of all heads", "union": "union of all heads"}
MAPS_OF = {"weights": "weight", "norm": "weight × length", "relevance": "relevance"}
MODELS = {"whole": "whole", "cut": "heads removed", "smaller": "removed, trained on"}
Figure = tuple[Sheet, Caption]
Row = dict[str, Any]


@section("roles", title="What heads do", place=35, needs=("roles",))
def roles(findings: Findings) -> Markup | None:
    """Which heads have a role, beside what would find the same words without any head."""
    if findings.table("roles", "offsets") is None:
        return None
    return render(
        "roles.html",
        {
            "lead": _lead(findings),
            "figures": [
                (name, title, it)
                for name, title, it in (
                    ("roles", "", _heads(findings)),
                    ("relations", "The strongest pairs of a head and a question", _pairs(findings)),
                    ("alignment", "Does cross-attention align words?", _alignment(findings)),
                    ("outliers", "Are some heads unlike the rest?", _outliers(findings)),
                )
                if it is not None
            ],
            "profiles": _profiles(findings),
            "squares": _squares(findings),
            "remarks": findings.results["roles"].remarks,
        },
    )


def _name(row: Row) -> str:
    return "{site}.{layer}.{head}".format(**row)


def _lead(findings: Findings) -> str:
    """Say how many heads have a role, to rest being none, and if any looks at a fixed distance."""
    offsets = findings.records("roles", "offsets")
    total = len({_name(row) for row in offsets})
    found = findings.records("roles", "roles")
    having = {_name(row) for row in found if row["family"] != "rest"}
    resting = len({_name(row) for row in found} - having)
    others = f"; {resting} more only rest on one kind of token" if resting else ""
    some = f"{len(having)} of {total} heads have a role{others}."
    placed = [row for row in found if row["family"] == "position"]
    if placed:
        names = ", ".join(f"{_name(row)} ({row['role']})" for row in placed)
        return f"{some} At one fixed distance look {names}."
    near = [row for row in offsets if not missing(row["offset"])]
    best = max(near, key=lambda row: -1.0 if missing(row["share"]) else row["share"])
    return (
        f"{some} No head looks at one fixed distance with {_percent(POSITIONAL, 0)} % of its "
        f"queries; the closest is {_name(best)}, {_percent(best['share'], 0)} % at offset "
        f"{_offset(best['offset'])}."
    )


def _heads(findings: Findings) -> Figure | None:
    """Return every head that has a role, with all of them."""
    by_head: dict[str, list[Row]] = {}
    for row in findings.records("roles", "roles"):
        by_head.setdefault(_name(row), []).append(row)
    if not by_head:
        return None
    rows = [[name, "; ".join(_role(row) for row in found)] for name, found in by_head.items()]
    sheet = Sheet("Heads with a role", ["Head", "What it looks at"], rows, 1, frozenset({0, 1}))
    text = (
        "The percentage is the share of queries that look there, or for resting the share of "
        "attention. Relations, meaning, tokens and alignment count only at 10 points or more "
        "above the best fixed place, chance and random weights, by Holm’s correction at 5 % over "
        "all heads and questions. Attention says where a head looks, not what it does with it."
    )
    tables = ("roles", "arcs", "offsets", "sinks")
    return sheet, caption_of(
        findings, "roles", tables, text, unit="percent of queries", figure="roles"
    )


def _role(row: Row) -> str:
    share = f"{_percent(row['share'], 0)} %"
    if row["family"] == "position":
        return f"offset {row['role']} ({share})"
    if row["family"] == "rest":
        return f"rests on {row['role']} ({share})"
    return f"{_arrow(row['role'])} ({share}, lead {signed(100 * row['effect'], 0)})"


def _pairs(findings: Findings) -> Figure | None:
    """Return the pairs of a head and a question with the largest lead."""
    rows = [row for row in findings.records("roles", "arcs") if row["chosen"]]
    if not rows:
        return None
    rows.sort(key=lambda row: -row["effect"])
    printed = [
        [
            _name(row),
            _arrow(f"{row['kind']}, {row['direction']}"),
            _percent(row["accuracy"]),
            f"{_percent(row['baseline'])} ({row['place'].replace('-', MINUS)})",
            _percent(row["chance"]),
            _percent(row["floor"]),
            f"{signed(100 * row['effect'], 1)} "
            f"{interval(100 * row['effect_low'], 100 * row['effect_high'], 1)}",
            "< 0.0001" if row["p_holm"] < 1e-4 else significant(row["p_holm"], 2),
        ]
        for row in rows[:STRONGEST]
    ]
    columns = ["Head", "Who looks for what", "Right, %", "Best place, %", "Chance, %"]
    columns += ["Random weights, %", "Lead, points", "p (Holm)"]
    sheet = Sheet("Strongest pairs", columns, printed, 1, frozenset({0, 1}))
    text = (
        "Heads, fixed places and random heads were chosen on one half of the sentences; the "
        "numbers are of the other half. The lead is over the strongest of the three."
    )
    return sheet, caption_of(findings, "roles", ("arcs",), text, unit="percent of questions")


def _alignment(findings: Findings) -> Figure | None:
    """Return the best head, the mean and the union, by what is largest and where words are.

    Where a word is read, nothing in a translation model needs to look at its source, so of
    maps other than attention weights only where it is said is shown, without their union.
    """
    rows = [
        row
        for row in findings.records("roles", "alignment")
        if (
            row.get("map", "weights") == "weights" and (row["chosen"] or row["aligner"] in ALIGNERS)
        )
        or (row["asked"] == "said" and (row["chosen"] or row["aligner"] == "mean"))
    ]
    if not rows:
        return None
    printed = [
        [
            f"{row['aligner']} (best head)" if row["chosen"] else ALIGNERS[row["aligner"]],
            MAPS_OF[row.get("map", "weights")],
            row["asked"],
            MODELS[row.get("model", "whole")],
            _percent(row["precision"]),
            _percent(row["recall"]),
            f"{_percent(row['error_rate'])} "
            f"{interval(100 * row['error_rate_low'], 100 * row['error_rate_high'], 1)}",
        ]
        for row in rows
    ]
    columns = ["Links by", "Largest", "Where the word is", "Model"]
    columns += ["Precision, %", "Recall, %", "Error rate, %"]
    if len({row.get("model") for row in rows}) == 1:  # nothing to tell apart
        printed = [[*row[:3], *row[4:]] for row in printed]
        columns.remove("Model")
    sheet = Sheet("Word alignment", columns, printed, 1, frozenset(range(len(columns) - 3)))
    text = (
        "Every target word is linked to the source word with the largest attention weight, "
        "weight × length of what is added, or relevance by LRP, where it is read or, one "
        "position before, where it is said. The best head was chosen on the other half of the "
        "sentences. The union shows in its recall what any head finds."
    )
    return sheet, caption_of(findings, "roles", ("alignment",), text, unit="percent of links")


def _outliers(findings: Findings) -> Figure | None:
    """Return how many heads are unlike their layer, beside random weights."""
    if findings.table("roles", "outliers") is None:
        return None
    rows = findings.rows("roles", "outliers")
    heads, pairs = findings.rows("roles", "map"), findings.records("roles", "likeness")
    printed = []
    for site, group in rows.groupby("site", sort=False):
        own = records(group[group["network"] == "trained"])[0]
        random = group[group["network"] == "random"]
        outside = records(heads[(heads["site"] == site) & heads["outlier"]])
        twins = [
            f"{row['layer']}.{row['head']} and {row['other_layer']}.{row['other_head']}"
            for row in pairs
            if row["site"] == site and row["twins"]
        ]
        printed.append(
            [
                title_of(str(site)),
                f"{own['layers_with_one_or_two']} of {own['layers']}",
                fixed(own.get("by_chance"), 1),
                _range(random["layers_with_one_or_two"]),
                fixed(own["median_distance"]),
                _range(random["median_distance"], 2),
                ", ".join(f"{row['layer']}.{row['head']}" for row in outside) or "none",
                ", ".join(twins) or "none",
            ]
        )
    columns = ["Site", "Layers with one or two outliers", "By chance", "With random weights"]
    columns += ["Median distance", "With random weights", "Outliers (layer.head)", "Twins"]
    sheet = Sheet("Heads unlike and alike", columns, printed, 1, frozenset({0, 6, 7}))
    text = (
        "An outlier is further from the other heads of its layer than median + 3 MAD; twins are "
        "each other’s nearest and nearer than half the median of the site. By chance is what the "
        "same distances give when they belong to no head. One model and few heads a layer: "
        "compare with both before believing it."
    )
    tables = ("outliers", "map", "likeness", "merges")
    unit = "Jensen-Shannon distance; 1 is unlike as chance"
    return sheet, caption_of(findings, "roles", tables, text, unit=unit)


def _range(values: pd.Series, digits: int = 0) -> str:
    if not len(values):
        return fixed(None)
    low, high = fixed(values.min(), digits), fixed(values.max(), digits)
    return low if low == high else f"{low} to {high}"


def _profiles(findings: Findings) -> dict[str, Any]:
    """Return, for each site, where every head looks by offset and what it rests on."""
    offsets, sinks = findings.records("roles", "offsets"), findings.records("roles", "sinks")
    kinds = list(dict.fromkeys(row["kind"] for row in sinks if row["kind"] != "words"))
    sites: dict[str, dict[str, dict[str, float]]] = {}
    for row in offsets:
        cells = sites.setdefault(row["site"], {}).setdefault(_name(row), {})
        far = missing(row["offset"]) or abs(row["offset"]) > NEAR
        column = "further" if far else _offset(row["offset"])
        share = 0.0 if missing(row["share"]) else row["share"]
        cells[column] = cells.get(column, 0.0) + share
    for row in sinks:
        if row["kind"] in kinds:
            sites[row["site"]][_name(row)][row["kind"]] = row["mass"]
    columns = [*[_offset(at) for at in range(-NEAR, NEAR + 1)], "further", *kinds]
    text = (
        "Left, queries whose largest weight is at an offset (key − query, in tokens; in "
        "cross-attention 0 is the source position of the token that is said next). Right, the "
        "attention that rests on punctuation, on tokens before and behind the text, on itself."
    )
    tables = ("offsets", "sinks")
    caption = caption_of(
        findings, "roles", tables, text, unit="percent, by head", figure="profiles"
    )
    maps = [
        (
            site,
            [(name, [_cell(cells.get(it)) for it in columns]) for name, cells in heads.items()],
        )
        for site, heads in sites.items()
    ]
    return {"columns": columns, "maps": maps, "caption": caption}


def _squares(findings: Findings) -> dict[str, Any] | None:
    """Return the distances of all heads of a site, as a square."""
    rows = findings.records("roles", "likeness")
    if not rows:
        return None
    sites: dict[str, dict[tuple[str, str], float]] = {}
    for row in rows:
        one, other = f"{row['layer']}.{row['head']}", f"{row['other_layer']}.{row['other_head']}"
        cells = sites.setdefault(row["site"], {})
        cells[one, other] = cells[other, one] = row["distance"]
    maps = []
    for site, cells in sites.items():
        names = list(dict.fromkeys(name for pair in cells for name in pair))
        names.sort(key=lambda name: tuple(map(int, name.split("."))))
        body = [  # every pair once: the half below the diagonal
            (one, [_cell(cells.get((one, it)), 100, root=False) for it in names[:place]])
            for place, one in enumerate(names)
            if place
        ]
        maps.append((site, names, body))
    text = (
        "Jensen-Shannon distance of the attention of two heads, named layer.head, times 100: 0 is "
        "the same map, 100 unlike as chance. Every pair stands once. "
        "Queries of the decoder are weighed by how many keys they see."
    )
    caption = caption_of(
        findings, "roles", ("likeness",), text, unit="distance × 100", figure="likeness"
    )
    return {"maps": maps, "caption": caption}


def _cell(value: float | None, scale: float = 100, *, root: bool = True) -> Row:
    """Return the number and the shade of one cell; the root lets small shares be seen."""
    if value is None or missing(value):
        return {"text": "", "step": None}
    clipped = min(max(value, 0.0), 1.0)
    step = heat_step(math.sqrt(clipped) if root else clipped)
    return {"text": fixed(scale * value, 0), "step": step}


def _percent(share: float, digits: int = 1) -> str:
    return fixed(100 * share, digits)


def _offset(offset: int) -> str:
    return signed(offset, 0)


def _arrow(words: str) -> str:
    return words.replace("->", " → ")
