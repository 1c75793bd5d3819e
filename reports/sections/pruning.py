"""The smaller models that were made of this run's model: what each reached, and at what price."""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from ..drawing.charts import Axis, Chart, Line, Point, draw, swatch
from ..drawing.palette import style_of
from ..findings import Findings, records
from ..numbers import numbers_of
from ..rendering import Caption, Sheet, caption_of, render
from ..wording import (
    ABSENT,
    fixed,
    interval,
    missing,
    scaled,
    signed,
    significant,
    title_of,
    trained_on,
    whole,
)
from . import section

Row = dict[str, Any]
MEGABYTE, MEBIBYTE = 1e6, 2.0**20


@section("pruning", title="Smaller models", place=28, needs=())
def pruning(findings: Findings) -> Markup | None:
    """Every smaller model of the run, with its loss, its size and the proof of its cut."""
    names = findings.names_of("smaller", "outcome")
    if not names:
        return None
    # Other models first name the analysis; many heads come before few.
    names.sort(key=lambda name: (-findings.rows(name, "outcome")["heads"].iloc[1], name))
    return render("pruning.html", {"models": [_model(findings, name) for name in names]})


def _model(findings: Findings, name: str) -> dict[str, Any]:
    """Return what the template shows of one smaller model."""
    outcome = findings.records(name, "outcome")
    said = {row["property"]: row["value"] for row in findings.records(name, "answer")}
    result = findings.results[name]
    way = title_of(str(result.settings.get("way", name)))
    finish = result.settings.get("finish", {})
    return {
        "name": name,
        "title": f"{outcome[1]['heads']} of {outcome[0]['heads']} heads by {way}",
        "lead": _lead(outcome),
        "facts": [(key, value) for key, value in said.items() if value],
        "sheet": _sheet(findings, name, outcome),
        "caption": caption_of(
            findings,
            name,
            ("outcome", "cost", "tried", "kept", "proof"),
            _explained(finish),
            unit="as in the table",
            measure="bleu",
            figure="smaller",
        ),
        "tried": _tried(findings, name),
        "proof": _proof(findings, name),
        "gates": _gates(findings, name),
        "remarks": result.remarks,
    }


def _lead(outcome: list[Row]) -> str:
    """Say what the smaller model loses, and what the same shape from scratch does."""
    smaller = outcome[1]
    said = (
        f"On test text its BLEU is {fixed(smaller['bleu'], 1)} "
        f"{interval(smaller['bleu_low'], smaller['bleu_high'], 1)}: "
        f"{signed(smaller['bleu_difference'])} "
        f"{interval(smaller['difference_low'], smaller['difference_high'])} against the whole "
        "model"
    )
    for row in outcome[2:]:
        said += f"; {row['model']} the same shape has {fixed(row['bleu'], 1)} "
        said += interval(row["bleu_low"], row["bleu_high"], 1)
    return said + "."


def _explained(finish: Row) -> str:
    """Say what was done after the cut."""
    trained = trained_on(finish)
    after = "then trained on" if trained else "nothing was trained again"
    if trained and finish.get("distil"):
        after += ", half of the loss being what the whole model would say"
    return (
        f"Heads were chosen on validation text and cut out of the weights; {after}. Changes of "
        "BLEU are paired with the whole model’s on the same sentences."
    )


def _sheet(findings: Findings, name: str, outcome: list[Row]) -> Sheet:
    """Return whole and smaller model side by side: quality, size, multiplications."""
    costs = {row["model"]: row for row in findings.records(name, "cost")}
    printed = [_printed(row, costs.get(row["model"], {})) for row in outcome]
    columns = ["Model", "Heads (enc., dec., cross)", "BLEU", "Change of BLEU", "chrF", "NLL"]
    columns += ["Parameters", "Attention", "All products", "On disk (MB)", "Peak memory (MiB)"]
    return Sheet("The smaller model beside the whole one", columns, printed)


def _printed(row: Row, cost: Row) -> list[str]:
    sites = ", ".join(f"{row[f'{site}_heads']}" for site in ("encoder", "decoder", "cross"))
    return [
        str(row["model"]).capitalize(),
        f"{row['heads']} ({sites})",
        f"{fixed(row['bleu'])} {interval(row['bleu_low'], row['bleu_high'])}",
        f"{signed(row['bleu_difference'])} "
        f"{interval(row['difference_low'], row['difference_high'])}",
        fixed(row["chrf"], 1),
        fixed(row["nll"], 3),
        whole(row["parameters"]),
        _percent(cost.get("attention_left")),
        _percent(cost.get("forward_left")),
        scaled(cost.get("disk", cost.get("weights")), MEGABYTE),
        scaled(cost.get("peak"), MEBIBYTE),
    ]


def _percent(share: Any) -> str:
    return ABSENT if missing(share) else f"{fixed(100 * share, 0)} %"


def _tried(findings: Findings, name: str) -> tuple[Sheet, Caption] | None:
    """Return the models on the way, where there was more than one."""
    rows = findings.records(name, "tried")
    if len(rows) < 2:
        return None
    printed = [
        [
            f"{row['heads_left']}",
            fixed(row["bleu"]),
            f"{signed(row['bleu_difference'])} "
            f"{interval(row['difference_low'], row['difference_high'])}",
            "yes" if row["accepted"] else "no",
        ]
        for row in rows
    ]
    columns = ["Heads left", "BLEU", "Change of BLEU", "Within the loss"]
    text = "Every model that was made on the way, on validation text."
    caption = caption_of(findings, name, ("tried",), text, unit="BLEU points", measure="bleu")
    return Sheet("Models on the way", columns, printed, words=frozenset({3})), caption


def _proof(findings: Findings, name: str) -> str:
    """Say how far the cut model was from the one with closed gates."""
    rows = findings.records(name, "proof")
    if not rows:
        return ""
    row = rows[0]
    return (
        f"The proof of the cut: on {row['sentences']} sentences the largest difference of a logit "
        f"between closed gates and cut heads is "
        f"{significant(row['largest_logit_difference'], 2)} (the largest logit is "
        f"{significant(row['largest_logit'])}), and {row['translations_equal']} of "
        f"{row['sentences']} beam outputs are equal."
    )


def _gates(findings: Findings, name: str) -> dict[str, Any] | None:
    """Draw how many heads were open while a training chose."""
    if findings.table(name, "gates") is None:
        return None
    rows = findings.rows(name, "gates")
    caption = caption_of(
        findings,
        name,
        ("gates", "trajectory"),
        "How many heads were open while the training chose (the sum of their strengths), and "
        "how many were undecided, with a strength between 0.05 and 0.95.",
        unit="heads",
        figure="gates",
    )
    total = findings.rows(name, "kept").shape[0]
    lines = [_line(rows, "open", "open", 0, 1.0), _line(rows, "undecided", "undecided", 1, total)]
    entries = [(swatch(it.style, it.marker), it.label.capitalize()) for it in lines]
    chart = Chart(
        title="Heads that were open and undecided by updates of the training that chose",
        x=Axis("updates"),
        y=Axis("heads", include=(0,)),
        lines=lines,
    )
    drawn = draw(chart, wide=(560, 280), narrow=260) + numbers_of(chart)
    return {"chart": drawn, "caption": caption, "entries": entries}


def _line(rows: pd.DataFrame, column: str, label: str, style: int, scale: float) -> Line:
    points = [
        Point(
            row["update"],
            scale * row[column],
            title=f"{row['update']} updates: {fixed(scale * row[column], 1)} heads {label}",
        )
        for row in records(rows)
    ]
    return Line(label, points, style, style_of(style).marker)
