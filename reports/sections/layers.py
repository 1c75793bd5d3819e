"""What each layer knows of syntax and semantics, beside everything that explains it away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from ..drawing.charts import Axis, Chart, Line, Point, Rule, draw, swatch
from ..findings import Findings
from ..layer_sheets import (
    SIDES,
    heads_sheet,
    lost_sheet,
    mixes_sheet,
    name_of,
    nonlinear_sheet,
    numbers_sheet,
    of_side,
    percent,
    structure_sheet,
)
from ..numbers import numbers_of
from ..rendering import Caption, Sheet, caption_of, render
from ..wording import fixed, interval, missing, signed, significant
from . import section

Row = dict[str, Any]
STYLES = {"syntax": 0, "semantics": 1}
"""Colour and dash of a family; the marker tells the task."""
NEAR = 15  # points beyond the curves at which what needs no state is still drawn
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "plus")
ANSWERS = {
    "syntax lower": "syntax lies lower than semantics",
    "semantics lower": "semantics lies lower than syntax",
    "equivalent": "syntax and semantics lie within half a layer of each other",
    "undecided": "whether syntax lies lower than semantics is undecided",
}


@section("layers", title="What layers know", place=37, needs=("layers",))
def layers(findings: Findings) -> Markup | None:
    """Probe curves of every task with all baselines, and the verdict on their order."""
    if findings.table("layers", "probes") is None:
        return None
    sides = list(dict.fromkeys(row["side"] for row in findings.records("layers", "probes")))
    return render(
        "layers.html",
        {
            "verdicts": [_verdict(row) for row in findings.records("layers", "verdict")],
            "sides": [
                {
                    "name": side,
                    "title": SIDES[side],
                    "gains": _gains(findings, side),
                    "centres": _centres(findings, side),
                    "accuracies": _accuracies(findings, side),
                    "curves": _curves(findings, side),
                }
                for side in sides
            ],
            "curves_caption": _curves_caption(findings),
            "others": [
                (name, title, it)
                for name, title, it in (
                    ("mixes", "Mixes of layers", mixes_sheet(findings)),
                    ("structure", "Trees in the geometry of layers", structure_sheet(findings)),
                    ("numbers", "Numbers that layers tell", numbers_sheet(findings)),
                    ("nonlinear", "Probes with a hidden layer", nonlinear_sheet(findings)),
                    ("heads", "What single heads tell", heads_sheet(findings)),
                    ("lost", "What went with the heads", lost_sheet(findings)),
                )
                if it is not None
            ],
            "remarks": findings.results["layers"].remarks,
        },
    )


def _verdict(row: Row) -> str:
    """Say the answer in one sentence, with what it was found under."""
    models = f"{row['models']} model{'s' if row['models'] > 1 else ''}"
    said = f"{SIDES[row['side']]}: {ANSWERS[row['answer']]} ({models}): {row['reason']}."
    if missing(row["difference"]):
        return said
    bounds = interval(row["low"], row["high"])
    return (
        f"{said} The centres of semantic tasks lie {signed(row['difference'])} layers {bounds} "
        f"from those of syntactic ones, p = {significant(row['p'], 2)} over all namings of the "
        f"families (at best {significant(row['smallest_p'], 2)}); a difference of "
        f"{fixed(row['detectable'])} layers could have been shown."
    )


def _gains(findings: Findings, side: str) -> dict[str, Any] | None:
    """Draw what each layer adds, task by task, the families apart by colour and dash."""
    centred = {
        row["task"] for row in of_side(findings, "centres", side) if not missing(row["centre"])
    }
    by_task: dict[str, list[Row]] = {}
    for row in of_side(findings, "gains", side):
        if row["task"] in centred:  # the shares of the others are shares of nothing
            by_task.setdefault(row["task"], []).append(row)
    if not by_task:
        return None
    counts = dict.fromkeys(STYLES, 0)
    lines = []
    for task, own in by_task.items():
        family = own[0]["family"]
        shape = SHAPES[counts[family] % len(SHAPES)]
        counts[family] += 1
        points = [_point(row, "gain", f"{name_of(task)} ({family})") for row in own]
        lines.append(Line(name_of(task), points, STYLES[family], shape))
    chart = Chart(
        title=f"{SIDES[side]}: what each layer adds to layer 0; the table below has the numbers",
        x=Axis("layer", whole=True),
        y=Axis("added, % of the most", include=(0, 100)),
        lines=lines,
    )
    families = {task: own[0]["family"] for task, own in by_task.items()}
    text = (
        "Accuracy above layer 0, less what layers of a network with random weights add, as a share "
        "of the most that any layer adds. Syntax is drawn solid, semantics dashed; the marker "
        "tells the task. Tasks to which layers add nothing are left out. A curve that rises early "
        "belongs to what low layers know."
    )
    return {
        "legend": [
            (swatch(it.style, it.marker), f"{it.label} ({families[task]})")
            for task, it in zip(by_task, lines, strict=True)
        ],
        "chart": draw(chart) + numbers_of(chart, 1),
        "caption": caption_of(
            findings,
            "layers",
            ("gains", "verdict"),
            text,
            unit="percent of the largest gain",
            figure="layers",
        ),
    }


def _point(row: Row, value: str, name: str, scale: float = 100) -> Point:
    low, high = (float("nan") if missing(row[it]) else scale * row[it] for it in ("low", "high"))
    title = f"{name}, layer {row['layer']}: {fixed(scale * row[value], 1)}"
    return Point(row["layer"], scale * row[value], low, high, title)


def _centres(findings: Findings, side: str) -> tuple[Sheet, Caption] | None:
    """Return the centre of every task, with its interval."""
    rows = of_side(findings, "centres", side)
    if not rows:
        return None
    printed = [
        [
            name_of(row["task"]),
            row["family"],
            f"{fixed(row['centre'])} {interval(row['low'], row['high'])}"
            if not missing(row["centre"])
            else "none: no layer surely adds anything beyond random weights",
        ]
        for row in sorted(rows, key=lambda row: (row["family"] != "syntax", row["task"]))
    ]
    columns = ["Task", "Family", "Centre of what layers add"]
    sheet = Sheet(f"{SIDES[side]}: centres", columns, printed, 1, frozenset({0, 1}))
    text = "The mean layer, weighed by what each adds. The verdict compares the families’ means."
    return sheet, caption_of(findings, "layers", ("centres",), text, unit="layers")


def _accuracies(findings: Findings, side: str) -> tuple[Sheet, Caption]:
    """Return accuracy by task and layer, with everything that needs no layer or no learning."""
    probes = [row for row in of_side(findings, "probes", side) if row["model"] == 0]
    units = list(dict.fromkeys(row["unit"] for row in probes))
    together = of_side(findings, "seeds", side)
    printed = []
    for base in of_side(findings, "baselines", side):
        own = [row for row in probes if row["task"] == base["task"]]
        first = {row["unit"]: row for row in own if row["network"] == "trained"}
        trained = {
            row["unit"]: (row["accuracy"], row["accuracy_low"], row["accuracy_high"])
            for row in first.values()
        } | {
            row["unit"]: (row["accuracy"], row["low"], row["high"])
            for row in together
            if row["task"] == base["task"]
        }
        random = [row["accuracy"] for row in own if row["network"] == "random"]
        best = max(trained, key=lambda unit: trained[unit][0])
        printed.append(
            [
                name_of(base["task"]),
                base["family"],
                *[percent(trained[unit][0]) for unit in units],
                interval(100 * trained[best][1], 100 * trained[best][2], 1),
                percent(max(random, default=None)),
                percent(first[best]["control"]),
                percent(base["by_type"]),
                percent(base["majority"]),
            ]
        )
    columns = ["Task", "Family", *units, "Interval of the best", "Random weights, best"]
    columns += ["Control", "Word type", "Majority"]
    sheet = Sheet(
        f"{SIDES[side]}: right answers by layer, %", columns, printed, 1, frozenset({0, 1})
    )
    text = (
        "Linear probes. Control: random labels of word types, in the best layer; what is reached "
        "there was learnt by heart. Word type and majority look at no state. Layer 0 is what "
        "enters the first layer, “norm” what leaves the final norm. "
    )
    if together:
        models = together[0]["models"]
        text += f"Mean of {models} models, its interval over models and sentences; control of one."
    else:
        text += "One model."
    tables = ("seeds", "probes", "baselines") if together else ("probes", "baselines")
    return sheet, caption_of(findings, "layers", tables, text, unit="percent of test examples")


def _curves(findings: Findings, side: str) -> list[tuple[str, Markup]]:
    """Draw a small chart for each task that takes part in the verdict."""
    probes = [
        row
        for row in of_side(findings, "probes", side)
        if row["model"] == 0 and row["unit"].isdecimal()
    ]
    drawn = []
    for base in of_side(findings, "baselines", side):
        family = base["family"]
        if family not in STYLES:
            continue
        own = [row for row in probes if row["task"] == base["task"]]
        trained = [row for row in own if row["network"] == "trained"]
        random = [row for row in own if row["network"] == "random"]
        name = name_of(base["task"])
        lines = [
            Line(name, [_accuracy(row, name) for row in trained], STYLES[family], "circle"),
            Line(
                "random weights",
                [_accuracy(row, "random weights", bars=False) for row in random],
                "random",
                "none",
            ),
        ]
        controls = [
            Point(row["layer"], 100 * row["control"])
            for row in trained
            if not missing(row["control"])
        ]
        if controls:
            lines.append(Line("control task", controls, 2, "triangle"))
        marks = _marks(base, lines)
        chart = Chart(
            title=f"{SIDES[side]}, {name}: accuracy by layer with its baselines",
            x=Axis("layer", whole=True),
            y=Axis("right answers, %", include=tuple(rule.at for rule in marks)),
            lines=lines,
            marks=marks,
        )
        floors = f"majority {percent(base['majority'])} %"
        if not missing(base["by_type"]):
            floors += f", word type {percent(base['by_type'])} %"
        pictures = draw(chart, (760, 250), 240) + numbers_of(chart, 1)
        drawn.append((f"{name} ({family}; {floors})", pictures))
    return drawn


def _marks(base: Row, lines: Sequence[Line]) -> list[Rule]:
    """Return what needs no state as rules, if they are not so far off that they flatten curves."""
    values = [point.y for line in lines for point in line.points]
    rules = [Rule(100 * base["majority"], "majority")]
    if not missing(base["by_type"]):
        rules.append(Rule(100 * base["by_type"], "word type"))
    return [it for it in rules if min(values) - NEAR <= it.at <= max(values) + NEAR]


def _accuracy(row: Row, name: str, *, bars: bool = True) -> Point:
    bounds = (100 * row["accuracy_low"], 100 * row["accuracy_high"])
    low, high = bounds if bars else (float("nan"), float("nan"))
    title = f"{name}, layer {row['layer']}: {fixed(100 * row['accuracy'], 1)} %"
    return Point(row["layer"], 100 * row["accuracy"], low, high, title)


def _curves_caption(findings: Findings) -> Caption:
    text = (
        "Accuracy by layer with its interval; in grey the network with random weights, with "
        "triangles the control task, across what needs no state. A probe shows what can be read, "
        "not what is used."
    )
    return caption_of(
        findings,
        "layers",
        ("probes",),
        text,
        unit="percent of test examples",
        figure="probes",
    )
