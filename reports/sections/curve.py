"""BLEU against the heads that are left, and a slider over their number.

The curves are one panel a question: by metric, by way of choosing, by site; with the script a
reader chooses among them, without it all are shown. The slider chooses a point of the curves
by metric and shows which heads are left there, what the smaller model costs, and what it makes
of the same few sentences.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from ..choice import RANDOM
from ..drawing.charts import Axis, Chart, Line, Point, draw, swatch
from ..drawing.minimap import minimap
from ..drawing.palette import style_of
from ..findings import Findings, records
from ..orders import order_line, order_styles, random_band, random_line
from ..removal import head_names, removal_of, sample_rows
from ..rendering import Sheet, caption_of, render
from ..way_curves import Panel, way_panels
from ..wording import ABSENT, fixed, interval, title_of
from . import section


@section("curve", title="BLEU by heads left", place=20, needs=())
def curve(findings: Findings) -> Markup | None:
    """BLEU against heads left, by every order, way and site, and what is left at each point."""
    panels = [*_by_metric(findings), *way_panels(findings), *_by_site(findings)]
    if not panels:
        return None
    return render(
        "curve.html",
        {
            "panels": panels,
            "removal": removal_of(findings),
            "minimap": minimap(head_names(findings)),
            "samples": sample_rows(findings),
        },
    )


def _by_metric(findings: Findings) -> list[Panel]:
    """Return the curves of every metric's order, with the band of random ones."""
    if findings.table("prune", "curve") is None:
        return []
    rows = findings.rows("prune", "curve")
    banded = findings.table("prune", "band") is not None
    spread = findings.rows("prune", "band") if banded else None
    text = (
        "Heads are cut out of the weights from the least to the most important, and nothing is "
        "trained again. Bars are intervals, drawn a little apart; the grey band spans the random "
        "orders, the null that an importance metric has to beat. Decoding times were taken beside "
        "other work and are rough."
    )
    tables = ["curve", "band"] if banded else ["curve"]
    tables += [name for name in ("costs", "samples") if findings.table("prune", name) is not None]
    caption = caption_of(
        findings, "prune", tables, text, unit="BLEU points", measure="bleu", figure="curve"
    )
    title = "By metric, nothing trained again"
    chart, legend = _chart(rows, spread), _legend(rows, spread)
    return [Panel("curve", title, chart, legend, caption, [_sheet(rows, spread)])]


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
        wide=(600, 400),
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


def _by_site(findings: Findings) -> list[Panel]:
    """Return BLEU when heads of one site alone are removed."""
    if findings.table("prune", "sites") is None:
        return []
    rows = findings.records("prune", "sites")
    sites = list(dict.fromkeys(row["site"] for row in rows))
    lines = [_site_line(style, site, rows) for style, site in enumerate(sites)]
    order = title_of(rows[0]["order"]).lower()
    text = (
        f"Heads of one site alone are cut, the least important by {order} first; the other sites "
        "stay whole. There is no random band here: compare the sites with each other."
    )
    cells = {
        (row["site"], row["site_left"]): _bleu(row["bleu"], row["bleu_low"], row["bleu_high"])
        for row in rows
    }
    counts = sorted({row["site_left"] for row in rows}, reverse=True)
    printed = [
        [f"{count}", *(cells.get((site, count), ABSENT) for site in sites)] for count in counts
    ]
    columns = ["Heads left at the site", *(title_of(site) for site in sites)]
    chart = Chart(
        title="BLEU against heads left at one site; the table has the numbers",
        x=Axis("heads left at the site"),
        y=Axis("BLEU", include=(0,)),
        lines=lines,
    )
    return [
        Panel(
            name="sites",
            title="One site alone, nothing trained again",
            chart=draw(chart, wide=(600, 400), narrow=280),
            legend=[(swatch(line.style, line.marker), line.label) for line in lines],
            caption=caption_of(
                findings,
                "prune",
                ("sites",),
                text,
                unit="BLEU points",
                measure="bleu",
                figure="sites",
            ),
            sheets=[Sheet("BLEU by heads left at one site", columns, printed, words=frozenset())],
        )
    ]


def _site_line(style: int, site: str, rows: list[dict[str, Any]]) -> Line:
    """Return BLEU against the heads left at a site."""
    points = [
        Point(
            row["site_left"],
            row["bleu"],
            row["bleu_low"],
            row["bleu_high"],
            f"{title_of(site)}, {row['site_left']} heads left there: BLEU "
            + _bleu(row["bleu"], row["bleu_low"], row["bleu_high"]),
        )
        for row in sorted(rows, key=lambda it: int(it["site_left"]))
        if row["site"] == site
    ]
    return Line(title_of(site), points, style, style_of(style).marker)
