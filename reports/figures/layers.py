"""What each layer adds, task by task, syntax and semantics apart."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..drawing.palette import style_of
from ..findings import Findings
from .family import figure
from .style import MARKERS, dashes, new_figure

_FAMILIES = ("syntax", "semantics", "morphology", "sentence", "translation")
_SHAPES = ("circle", "square", "triangle", "diamond", "cross", "plus")


@figure("layers", "layers", "gains")
def draw_layers(findings: Findings) -> Figure:
    """Draw the gain of every task by layer, one panel a side; the colour tells the family."""
    rows, centres = findings.rows("layers", "gains"), findings.rows("layers", "centres")
    centres = centres[centres["centre"].notna()]
    # A task to which no layer adds anything has no centre, and shares of nothing.
    known = set(zip(centres["side"], centres["task"], strict=True))
    rows = rows[[pair in known for pair in zip(rows["side"], rows["task"], strict=True)]]
    sides = list(rows["side"].unique())
    drawn = new_figure(4.6 * max(1, len(sides)), 3.6)
    if not sides:
        drawn.text(0.5, 0.5, "No layer adds anything to layer 0", ha="center")
        return drawn
    for axes, side in zip(drawn.subplots(1, len(sides), squeeze=False)[0], sides, strict=True):
        here = rows[rows["side"] == side]
        counts = dict.fromkeys(here["family"].unique(), 0)
        for task, mine in here.groupby("task", sort=False):
            family = mine["family"].iloc[0]
            place = _FAMILIES.index(family) if family in _FAMILIES else len(_FAMILIES)
            shape = _SHAPES[counts[family] % len(_SHAPES)]
            counts[family] += 1
            axes.plot(
                mine["layer"].to_numpy(float),
                100 * mine["gain"].to_numpy(float),
                color=style_of(place).light,
                linestyle=dashes(style_of(place).dash),
                marker=MARKERS[shape],
                markersize=4,
                label=f"{str(task).replace('_', ' ')} ({family})",
            )
        axes.set(title=side, xlabel="Layer", ylabel="Added, % of the most")
        axes.set_xticks(sorted(here["layer"].unique()))
        axes.legend(fontsize=5.5, ncols=2)
    return drawn
