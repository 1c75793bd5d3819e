"""Which way of choosing heads keeps most, once what is left was trained on.

The curves stand beside those by metric, in the section on BLEU by heads left.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from ..choice import RANDOM
from ..findings import Findings
from ..rendering import Caption, Sheet, caption_of, render
from ..wording import ABSENT, duration, fixed, interval, signed, significant, title_of
from . import section

Figure = tuple[Sheet, Caption]
Row = dict[str, Any]
SAID = 0.25
"""The lead speaks of the number of heads nearest to this share of all."""


@section("ways", title="Ways to choose heads", place=26, needs=("ways",))
def ways(findings: Findings) -> Markup | None:
    """What each way keeps and costs, beside random orders and the control from scratch."""
    if findings.table("ways", "summary") is None:
        return None
    rows = findings.rows("ways", "summary")
    first = rows[rows["where"] == rows["where"].iloc[0]]
    return render(
        "ways.html",
        {
            "lead": _lead(findings, first),
            "figures": [
                (name, title, it)
                for name, title, it in (
                    ("overview", "What each way keeps and costs", _overview(findings)),
                    ("random", "Better than chance?", _against_chance(findings)),
                    ("gone", "What goes first", _gone(findings)),
                    ("proof", "Cut, not masked", _proof(findings)),
                )
                if it is not None
            ],
            "remarks": findings.results["ways"].remarks,
        },
    )


def _lead(findings: Findings, rows: pd.DataFrame) -> str:
    """Say which way does best at about a quarter of the heads, and how it stands to chance."""
    most = rows["heads_left"].max()
    smaller = rows[rows["heads_left"] < most]
    if smaller.empty:
        return ""
    counts = sorted(smaller["heads_left"].unique())
    heads = min(counts, key=lambda it: abs(it - SAID * most))
    chosen = smaller[(smaller["heads_left"] == heads) & (smaller["order"] != RANDOM)]
    if chosen.empty:
        return ""
    best = chosen.loc[chosen["bleu"].idxmax()]
    said = (
        f"With {heads} of {most} heads, {title_of(best['order'])} reaches BLEU "
        f"{fixed(best['bleu'], 1)} {interval(best['bleu_low'], best['bleu_high'], 1)}, "
        f"{signed(best['bleu_difference'], 1)} "
        f"{interval(best['difference_low'], best['difference_high'], 1)} against the whole model"
    )
    for row in findings.records("ways", "against"):
        wanted = (best["order"], RANDOM, best["where"], heads)
        if (row["order"], row["against"], row["where"], row["heads_left"]) == wanted:
            bounds = interval(row["difference_low"], row["difference_high"], 1)
            said += f" and {signed(row['difference'], 1)} {bounds} against random orders"
    return said + "."


def _way(row: Row) -> str:
    where = "" if row["where"] == "all" else f", {title_of(row['where']).lower()} only"
    return title_of(row["order"]) + where


def _overview(findings: Findings) -> Figure | None:
    rows = findings.records("ways", "overview")
    if not rows:
        return None
    printed = [
        [
            _way(row),
            f"{fixed(row['area'], 3)} {interval(row['area_low'], row['area_high'], 3)}",
            fixed(row["knee"], 0),
            f"{row['repetitions']}",
            fixed(row["updates"], 0),
            duration(row["choosing"]),
            duration(row["training"]),
            duration(row["measuring"]),
        ]
        for row in rows
    ]
    columns = ["Way", "Area kept", "Knee (heads)", "Curves", "Updates", "Choosing", "Training"]
    sheet = Sheet("Ways over all numbers of heads", [*columns, "Measuring"], printed)
    text = (
        "The area is that under BLEU against the share of heads left, 1 for a curve that never "
        "falls. Below the knee the curve falls faster than on average. Updates and processor time "
        "are those of one curve."
    )
    unit = "share of the whole model’s area; heads; updates; processor time"
    return sheet, caption_of(findings, "ways", ("overview",), text, unit=unit, measure="bleu")


def _against_chance(findings: Findings) -> Figure | None:
    """Return by how much every way beats random orders."""
    rows = [row for row in findings.records("ways", "against") if row["against"] == RANDOM]
    rows = [row for row in rows if row["where"] == rows[0]["where"]]
    whole = max((row["heads_left"] for row in rows), default=0)
    smaller = [row for row in rows if row["heads_left"] < whole]
    if not smaller:
        return None
    orders = list(dict.fromkeys(row["order"] for row in smaller))
    cells = {
        (row["order"], row["heads_left"]): f"{signed(row['difference'], 1)} "
        f"{interval(row['difference_low'], row['difference_high'], 1)}"
        for row in smaller
    }
    counts = sorted({row["heads_left"] for row in smaller}, reverse=True)
    printed = [[f"{it}", *(cells.get((order, it), ABSENT) for order in orders)] for it in counts]
    columns = ["Heads left", *(title_of(order) for order in orders)]
    sheet = Sheet("BLEU less that of random orders", columns, printed, words=frozenset())
    text = (
        "A way whose interval includes 0 has not been shown to choose better than chance at this "
        "number of heads. The file has every pair of ways."
    )
    unit = "BLEU points"
    return sheet, caption_of(findings, "ways", ("against",), text, unit=unit, measure="bleu")


def _gone(findings: Findings) -> Figure | None:
    """Return how early sites and roles lose their heads, by way."""
    rows = findings.records("ways", "gone")
    rows = [row for row in rows if row["where"] == rows[0]["where"]]
    if not rows:
        return None
    groups = list(dict.fromkeys((row["kind"], row["group"]) for row in rows))
    sizes = {(row["kind"], row["group"]): row["heads"] for row in rows}
    printed = []
    for order in dict.fromkeys(row["order"] for row in rows):
        own = {(row["kind"], row["group"]): row for row in rows if row["order"] == order}
        of_all = fixed(next(iter(own.values()))["of_all"], 1)
        cells = [_gone_at(own[group]) if group in own else ABSENT for group in groups]
        printed.append([title_of(order), *cells, of_all])
    names = [
        f"{title_of(name) if kind == 'site' else _role(name)} ({sizes[kind, name]})"
        for kind, name in groups
    ]
    sheet = Sheet(
        "How many heads the model had left when a head was gone", ["Way", *names, "All"], printed
    )
    text = (
        "Means over the heads of a site, or of those that have a role of a family in the whole "
        "model; the brackets span the repetitions. A number above that of all heads means that "
        "these go earlier than others. In parentheses, heads of the whole model."
    )
    return sheet, caption_of(findings, "ways", ("gone", "groups"), text, unit="heads left")


def _gone_at(row: Row) -> str:
    return f"{fixed(row['gone_at'], 1)} {interval(row['gone_at_least'], row['gone_at_most'], 1)}"


def _role(name: str) -> str:
    return "No role" if name == "none" else f"Role: {title_of(name).lower()}"


def _proof(findings: Findings) -> Figure | None:
    """Return how far every cut model was from the one whose gates were closed."""
    rows = findings.records("ways", "proof")
    if not rows:
        return None
    worst = max(rows, key=lambda row: row["largest_logit_difference"])
    sentences = sum(row["sentences"] for row in rows)
    equal = sum(row["translations_equal"] for row in rows)
    printed = [
        [
            f"{len(rows)}",
            significant(worst["largest_logit_difference"], 2),
            f"{equal} of {sentences}",
        ]
    ]
    columns = ["Cuts", "Largest difference of a logit", "Equal beam outputs"]
    sheet = Sheet("Cut heads against closed gates", columns, printed, words=frozenset())
    text = "Every cut was compared with the model whose gates were closed, before training on."
    return sheet, caption_of(findings, "ways", ("proof",), text, unit="logit; translations")
