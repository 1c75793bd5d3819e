"""How alike the metrics order the heads."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ..findings import Findings
from ..unproven import unproven
from ..wording import title_of
from .family import figure
from .style import ink_over, new_figure


@figure("agreement", "reliability", "agreement")
def draw_agreement(findings: Findings) -> Figure:
    """Draw Kendall's tau of every two proven metrics over all heads, with the values."""
    rows = findings.rows("reliability", "agreement")
    broken = unproven(findings)
    rows = rows[(rows["site"] == "all") & ~rows["metric"].isin(broken)]
    rows = rows[~rows["other"].isin(broken)]
    names = list(dict.fromkeys([*rows["metric"], *rows["other"]]))
    values = np.full((len(names), len(names)), np.nan)  # [metric, metric]
    for one, other, tau in zip(rows["metric"], rows["other"], rows["kendall"], strict=True):
        values[names.index(one), names.index(other)] = float(tau)
        values[names.index(other), names.index(one)] = float(tau)
    drawn = new_figure(2.2 + 0.42 * len(names), 1.2 + 0.36 * len(names))
    axes = drawn.subplots()
    shown = axes.imshow(values, cmap="viridis", vmin=-1, vmax=1, aspect="auto")
    for (down, across), value in np.ndenumerate(values):
        if not np.isnan(value):
            ink = ink_over(shown, value)
            axes.text(across, down, f"{value:.2f}", ha="center", va="center", size=6.5, color=ink)
    titles = [title_of(name) for name in names]
    axes.set_xticks(range(len(names)), titles, rotation=45, ha="right", size=7)
    axes.set_yticks(range(len(names)), titles, size=7)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    drawn.colorbar(shown, ax=axes, label="Kendall’s τ, all heads")
    return drawn
