"""What every smaller model of a run reaches, and how its heads were chosen."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from ..drawing.palette import style_of
from ..findings import Findings
from ..methods import lower
from ..wording import title_of
from .family import figure
from .style import MARKERS, dashes, dots, new_figure


def _name(findings: Findings, name: str) -> str:
    """Name a smaller model by its heads and the way that chose them."""
    rows = findings.rows(name, "outcome")
    way = title_of(str(findings.results[name].settings.get("way", name)))
    return f"{rows['heads'].iloc[1]} heads by {lower(way)}"


@figure("smaller", "smaller", "outcome", several=True)
def draw_smaller(findings: Findings) -> Figure:
    """Draw BLEU with its interval of whole models, smaller ones, and the same from scratch."""
    found, names = [], []
    for name in findings.names_of("smaller", "outcome"):
        rows = findings.rows(name, "outcome")
        found.append(rows)
        names += [f"{model} ({_name(findings, name)})" for model in rows["model"]]
    rows = pd.concat(found).iloc[::-1]
    drawn = new_figure(5.6, 0.9 + 0.28 * len(rows))
    axes = drawn.subplots()
    dots(axes, style_of(0), rows, names[::-1], ("bleu", "bleu_low", "bleu_high"))
    axes.set(xlabel="BLEU points")
    return drawn


@figure("gates", "smaller", "gates", several=True)
def draw_gates(findings: Findings) -> Figure:
    """Draw how many heads were open and undecided while a training chose, one panel a model."""
    names = findings.names_of("smaller", "gates")
    drawn = new_figure(4.6 * len(names), 2.8)
    for axes, name in zip(drawn.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        rows, total = findings.rows(name, "gates"), len(findings.rows(name, "kept"))
        for place, (column, scale) in enumerate((("open", 1), ("undecided", total))):
            style = style_of(place)
            axes.plot(
                rows["update"].to_numpy(float),
                scale * rows[column].to_numpy(float),
                color=style.light,
                linestyle=dashes(style.dash),
                marker=MARKERS[style.marker] if len(rows) <= 40 else "",
                markersize=4,
                label=column.capitalize(),
            )
        axes.set(title=_name(findings, name), xlabel="Updates", ylabel="Heads")
        axes.set_ylim(bottom=0)
        axes.legend()
    return drawn
