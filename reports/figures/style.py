"""What all figures for papers share: fonts, dashes, markers, an empty figure, intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from ..drawing.palette import LineStyle, ink_on

# matplotlib's stubs know rc settings only as literal names.
STYLE: Any = {
    **sns.axes_style("ticks"),
    **sns.plotting_context("paper", font_scale=1.1),
    "svg.hashsalt": "headcount",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.parse_math": False,  # a dollar sign in a token or a name is no formula
}
MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "cross": "x",
    "plus": "+",
    "down": "v",
    "left": "<",
    "right": ">",
    "star": "*",
    "bar": "_",
    "pillar": "|",
    "none": "",
}


def new_figure(width: float, height: float) -> Figure:
    """Return a figure that knows of no window."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def dashes(pattern: str) -> Any:
    """Return an SVG dash pattern as matplotlib writes it, in line widths."""
    lengths = [float(part) / 2 for part in pattern.split()]
    return (0, lengths) if lengths else "-"


def bars(
    axes: Axes,
    style: LineStyle,
    rows: pd.DataFrame,
    x: str,
    y: str,
    *,
    label: str,
    scale: float = 1,
) -> None:
    """Draw a line through the column `y` with its interval, `y_low` to `y_high`, as bars.

    Args:
        rows: one point each, in any order.
        scale: what values and bounds are multiplied with, such as 100 for percent.
    """
    rows = rows.sort_values(x)
    values, low, high = (scale * rows[f"{y}{end}"].to_numpy(float) for end in ("", "_low", "_high"))
    axes.errorbar(
        rows[x].to_numpy(float),
        values,  # [point]
        yerr=np.clip(np.stack([values - low, high - values]), 0, None),  # [side, point]
        color=style.light,
        linestyle=dashes(style.dash),
        marker=MARKERS[style.marker],
        markersize=4,
        elinewidth=0.9,
        label=label,
    )


def dots(
    axes: Axes,
    style: LineStyle,
    rows: pd.DataFrame,
    names: Sequence[str],
    columns: tuple[str, str, str],
) -> None:
    """Draw named values from bottom to top, each with its interval to the left and right.

    Args:
        columns: of the values and of the lower and upper bounds.
    """
    values, least, most = (rows[name].to_numpy(float) for name in columns)
    axes.errorbar(
        values,
        range(len(names)),
        xerr=np.clip(np.stack([values - least, most - values]), 0, None),  # [side, point]
        color=style.light,
        marker=MARKERS[style.marker],
        ls="",
        markersize=4.5,
        elinewidth=1.2,
    )
    axes.set_yticks(range(len(names)), names, size=7)
    axes.set_ylim(-0.6, len(names) - 0.4)


def ink_over(shown: AxesImage, value: float) -> str:
    """Return black or white, whichever is easier to read over the colour of a value."""
    (colour,) = shown.to_rgba(np.array([value]))  # [channel]
    return ink_on(to_hex(tuple(colour)))
