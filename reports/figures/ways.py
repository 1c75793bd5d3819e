"""BLEU against heads left, by the way heads were chosen."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..drawing.palette import RANDOM_LINE, style_of
from ..findings import Findings
from ..wording import title_of
from .family import figure
from .style import bars, new_figure


@figure("ways", "ways", "summary")
def draw_ways(findings: Findings) -> Figure:
    """Draw mean BLEU of every way with its interval, one panel a place of pruning."""
    rows = findings.rows("ways", "summary")
    places = list(rows["where"].unique())
    names = [name for name in rows["order"].unique() if name != "random"]
    drawn = new_figure(4.6 * len(places), 3.4)
    for axes, where in zip(drawn.subplots(1, len(places), squeeze=False)[0], places, strict=True):
        for name in (*names, "random"):
            style = RANDOM_LINE if name == "random" else style_of(names.index(name))
            mine = rows[(rows["where"] == where) & (rows["order"] == name)]
            if not mine.empty:
                bars(axes, style, mine, "heads_left", "bleu", label=title_of(name))
        axes.set(xlabel="Heads left", ylabel="BLEU")
        if where != "all":
            axes.set_title(title_of(where))
        axes.set_ylim(bottom=0)
        axes.legend(loc="lower right", fontsize=7)
    return drawn
