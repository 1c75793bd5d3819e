"""BLEU against the heads that are left at one site alone."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..drawing.palette import style_of
from ..findings import Findings
from ..wording import title_of
from .family import figure
from .style import bars, new_figure


@figure("sites", "prune", "sites")
def draw_sites(findings: Findings) -> Figure:
    """Draw BLEU with its interval as the heads of each site go, the other sites being whole."""
    drawn = new_figure(5.2, 3.4)
    axes = drawn.subplots()
    by_site = findings.rows("prune", "sites").groupby("site", sort=False)
    for place, (site, rows) in enumerate(by_site):
        bars(axes, style_of(place), rows, "site_left", "bleu", label=title_of(str(site)))
    axes.set(xlabel="Heads left at the site", ylabel="BLEU")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right")
    return drawn
