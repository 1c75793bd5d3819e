"""How much faster smaller models are, by search and batch."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..drawing.palette import style_of
from ..findings import Findings
from .family import figure
from .style import bars, new_figure

WHOLE_MODEL = "whole"


@figure("gain", "gain", "speed")
def draw_gain(findings: Findings) -> Figure:
    """Draw the speed-up by batch with its interval, one panel a search, one line a model."""
    rows = findings.rows("gain", "speed")
    searches = list(rows["search"].unique())
    rows = rows[rows["model"] != WHOLE_MODEL]
    y = "processor_speedup" if rows["processor_speedup"].notna().any() else "speedup"
    batches = sorted(int(batch) for batch in rows["batch"].unique())
    drawn = new_figure(4.0 * len(searches), 3.0)
    panels = drawn.subplots(1, len(searches), squeeze=False, sharey=True)[0]
    for axes, search in zip(panels, searches, strict=True):
        own = rows[rows["search"] == search].groupby(["model", "lengths"], sort=False)
        for place, ((model, lengths), line) in enumerate(own):
            bars(axes, style_of(place), line, "batch", y, label=f"{model}, {lengths} lengths")
        axes.axhline(1, color="black", lw=0.8, ls=":")
        axes.set_xscale("log", base=2)
        axes.set_xticks(batches, [f"{batch}" for batch in batches])
        axes.set(title=search, xlabel="Sentences a batch")
        axes.legend(fontsize=7)
    panels[0].set(ylabel="Times as fast as the whole model")
    return drawn
