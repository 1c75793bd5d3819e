"""What was found about the metrics themselves, as tables to be printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from .agreement import ALL
from .drawing.charts import Axis, Chart, Line, Point, draw, swatch
from .drawing.palette import style_of
from .findings import Findings
from .methods import listed, lower
from .rendering import Sheet
from .wording import ABSENT, fixed, interval, missing, signed, title_of, whole

RANDOM, GREEDY = "random", "greedy"
NOT_DEFINED = "not defined"
_SHOWN_ORDERS = 3
Row = dict[str, Any]


def number(value: Any, digits: int = 2) -> str:
    """Write a correlation or a coefficient; one that has no value is not defined."""
    return NOT_DEFINED if missing(value) else fixed(value, digits)


def with_interval(row: Mapping[str, Any], name: str, digits: int = 2) -> str:
    """Write a value with its interval where there is one: `0.61 [0.52, 0.70]`."""
    return _bounded(row[name], row[f"{name}_low"], row[f"{name}_high"], digits)


def _bounded(value: Any, low: Any, high: Any, digits: int = 2) -> str:
    bounds = "" if missing(low) or missing(high) else f" {interval(low, high, digits)}"
    return number(value, digits) + bounds


def by_metric(
    caption: str,
    columns: Sequence[str],
    lines: Sequence[tuple[str, Sequence[str]]],
    broken: Mapping[str, str],
    words: frozenset[int] = frozenset({0}),
) -> Sheet:
    """Return a table of one row a metric; a metric with a failed proof shows no number.

    Args:
        lines: metric and its printed cells.
        broken: metrics that must not be shown, with their reasons.
    """
    printed, greyed = [], set()
    for place, (metric, cells) in enumerate(lines):
        if metric in broken:
            greyed.add(place)
            cells = [ABSENT] * len(cells)
        printed.append([title_of(metric), *cells])
    return Sheet(caption, columns, printed, 1, words, frozenset(greyed))


def verdict_sheet(findings: Findings, broken: Mapping[str, str]) -> Sheet:
    """Return which metric can be believed, and why; columns that nobody measured are left out."""
    rows = findings.records("reliability", "verdict")
    measured = [column for column in _VERDICT if any(not missing(r[column[0]]) for r in rows)]
    printed, greyed = [], set()
    for place, row in enumerate(rows):
        name, against = row["metric"], row["against"] or "nothing"
        shown = [
            "itself"
            if (name, column) == ("leave_one_out", "kendall")
            else ABSENT
            if missing(row[column])
            else write(row[column])
            for column, _, write in measured
        ]
        answer = "yes" if row["believable"] else "no"
        if name == RANDOM:
            answer = "chance"
        if name in broken:
            greyed.add(place)
            answer, shown, against = "not shown", [ABSENT] * len(shown), broken[name]
        printed.append([title_of(name), answer, against, *shown])
    columns = ["Metric", "Believe it?", "What speaks against it"]
    columns += [heading for _, heading, _ in measured]
    words = frozenset({0, 1, 2})
    return Sheet("Verdicts", columns, printed, 1, words, frozenset(greyed))


_VERDICT: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("kendall", "τ with leave-one-out", number),
    ("against_random", "Loss against random (nats)", signed),
    ("against_greedy", "Loss against greedy (nats)", signed),
    ("halves", "ρ between halves", fixed),
    ("stable_at", "Stable from (sentences)", whole),
)
"""The columns of numbers of the verdict: what is read, its heading, and how it is written."""


def verdict_lead(findings: Findings, broken: Mapping[str, str]) -> str:
    """Say in one sentence which metrics can be believed on this model."""
    rows = findings.records("reliability", "verdict")
    asked = [row for row in rows if row["metric"] != RANDOM]
    trusted = [row["metric"] for row in asked if row["believable"] and row["metric"] not in broken]
    if not trusted:
        return f"None of the {len(asked)} metrics can be believed on this model."
    few = listed([lower(title_of(name)) for name in trusted])
    return f"{len(trusted)} of {len(asked)} metrics can be believed on this model: {few}."


def faithfulness_sheet(findings: Findings, broken: Mapping[str, str]) -> Sheet:
    """Return how each metric agrees with leave-one-out, by site."""
    rows = findings.records("reliability", "faithfulness")
    sites = list(dict.fromkeys(row["site"] for row in rows))
    found = {(row["metric"], row["site"]): row for row in rows}
    lines = [
        (
            name,
            [with_interval(found[name, ALL], "spearman")]
            + [with_interval(found[name, site], "kendall") for site in sites],
        )
        for name in dict.fromkeys(row["metric"] for row in rows)
    ]
    columns = ["Metric", "ρ, all heads"]
    columns += ["τ, all heads" if site == ALL else f"τ, {title_of(site).lower()}" for site in sites]
    return by_metric("Agreement with leave-one-out", columns, lines, broken)


def areas_sheet(findings: Findings, broken: Mapping[str, str]) -> Sheet:
    """Return the area under every removal curve, the least loss first."""
    rows = findings.records("reliability", "areas")
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    found = {(row["order"], row["measure"]): row for row in rows}
    ranked = sorted((row for row in rows if row["measure"] == "nll"), key=_area)
    lines = []
    for name in (row["order"] for row in ranked):
        cells: list[str] = []
        for measure in measures:
            row = found[name, measure]
            cells.append(_bounded(row["area"], row["low"], row["high"]))
            cells += [_difference(row, f"against_{other}") for other in (RANDOM, GREEDY)]
        lines.append((name, cells))
    columns = ["Removal order"]
    for measure in measures:
        what = "NLL rise (nats a token)" if measure == "nll" else "BLEU kept (share)"
        columns += [what, "against random", "against greedy"]
    return by_metric("Area under the joint-removal curve", columns, lines, broken)


def _area(row: Row) -> float:
    return float("inf") if missing(row["area"]) else float(row["area"])


def _difference(row: Row, name: str) -> str:
    """Write a difference of areas with its interval, a dash where there is none."""
    if missing(row[name]):
        return ABSENT
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if missing(low) or missing(high):
        return signed(row[name])
    return f"{signed(row[name])} [{signed(low)}, {signed(high)}]"


def curves_chart(
    findings: Findings, broken: Mapping[str, str]
) -> tuple[Markup, list[tuple[Markup, str]]]:
    """Draw NLL against heads left: greedy, the best metrics, the worst, and the random band.

    Returns:
        The chart and its legend.
    """
    rows = findings.records("reliability", "curves")
    areas = [row for row in findings.records("reliability", "areas") if row["measure"] == "nll"]
    metrics = [r["order"] for r in sorted(areas, key=_area) if r["order"] not in (RANDOM, GREEDY)]
    metrics = [name for name in metrics if name not in broken]
    chosen = list(dict.fromkeys([*metrics[:_SHOWN_ORDERS], *metrics[-1:]]))
    if any(row["order"] == GREEDY for row in rows):
        chosen.insert(0, GREEDY)
    lines = [_line(name, style, rows) for style, name in enumerate(chosen)]
    band = []
    for count in sorted({row["heads_left"] for row in rows}):
        drawn = [r["nll"] for r in rows if r["order"] == RANDOM and r["heads_left"] == count]
        band += [(count, min(drawn), max(drawn))] if drawn else []
    legend = [
        (swatch(style, style_of(style).marker), _order(name)) for style, name in enumerate(chosen)
    ]
    chart = draw(
        Chart(
            title="NLL against heads left, by removal order; the table below has the areas",
            x=Axis("heads left", end_ticks=True),
            y=Axis("nats a token"),
            lines=lines,
            band=band,
        ),
        wide=(820, 340),
        narrow=300,
    )
    return chart, legend


def _order(name: str) -> str:
    return "Greedy, measured anew after each removal" if name == GREEDY else title_of(name)


def _line(name: str, style: int, rows: Sequence[Row]) -> Line:
    own = sorted((row for row in rows if row["order"] == name), key=lambda row: row["heads_left"])
    points = [
        Point(
            row["heads_left"],
            row["nll"],
            title=f"{_order(name)}, {row['heads_left']} heads left: {fixed(row['nll'])} nats a "
            + ("token" if missing(row["bleu"]) else f"token, BLEU {fixed(row['bleu'])}"),
        )
        for row in own
    ]
    return Line(_order(name), points, style, style_of(style).marker)


def stability_sheet(findings: Findings, broken: Mapping[str, str]) -> Sheet:
    """Return what other sentences and other text say, over all heads."""
    rows = [r for r in findings.records("reliability", "stability") if r["site"] == ALL]
    names = list(dict.fromkeys(row["metric"] for row in findings.records("reliability", "verdict")))
    sizes = sorted({row["sentences"] for row in rows if row["across"] == "sentences"})
    domains = list(dict.fromkeys(row["detail"] for row in rows if row["across"] == "domain"))
    split = any(row["across"] == "halves" for row in rows)
    lines = []
    for name in names:
        own = [row for row in rows if row["metric"] == name]
        halves = next((row for row in own if row["across"] == "halves"), None)
        by_size = {row["sentences"]: row for row in own if row["across"] == "sentences"}
        if halves is None:
            cells = ["reads no text" if split else ABSENT, ABSENT]
        else:
            cells = [with_interval(halves, "spearman"), number(halves["spearman_brown"])]
        cells += [number(by_size[n]["spearman"]) if n in by_size else ABSENT for n in sizes]
        found = {row["detail"]: row for row in own if row["across"] == "domain"}
        cells += [with_interval(found[it], "spearman") if it in found else ABSENT for it in domains]
        lines.append((name, cells))
    columns = ["Metric", "ρ between halves", "ρ of two whole samples"]
    columns += [f"ρ, {whole(size)} and the others" for size in sizes]
    columns += [f"ρ with {text}" for text in domains]
    return by_metric("Stability over sentences", columns, lines, broken)


def seeds_sheet(findings: Findings, broken: Mapping[str, str]) -> Sheet | None:
    """Return what models of other seeds say, None where there are none."""
    rows = [r for r in findings.records("reliability", "stability") if r["across"] == "seeds"]
    if not rows:
        return None
    found = {(row["metric"], row["detail"], row["compared"], row["site"]): row for row in rows}
    lines = []
    for name, pair in dict.fromkeys((row["metric"], row["detail"]) for row in rows):
        heads, layers, ranked = (
            found[name, pair, compared, ALL] for compared in ("heads", "sublayers", "ranked")
        )
        shape = found.get((name, pair, "shape", ALL))
        cells = [
            pair,
            number(heads["spearman"]),
            number(heads["chance"]),
            number(layers["spearman"]),
            number(ranked["spearman"]),
            number(ranked["chance"]),
            number(shape["distance"]) if shape else NOT_DEFINED,
        ]
        lines.append((name, cells))
    columns = ["Metric", "Models", "ρ by number", "numbers shuffled", "ρ of sublayers"]
    columns += ["ρ of ranked heads", "heads shuffled", "Distance of curves"]
    return by_metric("Stability over training seeds", columns, lines, broken, frozenset({0, 1}))


def concentration_sheet(findings: Findings, broken: Mapping[str, str]) -> Sheet:
    """Return how concentrated importance is, beside networks with random weights."""
    rows = findings.records("reliability", "concentration")
    found = {(row["metric"], row["measure"]): row for row in rows}
    lines = []
    for name in dict.fromkeys(row["metric"] for row in rows):
        cells: list[str] = []
        for measure in ("gini", "top_fifth"):
            row = found[name, measure]
            cells.append(_bounded(row["value"], row["low"], row["high"]))
            cells.append(number(row["random_weights"]))
        lines.append((name, cells))
    columns = ["Metric", "Gini", "Gini, random weights"]
    columns += ["Share of the top fifth", "Share, random weights"]
    return by_metric("Concentration", columns, lines, broken)
