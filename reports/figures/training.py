"""Loss and validation BLEU by training step."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ..drawing.palette import style_of
from ..findings import Findings, records
from .family import figure
from .style import MARKERS, dashes, new_figure


@figure("training", "train", "curve")
def draw_training(findings: Findings) -> Figure:
    """Draw loss and validation BLEU by training step."""
    rows = findings.rows("train", "curve").sort_values("step")
    drawn = new_figure(7.2, 2.8)
    left, right = drawn.subplots(1, 2)
    for style, (name, label) in enumerate(
        (("train_loss", "training loss"), ("valid_nll", "validation NLL"))
    ):
        _steps(left, rows, name, style, label)
    left.set(xlabel="Step", ylabel="Nats a token")
    left.legend()
    _steps(right, rows, "valid_bleu", 2, "validation BLEU")
    right.set(xlabel="Step", ylabel="Validation BLEU")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
    return drawn


def _steps(axes: Any, rows: pd.DataFrame, name: str, index: int, label: str) -> None:
    """Draw one measured column by step; steps at which it was not measured are left out."""
    style = style_of(index)
    measured = records(rows[rows[name].notna()])
    axes.plot(
        [row["step"] for row in measured],
        [row[name] for row in measured],
        color=style.light,
        linestyle=dashes(style.dash),
        marker=MARKERS[style.marker] if len(measured) <= 40 else "",
        markersize=3.5,
        label=label,
    )
