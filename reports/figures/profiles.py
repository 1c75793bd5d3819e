"""Where every head looks by offset, and which heads look alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from ..findings import Findings
from ..wording import missing, signed, title_of
from .family import figure
from .style import new_figure

NEAR = 3  # offsets up to this have a column of their own
FURTHER = "further"


@figure("profiles", "roles", "offsets")
def draw_profiles(findings: Findings) -> Figure:
    """Draw the share of queries by offset of what they look at most, one panel a site."""
    rows = findings.rows("roles", "offsets")
    named = [_column(offset) for offset in rows["offset"]]
    rows = rows.assign(column=named, name=_names(rows, "layer", "head"))
    columns = [*(signed(at, 0) for at in range(-NEAR, NEAR + 1)), FURTHER]
    sites = list(rows["site"].unique())
    most = int(rows.groupby("site")["name"].nunique().max())
    drawn = new_figure(2.6 * len(sites), 1.1 + 0.17 * most)
    for axes, site in zip(drawn.subplots(1, len(sites), squeeze=False)[0], sites, strict=True):
        own = rows[rows["site"] == site]
        table = own.pivot_table(index="name", columns="column", values="share", aggfunc="sum")
        names = list(dict.fromkeys(own["name"]))
        values = table.reindex(index=names, columns=columns).fillna(0).to_numpy(float)
        norm = PowerNorm(0.5, vmin=0, vmax=1)
        shown = axes.imshow(values, cmap="viridis", norm=norm, aspect="auto")
        axes.set_xticks(range(len(columns)), columns, size=7, rotation=90)
        axes.set_yticks(range(len(names)), names, size=6)
        axes.set(title=title_of(site), xlabel="Key − query, tokens")
        axes.title.set_fontsize(8)
    drawn.colorbar(shown, ax=axes, label="Share of queries")
    return drawn


@figure("likeness", "roles", "likeness")
def draw_likeness(findings: Findings) -> Figure:
    """Draw the distance of the attention of every two heads of a site."""
    rows = findings.rows("roles", "likeness")
    rows = rows.assign(
        one=_names(rows, "layer", "head"), other=_names(rows, "other_layer", "other_head")
    )
    sites = list(rows["site"].unique())
    drawn = new_figure(3.4 * len(sites), 3.4)
    for axes, site in zip(drawn.subplots(1, len(sites), squeeze=False)[0], sites, strict=True):
        own = rows[rows["site"] == site]
        names = list(dict.fromkeys([*own["one"], *own["other"]]))
        names.sort(key=lambda name: tuple(map(int, name.split("."))))
        at = {name: place for place, name in enumerate(names)}
        values = np.full((len(names), len(names)), np.nan)  # [head, head]
        for one, other, distance in zip(own["one"], own["other"], own["distance"], strict=True):
            values[at[one], at[other]] = values[at[other], at[one]] = float(distance)
        shown = axes.imshow(values, cmap="viridis", vmin=0, vmax=1)
        axes.set_xticks(range(len(names)), names, size=4, rotation=90)
        axes.set_yticks(range(len(names)), names, size=4)
        axes.set(title=title_of(site))
        axes.title.set_fontsize(8)
    drawn.colorbar(shown, ax=axes, label="Jensen-Shannon distance")
    return drawn


def _column(offset: float) -> str:
    far = missing(offset) or abs(offset) > NEAR
    return FURTHER if far else signed(offset, 0)


def _names(rows: pd.DataFrame, layer: str, head: str) -> list[str]:
    return [f"{one}.{other}" for one, other in zip(rows[layer], rows[head], strict=True)]
