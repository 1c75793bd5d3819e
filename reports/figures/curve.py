"""BLEU against heads left."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..drawing.palette import RANDOM_LINE, style_of
from ..findings import Findings
from ..orders import order_styles
from ..wording import title_of
from .family import figure
from .style import bars, new_figure


@figure("curve", "prune", "curve")
def draw_curve(findings: Findings) -> Figure:
    """Draw BLEU against heads left for every order, with intervals and the random band."""
    rows = findings.rows("prune", "curve")
    drawn = new_figure(5.2, 3.4)
    axes = drawn.subplots()
    if findings.table("prune", "band") is not None:
        band = findings.rows("prune", "band").sort_values("heads_left")
        at = band["heads_left"].to_numpy(float)
        axes.fill_between(at, band["low"], band["high"], color=RANDOM_LINE.light, alpha=0.25, lw=0)
        axes.plot(at, band["mean"], color=RANDOM_LINE.light, ls=":", label="Random (mean, range)")
    for order, index in order_styles(rows).items():
        mine = rows[(rows["order"] == order) & (rows["draw"] == 0)]
        bars(axes, style_of(index), mine, "heads_left", "bleu", label=title_of(order))
    axes.set(xlabel="Heads left", ylabel="BLEU")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right")
    return drawn
