"""BLEU and chrF of the whole model by split and search."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..drawing.palette import style_of
from ..findings import Findings
from ..wording import title_of
from .family import figure
from .style import dots, new_figure

POINTS = ("bleu", "chrf")  # the likelihood has another scale


@figure("quality", "evaluate", "quality")
def draw_quality(findings: Findings) -> Figure:
    """Draw the scores of every split and search with their intervals, one panel a measure."""
    rows = findings.rows("evaluate", "quality")
    rows = rows[rows["measure"].isin(POINTS)]
    measures = list(rows["measure"].unique())
    most = max((len(rows[rows["measure"] == name]) for name in measures), default=1)
    drawn = new_figure(3.6 * max(1, len(measures)), 0.9 + 0.28 * most)
    panels = drawn.subplots(1, max(1, len(measures)), squeeze=False)[0]
    for place, (axes, measure) in enumerate(zip(panels, measures, strict=False)):
        own = rows[rows["measure"] == measure].iloc[::-1]
        pairs = zip(own["split"], own["search"], strict=True)
        names = [f"{split}, {search}" for split, search in pairs]
        dots(axes, style_of(place), own, names, ("value", "low", "high"))
        axes.set(xlabel=f"{title_of(measure)} points")
    return drawn
