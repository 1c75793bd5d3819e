"""What all figures for papers share: fonts and spines, dashes, markers, and an empty figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import seaborn as sns
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from ..drawing.palette import ink_on

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


def ink_over(shown: AxesImage, value: float) -> str:
    """Return black or white, whichever is easier to read over the colour of a value."""
    (colour,) = shown.to_rgba(np.array([value]))  # [channel]
    return ink_on(to_hex(tuple(colour)))
