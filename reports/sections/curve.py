"""BLEU against the heads that are left, for every removal order and for random ones."""

from __future__ import annotations

import pandas as pd
from markupsafe import Markup

from ..choice import RANDOM
from ..drawing.charts import Axis, Chart, draw, swatch
from ..drawing.palette import style_of
from ..findings import Findings, records
from ..orders import order_line, order_styles, random_band, random_line
from ..rendering import Sheet, caption_of, render
from ..wording import ABSENT, fixed, interval, title_of
from . import section


@section("curve", title="BLEU by heads left", place=20, needs=("prune",))
def curve(findings: Findings) -> Markup | None:
    """BLEU against heads left, by every order."""
    if findings.table("prune", "curve") is None:
        return None
    rows = findings.rows("prune", "curve")
    banded = findings.table("prune", "band") is not None
    spread = findings.rows("prune", "band") if banded else None
    text = (
        "Heads are cut out of the weights from the least to the most important, and nothing is "
        "trained again. Bars are intervals, drawn a little apart; the grey band spans the random "
        "orders, the null that an importance metric has to beat."
    )
    tables = ["curve", "band"] if banded else ["curve"]
    return render(
        "curve.html",
        {
            "chart": _chart(rows, spread),
            "legend_entries": _legend(rows, spread),
            "caption": caption_of(
                findings, "prune", tables, text, unit="BLEU points", measure="bleu", figure="curve"
            ),
            "sheet": _sheet(rows, spread),
        },
    )


def _chart(rows: pd.DataFrame, spread: pd.DataFrame | None) -> Markup:
    lines = [order_line(rows, order) for order in order_styles(rows)]
    if spread is not None:
        lines.insert(0, random_line(spread))
    return draw(
        Chart(
            title="BLEU against heads left, by removal order; the table below has the numbers",
            x=Axis("heads left", end_ticks=True),
            y=Axis("BLEU", include=(0,)),
            lines=lines,
            band=random_band(spread) if spread is not None else (),
        ),
        wide=(820, 400),
        narrow=320,
    )


def _legend(rows: pd.DataFrame, spread: pd.DataFrame | None) -> list[tuple[Markup, str]]:
    styles = order_styles(rows)
    legend = [(swatch(style, style_of(style).marker), title_of(o)) for o, style in styles.items()]
    if spread is not None:
        legend.append((swatch("random", "none"), f"{title_of(RANDOM)} (mean, range)"))
    return legend


def _sheet(rows: pd.DataFrame, spread: pd.DataFrame | None) -> Sheet:
    """Return BLEU with interval, one row a head count and one column an order."""
    orders = list(order_styles(rows))
    columns = ["Heads left", *(title_of(order) for order in orders)]
    cells = {
        (row["order"], row["heads_left"]): _bleu(row["bleu"], row["bleu_low"], row["bleu_high"])
        for row in records(rows[rows["draw"] == 0])
    }
    randoms = {}
    if spread is not None:
        columns.append("Random: mean [range]")
        randoms = {
            row["heads_left"]: _bleu(row["mean"], row["low"], row["high"])
            for row in records(spread)
        }
    printed = []
    for count in sorted(rows["heads_left"].unique(), reverse=True):
        line = [f"{count}", *(cells.get((order, count), ABSENT) for order in orders)]
        printed.append([*line, randoms.get(count, ABSENT)] if spread is not None else line)
    return Sheet("BLEU by heads left and removal order", columns, printed, words=frozenset())


def _bleu(value: float, low: float, high: float) -> str:
    return f"{fixed(value)} {interval(low, high)}"
