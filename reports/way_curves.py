"""Curves of the ways to choose heads, one panel a place where heads may go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from .choice import RANDOM
from .drawing.charts import Axis, Chart, Line, Point, draw, swatch
from .drawing.palette import style_of
from .findings import Findings, records
from .orders import order_styles
from .rendering import Caption, Sheet, caption_of
from .wording import ABSENT, fixed, interval, title_of, trained_on

_DIGITS = {"bleu": 1, "chrf": 1, "nll": 3}
Row = dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """One figure of curves among several that a reader chooses from.

    Args:
        name: its anchor.
        title: what a reader chooses it by.
        chart: the curves.
        legend: of the chart.
        caption: what stands below it.
        sheets: the same as numbers.
    """

    name: str
    title: str
    chart: Markup
    legend: Sequence[tuple[Markup, str]]
    caption: Caption
    sheets: Sequence[Sheet]


def way_panels(findings: Findings) -> list[Panel]:
    """Return BLEU by way of choosing heads: all sites together, then each site alone."""
    if findings.table("ways", "summary") is None:
        return []
    rows = findings.rows("ways", "summary")
    return [_panel(findings, rows[rows["where"] == it], str(it)) for it in rows["where"].unique()]


def _panel(findings: Findings, rows: pd.DataFrame, place: str) -> Panel:
    where = "" if place == "all" else f", only {title_of(place).lower()} may go"
    trained = trained_on(findings.results["ways"].settings.get("finish", {}))
    after = "what is left is trained on" if trained else "nothing is trained again"
    text = (
        f"Heads are cut out of the weights, and {after}. Lines are means over repetitions, drawn a "
        "little apart with their intervals; the grey band spans the repetitions of random orders."
    )
    return Panel(
        name="ways" if place == "all" else f"ways-{place}",
        title=f"By way of choosing{where}",
        chart=_chart(rows),
        legend=_legend(rows),
        caption=caption_of(
            findings,
            "ways",
            ("summary", "curve"),
            text,
            unit="BLEU points",
            measure="bleu",
            figure="ways",
        ),
        sheets=[_sheet(rows, measure, where) for measure in _DIGITS],
    )


def _chart(rows: pd.DataFrame) -> Markup:
    """Draw every way as a line, and random orders as a band."""
    chance = rows[rows["order"] == RANDOM].sort_values("heads_left")
    lines = [_line(rows, order, style) for order, style in order_styles(rows).items()]
    if not chance.empty:
        lines.insert(0, _line(rows, RANDOM, "random"))
    return draw(
        Chart(
            title="BLEU against heads left, by way; the table below has the numbers",
            x=Axis("heads left", end_ticks=True),
            y=Axis("BLEU"),
            lines=lines,
            band=[
                (row["heads_left"], row["bleu_least"], row["bleu_most"]) for row in records(chance)
            ],
        ),
        wide=(600, 400),
        narrow=320,
    )


def _line(rows: pd.DataFrame, order: str, style: int | str) -> Line:
    """Return the means of one way, with intervals unless it is the random one."""
    points = []
    for row in records(rows[rows["order"] == order].sort_values("heads_left")):
        bounds = (row["bleu_low"], row["bleu_high"])
        title = f"{title_of(order)}, {row['heads_left']} heads left: BLEU "
        title += f"{fixed(row['bleu'])} {interval(*bounds)}, {row['repetitions']} repetitions"
        low, high = (math.nan, math.nan) if order == RANDOM else bounds
        points.append(Point(row["heads_left"], row["bleu"], low, high, title))
    return Line(title_of(order), points, style, style_of(style).marker)


def _legend(rows: pd.DataFrame) -> list[tuple[Markup, str]]:
    styles = order_styles(rows)
    entries = [(swatch(style, style_of(style).marker), title_of(o)) for o, style in styles.items()]
    if (rows["order"] == RANDOM).any():
        entries.append((swatch("random", "none"), f"{title_of(RANDOM)} (mean, range)"))
    return entries


def _sheet(rows: pd.DataFrame, measure: str, where: str) -> Sheet:
    """Return a measure with its interval, one row a head count and one column a way."""
    orders = list(rows["order"].unique())
    cells = {(row["order"], row["heads_left"]): _cell(row, measure) for row in records(rows)}
    counts = sorted(rows["heads_left"].unique(), reverse=True)
    printed = [[f"{it}", *(cells.get((order, it), ABSENT) for order in orders)] for it in counts]
    unit = {"nll": "NLL in nats a token"}.get(measure, title_of(measure))
    columns = ["Heads left", *(title_of(order) for order in orders)]
    return Sheet(f"{unit} by heads left and way{where}", columns, printed, words=frozenset())


def _cell(row: Row, measure: str) -> str:
    digits = _DIGITS[measure]
    bounds = interval(row[f"{measure}_low"], row[f"{measure}_high"], digits)
    return f"{fixed(row[measure], digits)} {bounds}"
