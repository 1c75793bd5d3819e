"""The strongest roles of heads, beside what they have to beat."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ..drawing.palette import ROLES
from ..findings import Findings
from .family import figure
from .style import new_figure

_SHOWN = 15


@figure("roles", "roles", "roles")
def draw_roles(findings: Findings) -> Figure:
    """Draw the roles with the largest effects: share, baseline, and the interval of the gap."""
    rows = findings.rows("roles", "roles")
    rows = rows[rows["effect"].notna()].sort_values("effect", ascending=False, kind="stable")
    rows = rows.head(_SHOWN).iloc[::-1]
    drawn = new_figure(5.6, 0.9 + 0.24 * len(rows))
    axes = drawn.subplots()
    for place, row in enumerate(rows.to_dict("records")):
        colour = ROLES.get(row["family"], ROLES["other"])
        share, baseline = 100 * float(row["share"]), 100 * float(row["baseline"])
        ends = [100 * float(row[name]) + baseline for name in ("effect_low", "effect_high")]
        axes.plot([baseline, share], [place, place], color=colour, lw=1, alpha=0.5)
        if not np.isnan(ends).any():
            axes.plot(ends, [place, place], color=colour, lw=2.5)
        axes.plot(baseline, place, marker="|", color="black", ls="", markersize=9)
        axes.plot(share, place, marker="o", color=colour, ls="", markersize=4.5)
    names = zip(rows["role"], rows["site"], rows["layer"], rows["head"], strict=True)
    axes.set_yticks(range(len(rows)), [f"{role} ({s}.{y}.{h})" for role, s, y, h in names], size=7)
    axes.set(xlabel="% of queries (line: what it has to beat)", xlim=(0, 100))
    return drawn
