"""NLL as heads go in the order of each metric: which metric to believe."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..drawing.palette import RANDOM_LINE, style_of
from ..findings import Findings
from ..unproven import unproven
from ..wording import title_of
from .family import figure
from .style import MARKERS, dashes, new_figure


@figure("areas", "reliability", "curves")
def draw_areas(findings: Findings) -> Figure:
    """Draw NLL against heads left for every proven metric, with the range of random orders."""
    rows = findings.rows("reliability", "curves")
    rows = rows[~rows["order"].isin(unproven(findings))]
    drawn = new_figure(5.2, 3.4)
    axes = drawn.subplots()
    chance = rows[rows["order"] == "random"].groupby("heads_left")["nll"].agg(["min", "max"])
    if len(chance):
        at = chance.index.to_numpy(float)
        low, high = chance["min"].astype(float), chance["max"].astype(float)
        colour = RANDOM_LINE.light
        axes.fill_between(at, low, high, color=colour, alpha=0.25, lw=0, label="Random (range)")
    names = [name for name in rows["order"].unique() if name != "random"]
    for place, name in enumerate(names):
        style = style_of(place)
        mine = rows[rows["order"] == name].sort_values("heads_left")
        axes.plot(
            mine["heads_left"].to_numpy(float),
            mine["nll"].to_numpy(float),
            color=style.light,
            linestyle=dashes(style.dash),
            marker=MARKERS[style.marker],
            markersize=4,
            label=title_of(name),
        )
    axes.set(xlabel="Heads left", ylabel="NLL, nats a token")
    axes.legend(loc="upper right", fontsize=7)
    return drawn
