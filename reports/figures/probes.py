"""Accuracy by layer of every task, beside random weights, the control and what needs no state."""

from __future__ import annotations

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..drawing.palette import RANDOM_LINE, style_of
from ..findings import Findings
from ..wording import missing
from .family import figure
from .style import bars, dashes, new_figure

ACROSS = 4
FAMILIES = ("syntax", "semantics")


@figure("probes", "layers", "probes")
def draw_probes(findings: Findings) -> Figure:
    """Draw one small panel a side and task of the two families that the verdict compares."""
    probes = findings.rows("layers", "probes")
    probes = probes[(probes["model"] == 0) & (probes["unit"] == probes["layer"].astype(str))]
    bases = findings.records("layers", "baselines")
    bases = [base for base in bases if base["family"] in FAMILIES]
    down = max(1, math.ceil(len(bases) / ACROSS))
    drawn = new_figure(2.3 * ACROSS, 0.4 + 1.7 * down)
    panels = drawn.subplots(down, ACROSS, squeeze=False).ravel()
    for axes, base in zip(panels, bases, strict=False):
        here = (probes["side"] == base["side"]) & (probes["task"] == base["task"])
        _panel(axes, probes[here], base)
    for axes in panels[len(bases) :]:
        axes.set_axis_off()
    if bases:
        panels[0].legend(fontsize=5)
    return drawn


def _panel(axes: Axes, rows: pd.DataFrame, base: dict[str, object]) -> None:
    """Draw one task of one side, in percent."""
    trained = rows[rows["network"] == "trained"]
    style = style_of(FAMILIES.index(str(base["family"])))
    bars(axes, style, trained, "layer", "accuracy", label="trained", scale=100)
    for name, own in rows[rows["network"] == "random"].groupby("network"):
        at = own.groupby("layer")["accuracy"].mean().astype(float)
        axes.plot(at.index, 100 * at, color=RANDOM_LINE.light, ls=":", label=f"{name} weights")
    if trained["control"].notna().any():
        line, control = style_of(2), trained.sort_values("layer")
        values = 100 * control["control"].to_numpy(float)
        layers = control["layer"].to_numpy(float)
        axes.plot(layers, values, color=line.light, ls=dashes(line.dash), lw=1, label="control")
    for name, dash in (("majority", (0, (1, 2))), ("by_type", (0, (4, 2)))):
        if not missing(base[name]):
            label = {"by_type": "word type"}.get(name, name)
            axes.axhline(100 * float(str(base[name])), color="black", lw=0.7, ls=dash, label=label)
    axes.set_title(f"{base['side']}: {str(base['task']).replace('_', ' ')}", fontsize=7)
    axes.set_xticks(sorted(trained["layer"].unique()))
    axes.tick_params(labelsize=6)
    axes.set_ylabel("Right, %", fontsize=6)
