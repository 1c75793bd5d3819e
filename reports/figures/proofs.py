"""How far the logits of cut models are from those of models with closed gates."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from ..drawing.palette import RANDOM_LINE, style_of
from ..findings import Findings
from ..wording import title_of
from .family import figure
from .style import MARKERS, new_figure

LEAST = 1e-8  # the axis is linear below


@figure("proofs", "prune", "proof")
def draw_proofs(findings: Findings) -> Figure:
    """Draw the largest difference of a logit of every cut, beside the largest logit itself."""
    rows = findings.rows("prune", "proof")
    drawn = new_figure(5.2, 3.0)
    axes = drawn.subplots()
    for place, (order, own) in enumerate(rows.groupby("order", sort=False)):
        style = style_of(place)
        axes.plot(
            own["heads_left"].to_numpy(float),
            own["largest_logit_difference"].to_numpy(float),
            color=style.light,
            marker=MARKERS[style.marker],
            ls="",
            label=title_of(str(order)),
        )
    axes.plot(
        rows["heads_left"].to_numpy(float),
        rows["largest_logit"].to_numpy(float),
        color=RANDOM_LINE.light,
        marker="_",
        ls="",
        label="The largest logit",
    )
    axes.set_yscale("symlog", linthresh=LEAST)  # a difference may be 0
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="Heads left", ylabel="Largest difference of a logit")
    axes.legend(loc="center right", fontsize=7)
    return drawn
