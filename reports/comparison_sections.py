"""What is shown of several runs side by side: one function a section of that page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from .agreement import ALL
from .blocks import Block, blocks_of
from .choice import RANDOM
from .drawing.charts import Axis, Chart, Line, Point, draw, swatch
from .drawing.palette import style_of
from .findings import Findings
from .reliability import number
from .rendering import Caption, Sheet, caption_of
from .wording import ABSENT, duration, fixed, interval, missing, signed, title_of, whole

COMPARE = "compare"
Row = dict[str, Any]
Cells = dict[tuple[str, ...], str]


def lead_of(findings: Findings) -> str:
    """Say in a sentence or two what the runs differ by, on the first split and search."""
    rows = [row for row in findings.records(COMPARE, "differences") if row["measure"] == "bleu"]
    if not rows:
        return "No sentence can be compared; see the remarks."
    first = [row for row in rows if (row["split"], row["search"]) == _place(rows[0])]
    sentences = []
    for row in first:
        sure = row["low"] > 0 or row["high"] < 0
        what = f"{row['run']} scores {signed(row['difference'], 1)} BLEU against {row['baseline']}"
        bounds = f"[{signed(row['low'], 1)}, {signed(row['high'], 1)}]"
        verdict = "surely different" if sure else "these sentences do not tell them apart"
        if row["low"] == row["high"] == 0:
            verdict = "on no resample do they differ"
        sentences.append(f"{what} {bounds}: {verdict}.")
    n, place = whole(first[0]["sentences"]), f"‘{first[0]['split']}’, {first[0]['search']}"
    return f"On {n} common sentences ({place}): " + " ".join(sentences)


def _place(row: Row) -> tuple[str, str]:
    return row["split"], row["search"]


def _caption(
    findings: Findings, table: str, text: str, unit: str, measure: str = "", figure: str = ""
) -> Caption:
    return caption_of(findings, COMPARE, (table,), text, unit=unit, measure=measure, figure=figure)


def _differences(findings: Findings) -> Markup | None:
    rows = findings.records(COMPARE, "differences")
    printed = [
        [
            f"{row['run']} − {row['baseline']}",
            row["split"],
            "any" if row["measure"] == "nll" else row["search"],
            _measure(row),
            signed(row["difference"], _digits(row)),
            f"[{signed(row['low'], _digits(row))}, {signed(row['high'], _digits(row))}]",
            fixed(row["p"], 3),
            whole(row["sentences"]),
        ]
        for row in _once(rows)
    ]
    columns = ["Runs", "Split", "Search", "Measure", "Difference", "95 % interval", "p"]
    columns += ["Sentences"]
    words = frozenset({0, 1, 2, 3})
    sheet = Sheet("Differences, sentence by sentence", columns, printed, 1, words)
    text = (
        "The first run’s score less the second’s, on the sentences that both have translated and "
        "on the same resamples of them. An interval around zero: the sentences do not tell the "
        "runs apart. It says nothing of other trainings: only several seeds do. For BLEU and chrF "
        "more is better, for the NLL less."
    )
    block = Block(
        "differences", "", sheet, _caption(findings, "differences", text, "in the table", "bleu")
    )
    remarks = findings.results[COMPARE].remarks
    if not rows:
        empty = Caption("No pair of runs has a sentence in common.", (), ())
        block = Block("differences", "", None, empty)
    return blocks_of([block], lead=lead_of(findings), remarks=remarks)


def _measure(row: Row) -> str:
    """Name a measure; the NLL with its unit, which depends on the vocabularies."""
    name = title_of(row["measure"])
    return f"{name} ({row['unit']})" if row["measure"] == "nll" else name


def _once(rows: list[Row]) -> list[Row]:
    """Leave out what repeats: the NLL is the same for every search."""
    kept: dict[tuple[str, ...], Row] = {}
    for row in rows:
        search = "" if row["measure"] == "nll" else row["search"]
        kept.setdefault((row["run"], row["baseline"], row["split"], search, row["measure"]), row)
    return list(kept.values())


def _digits(row: Mapping[str, Any]) -> int:
    return 3 if row["measure"] == "nll" else 2


def _quality(findings: Findings) -> Markup | None:
    rows = findings.records(COMPARE, "quality")
    if not rows:
        return None

    def cell(row: Row) -> str:
        return (
            f"{fixed(row['value'], _digits(row))} {interval(row['low'], row['high'], _digits(row))}"
        )

    named: Cells = {
        (row["run"], row["split"], row["search"], f"{title_of(row['measure'])}"): cell(row)
        for row in rows
    }
    columns = ["Split", "Search", "Measure"]
    text = (
        "Each run as it measured itself, with the interval of that run alone; differences are "
        "judged above. A BLEU of another test text or an NLL of another vocabulary is another "
        "number: only equal texts are compared."
    )
    sheet = _side_by_side("Quality of each run", columns, named, _runs(findings))
    block = Block("quality", "", sheet, _caption(findings, "quality", text, "points; nats a token"))
    return blocks_of([block])


def _runs(findings: Findings) -> list[str]:
    return list(findings.results[COMPARE].settings["runs"])


def _side_by_side(caption: str, columns: list[str], cells: Cells, runs: list[str]) -> Sheet:
    """Return a table of one column a run.

    Args:
        columns: headings of the words that name a row.
        cells: what is printed, by run and by the words that name the row.
    """
    named = dict.fromkeys(key[1:] for key in cells)
    printed = [[*key, *(cells.get((run, *key), ABSENT) for run in runs)] for key in named]
    words = frozenset(range(len(columns)))
    return Sheet(caption, [*columns, *runs], printed, len(columns), words)


def _curves(findings: Findings) -> Markup | None:
    rows = findings.records(COMPARE, "curves")
    best = [row for row in rows if row["best"] or row["order"] == RANDOM]
    if not best:
        return None
    sizes = {
        row["run"]: max(r["heads_left"] for r in rows if r["run"] == row["run"]) for row in rows
    }
    by_share = len(set(sizes.values())) > 1
    lines, legend = [], []
    for place, run in enumerate(_runs(findings)):
        for is_random in (False, True):
            own = [r for r in best if r["run"] == run and (r["order"] == RANDOM) == is_random]
            if own:
                lines.append(_line(run, own, place, by_share, is_random))
                legend.append((swatch(lines[-1].style, lines[-1].marker), lines[-1].label))
    x = Axis("share of the heads left" if by_share else "heads left", (0,), end_ticks=not by_share)
    title = "BLEU against heads left, one line a run; the table has the numbers"
    chart = draw(Chart(title, x, Axis("BLEU", include=(0,)), lines), wide=(820, 360))
    text = (
        "For each run the order of removal that keeps most, and without markers the mean of its "
        "random orders. Each run was measured on its own test text."
    )
    cells: Cells = {
        (row["run"], f"{row['heads_left']}"): f"{fixed(row['bleu'], 1)} "
        f"{interval(row['bleu_low'], row['bleu_high'], 1)}"
        for row in sorted(best, key=lambda row: -row["heads_left"])
        if row["best"]
    }
    sheet = _side_by_side(
        "BLEU by heads left, each run’s best order", ["Heads left"], cells, _runs(findings)
    )
    caption = _caption(findings, "curves", text, "BLEU points", "bleu", "runs")
    block = Block("curves", "", sheet, caption, chart, tuple(legend), folded="The numbers")
    return blocks_of([block])


def _line(run: str, rows: list[Row], place: int, by_share: bool, is_random: bool) -> Line:
    style = style_of(place)
    order = "mean of random orders" if is_random else title_of(rows[0]["order"]).lower()
    points = [
        Point(
            row["share_left"] if by_share else row["heads_left"],
            row["bleu"],
            float("nan") if missing(row["bleu_low"]) else row["bleu_low"],
            float("nan") if missing(row["bleu_high"]) else row["bleu_high"],
            f"{run}, {order}, {row['heads_left']} heads left: BLEU {fixed(row['bleu'])}",
        )
        for row in sorted(rows, key=lambda row: row["heads_left"])
    ]
    return Line(f"{run}: {order}", points, place, "none" if is_random else style.marker)


def _heads(findings: Findings) -> Markup | None:
    rows = [row for row in findings.records(COMPARE, "agreement") if row["metric"] != RANDOM]
    if not rows:
        return None
    sites = [site for site in dict.fromkeys(row["site"] for row in rows) if site != ALL]
    found = {(row["run"], row["baseline"], row["metric"], row["site"]): row for row in rows}
    printed = []
    for run, baseline, metric in dict.fromkeys(key[:3] for key in found):
        over_all = found[run, baseline, metric, ALL]
        shared = f"{over_all['shared']} of {over_all['top']} ({fixed(over_all['expected'], 1)})"
        printed.append(
            [
                title_of(metric),
                run,
                baseline,
                number(over_all["spearman"]),
                number(over_all["chance"]),
            ]
            + [
                number(found[run, baseline, metric, site]["spearman"])
                if (run, baseline, metric, site) in found
                else ABSENT
                for site in sites
            ]
            + [shared]
        )
    columns = ["Metric", "Run", "Against", "ρ, all heads", "ρ, shuffled within sublayers"]
    columns += [f"ρ, {title_of(site).lower()}" for site in sites]
    columns += ["Shared top heads (by chance)"]
    words = frozenset({0, 1, 2})
    sheet = Sheet("Rank correlation of heads", columns, printed, 1, words)
    same = any(row["same_model"] for row in rows)
    text = (
        "Spearman’s ρ of the importance of heads with the same number: 1 is the same order, 0 no "
        "relation. Heads of two trainings share nothing but a number and their sublayer, so only "
        "what exceeds the shuffled column is about single heads. Top heads: the most important "
        "fifth of each run, and how many are the same."
        + (" Runs that hold the same weights are compared here as well." if same else "")
    )
    block = Block("agreement", "", sheet, _caption(findings, "agreement", text, "−1 to 1"))
    return blocks_of([block, _shared(findings, rows)])


def _shared(findings: Findings, rows: list[Row]) -> Block:
    """Return which heads are among the most important of both runs."""
    printed = [
        [title_of(row["metric"]), row["run"], row["baseline"], row["names"] or "none"]
        for row in rows
        if row["site"] == ALL
    ]
    columns = ["Metric", "Run", "Against", "Heads in the top fifth of both"]
    sheet = Sheet("Heads that two runs agree on", columns, printed, 1, frozenset(range(4)))
    text = "The heads that both runs count among their most important fifth, by number."
    caption = _caption(findings, "agreement", text, "heads")
    return Block("shared", "", sheet, caption, folded="Which heads are on top in both runs")


def _settings(findings: Findings) -> Markup | None:
    rows = findings.records(COMPARE, "settings")
    cells: Cells = {(row["run"], row["setting"]): row["value"] for row in rows}
    text = "Every setting that is not the same in all runs which have the analysis."
    caption = _caption(findings, "settings", text, "")
    if not cells:
        none = Caption("All settings are the same in all runs.", (), ())
        return blocks_of([Block("settings", "", None, none)])
    sheet = _side_by_side("Settings that differ", ["Setting"], cells, _runs(findings))
    return blocks_of([Block("settings", "", _words(sheet), caption)])


def _words(sheet: Sheet) -> Sheet:
    """Set every column flush left."""
    every = frozenset(range(len(sheet.columns)))
    return Sheet(sheet.caption, sheet.columns, sheet.rows, sheet.headings, every)


def _costs(findings: Findings) -> Markup | None:
    rows = findings.records(COMPARE, "costs")
    if not rows:
        return None
    rows.sort(key=lambda row: (row["unit"] != "seconds", row["unit"]))

    def cell(row: Row) -> str:
        if row["unit"] == "seconds":
            return duration(row["value"])
        return fixed(row["value"], 1) if row["value"] < 100 else whole(row["value"])

    cells: Cells = {
        (
            row["run"],
            row["what"].capitalize(),
            "" if row["unit"] == "seconds" else row["unit"],
        ): cell(row)
        for row in rows
    }
    sheet = _side_by_side("Costs", ["What", "Unit"], cells, _runs(findings))
    text = (
        "Wall-clock times as they were taken in each run; they compare only between runs on the "
        "same machine with nothing beside them."
    )
    return blocks_of([Block("costs", "", sheet, _caption(findings, "costs", text, "in the table"))])


def _about(findings: Findings) -> Markup | None:
    rows = findings.records(COMPARE, "runs")
    cells: Cells = {
        (row["run"], row["property"].replace("_", " ")): row["value"][:12]
        if row["property"] in ("weights", "commit")
        else row["value"]
        for row in rows
    }
    sheet = _side_by_side("The runs", ["What"], cells, _runs(findings))
    text = (
        "What each run is. Weights and commit are the first twelve digits. This comparison: "
        f"{findings.results[COMPARE].provenance.command}"
    )
    return blocks_of([Block("runs", "", _words(sheet), _caption(findings, "runs", text, ""))])


SECTIONS: tuple[tuple[str, str, Callable[[Findings], Markup | None]], ...] = (
    ("difference", "What is the difference?", _differences),
    ("curves", "BLEU by heads left", _curves),
    ("quality", "Quality", _quality),
    ("heads", "Which heads agree", _heads),
    ("settings", "Settings that differ", _settings),
    ("costs", "Costs", _costs),
    ("provenance", "Provenance", _about),
)
"""Name, title and function of every section, in order."""
