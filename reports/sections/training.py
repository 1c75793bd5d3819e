"""How the model was trained: loss and quality by step."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..drawing.charts import Axis, Chart, Line, Point, draw, swatch
from ..drawing.palette import style_of
from ..findings import Findings, records
from ..rendering import Sheet, caption_of, render
from ..wording import duration, fixed, missing, whole
from . import section

_LOSSES = (("train_loss", "training NLL"), ("valid_nll", "validation NLL"))


@section("training", title="Training", place=70, needs=("train",))
def training(findings: Findings) -> Markup | None:
    """How loss and quality went while the model was trained."""
    if findings.table("train", "curve") is None:
        return None
    rows = findings.rows("train", "curve").sort_values("step")
    steps = records(rows)
    last = steps[-1]
    losses = [_line(steps, name, label, style) for style, (name, label) in enumerate(_LOSSES)]
    bleu = _line(steps, "valid_bleu", "validation BLEU", 2)
    some = findings.results["train"].settings.get("training", {}).get("validation_sentences")
    text = (
        "Left: the negative log-likelihood of training labels, under dropout and without the label "
        "smoothing that is minimised with it, and of the validation split. Right: BLEU of greedy "
        f"translations of {f'the first {whole(some)}' if some else 'some'} validation sentences."
    )
    return render(
        "training.html",
        {
            "charts": [
                _chart("Loss by training step", "nats a token", losses),
                _chart("Validation BLEU by training step", "BLEU", [bleu]),
            ],
            "legend_entries": [
                (swatch(line.style, line.marker), line.label)
                for line in (*losses, bleu)
                if line.points
            ],
            "sheet": _sheet(steps),
            "facts": [
                ("Steps", whole(last["step"])),
                ("Time", duration(last["seconds"])),
                ("Speed", f"{whole(rows['tokens_per_second'].median())} tokens a second (median)"),
                ("Last validation NLL", f"{fixed(_last(steps, 'valid_nll'), 3)} nats a token"),
                ("Last validation BLEU", fixed(_last(steps, "valid_bleu"))),
            ],
            "caption": caption_of(
                findings,
                "train",
                ("curve",),
                text,
                unit="nats a token; BLEU points",
                measure="bleu",
                figure="training",
            ),
        },
    )


def _sheet(steps: list[dict[str, Any]]) -> Sheet:
    """Return the steps at which the validation text was read."""
    columns = ["Step", "Training NLL", "Validation NLL (nats a token)", "Validation BLEU"]
    printed = [
        [
            whole(row["step"]),
            fixed(row["train_loss"], 3),
            fixed(row["valid_nll"], 3),
            fixed(row["valid_bleu"], 1),
        ]
        for row in steps
        if not (missing(row["valid_nll"]) and missing(row["valid_bleu"]))
    ]
    return Sheet("Training by validation step", columns, printed, 1, frozenset())


def _line(steps: list[dict[str, Any]], name: str, label: str, style: int) -> Line:
    points = [
        Point(
            row["step"], row[name], title=f"step {whole(row['step'])}: {label} {fixed(row[name])}"
        )
        for row in steps
        if not missing(row[name])
    ]
    return Line(label, points, style, style_of(style).marker)


def _last(steps: list[dict[str, Any]], name: str) -> float | None:
    """Return the last value that was measured."""
    measured = [row[name] for row in steps if not missing(row[name])]
    return measured[-1] if measured else None


def _chart(title: str, unit: str, lines: list[Line]) -> Markup:
    chart = Chart(title, Axis("step", include=(0,)), Axis(unit, include=(0,)), lines)
    return draw(chart, wide=(440, 280), narrow=260)
