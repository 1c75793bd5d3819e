"""BLEU against heads left for several runs that are compared."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..choice import RANDOM
from ..drawing.palette import style_of
from ..findings import Findings
from ..wording import title_of
from .family import figure
from .style import bars, dashes, new_figure


@figure("runs", "compare", "curves")
def draw_runs(findings: Findings) -> Figure:
    """Draw, for each run, its best order with intervals and the mean of its random ones."""
    rows = findings.rows("compare", "curves")
    same = rows.groupby("run")["heads_left"].max().nunique() == 1
    x = "heads_left" if same else "share_left"
    drawn = new_figure(5.2, 3.4)
    axes = drawn.subplots()
    for place, run in enumerate(findings.results["compare"].settings["runs"]):
        style, own = style_of(place), rows[rows["run"] == run]
        best, chance = own[own["best"]], own[own["order"] == RANDOM].sort_values(x)
        if len(best):
            order = title_of(best["order"].iloc[0]).lower()
            bars(axes, style, best, x, "bleu", label=f"{run}: {order}")
        axes.plot(
            chance[x].to_numpy(float),
            chance["bleu"].to_numpy(float),
            color=style.light,
            linestyle=dashes(style.dash),
            alpha=0.5,
            label=f"{run}: mean of random orders" if len(chance) else None,
        )
    axes.set(xlabel="Heads left" if same else "Share of the heads left", ylabel="BLEU")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right", fontsize=7)
    return drawn
