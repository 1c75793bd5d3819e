"""The map of heads by every metric."""

from __future__ import annotations

import seaborn as sns
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from ..drawing.charts import ticks
from ..findings import Findings
from ..unproven import unproven
from ..wording import title_of
from .family import figure
from .style import new_figure


@figure("heads", "score", "heads")
def draw_heads(findings: Findings) -> Figure:
    """Draw the map of heads, one row of panels a metric and one panel a site."""
    rows = findings.rows("score", "heads")
    rows = rows[~rows["metric"].isin(unproven(findings))]
    if rows.empty:
        drawn = new_figure(5.2, 1.0)
        drawn.text(0.5, 0.5, "No metric whose proofs hold was measured", ha="center")
        return drawn
    metrics, sites = list(rows["metric"].unique()), list(rows["site"].unique())
    layers = int(rows["layer"].max()) + 1
    drawn = new_figure(3.2 * len(sites), len(metrics) * (0.9 + 0.32 * layers))
    grid = drawn.subplots(len(metrics), len(sites), squeeze=False)
    for line, metric in zip(grid, metrics, strict=True):
        mine = rows[rows["metric"] == metric]
        low, high = float(mine["value"].min()), float(mine["value"].max())
        for axes, site in zip(line, sites, strict=True):
            here = mine[mine["site"] == site]
            if here.empty:
                axes.set_axis_off()
                continue
            shown = here.pivot(index="layer", columns="head", values="value").astype(float)
            # seaborn's heatmap draws the whole figure once a panel to see whether labels
            # overlap; the mesh below is what it draws in the end.
            mesh = axes.pcolormesh(
                shown.columns.to_numpy(),
                shown.index.to_numpy(),
                shown.to_numpy(),
                cmap="viridis",
                norm=PowerNorm(0.5, vmin=low, vmax=high, clip=True),
                edgecolors="white",
                linewidth=0.5,
            )
            # Texts take most of the time of drawing; the columns are the same in every row.
            lowest = metric == metrics[-1]
            axes.set_xticks(shown.columns, [str(head) for head in shown.columns])
            axes.set_yticks(shown.index, [str(layer) for layer in shown.index])
            axes.invert_yaxis()
            axes.tick_params(length=0, labelbottom=lowest)
            sns.despine(ax=axes, left=True, bottom=True)
            if site == sites[-1]:
                bar = drawn.colorbar(mesh, ax=axes, label=here["unit"].iloc[0])
                # A clipped scale would print ticks outside it at its ends: give them by hand.
                bar.set_ticks(ticks(low, high, about=4) if high > low else [low])
            axes.set(title=f"{title_of(metric)}: {title_of(site).lower()}")
            axes.set(xlabel="head" if lowest else "", ylabel="layer")
            axes.title.set_fontsize(8)
    return drawn
