"""The main figures for papers: seaborn, as SVG and PDF in `figures/`.

The page draws its own charts, which answer to light, dark and a reader's choices. A paper
wants the same numbers in a file of its own. The same Results give the same bytes: no date
is written, ids in the SVG come from a fixed salt, and nothing depends on a screen.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from ..models.files import replacing
from .drawing.charts import ticks
from .drawing.palette import RANDOM_LINE, style_of
from .findings import Findings, records
from .orders import order_styles
from .unproven import unproven
from .wording import title_of

FOLDER = "figures"
# matplotlib's stubs know rc settings only as literal names.
_STYLE: Any = {
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
_MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "cross": "x",
    "plus": "+",
    "none": "",
}


def draw_figures(run_folder: Path) -> list[Path]:
    """Draw every figure whose Results exist, as `figures/NAME.svg` and `figures/NAME.pdf`.

    Args:
        run_folder: a run folder with at least one finished Result in `results/`.

    Returns:
        The paths that were written.

    Raises:
        DataError: the folder holds no finished Result, or a damaged one.
    """
    findings = Findings.of_run(run_folder)
    written = []
    for name, (analysis, table, draw) in FIGURES.items():
        if findings.table(analysis, table) is None:
            continue
        with matplotlib.rc_context(_STYLE):
            figure = draw(findings)
            for ending in ("svg", "pdf"):
                path = run_folder / FOLDER / f"{name}.{ending}"
                _save(figure, path, ending)
                written.append(path)
    return written


def _save(figure: Figure, path: Path, ending: str) -> None:
    """Write one file without a date in it."""
    dates = {"Date": None} if ending == "svg" else {"CreationDate": None, "ModDate": None}
    with replacing(path) as temporary:
        figure.savefig(temporary, format=ending, metadata=dates)


def _new_figure(width: float, height: float) -> Figure:
    """Return a figure that knows of no window."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def draw_curve(findings: Findings) -> Figure:
    """Draw BLEU against heads left for every order, with intervals and the random band."""
    rows = findings.rows("prune", "curve")
    figure = _new_figure(5.2, 3.4)
    axes = figure.subplots()
    if findings.table("prune", "band") is not None:
        band = findings.rows("prune", "band").sort_values("heads_left")
        at = band["heads_left"].to_numpy(float)
        axes.fill_between(at, band["low"], band["high"], color=RANDOM_LINE.light, alpha=0.25, lw=0)
        axes.plot(at, band["mean"], color=RANDOM_LINE.light, ls=":", label="Random (mean, range)")
    for order, index in order_styles(rows).items():
        style = style_of(index)
        mine = rows[(rows["order"] == order) & (rows["draw"] == 0)].sort_values("heads_left")
        bleu = mine["bleu"].to_numpy(float)
        bounds = np.stack([bleu - mine["bleu_low"], mine["bleu_high"] - bleu])
        axes.errorbar(
            mine["heads_left"].to_numpy(float),
            bleu,
            yerr=np.clip(bounds.astype(float), 0, None),
            color=style.light,
            linestyle=_dashes(style.dash),
            marker=_MARKERS[style.marker],
            markersize=4.5,
            elinewidth=0.9,
            label=title_of(order),
        )
    axes.set(xlabel="Heads left", ylabel="BLEU")
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right")
    return figure


def _dashes(pattern: str) -> Any:
    """Return an SVG dash pattern as matplotlib writes it, in line widths."""
    lengths = [float(part) / 2 for part in pattern.split()]
    return (0, lengths) if lengths else "-"


def draw_heads(findings: Findings) -> Figure:
    """Draw the map of heads, one row of panels a metric and one panel a site."""
    rows = findings.rows("score", "heads")
    rows = rows[~rows["metric"].isin(unproven(findings))]
    if rows.empty:
        figure = _new_figure(5.2, 1.0)
        figure.text(0.5, 0.5, "No metric whose proofs hold was measured", ha="center")
        return figure
    metrics, sites = list(rows["metric"].unique()), list(rows["site"].unique())
    layers = int(rows["layer"].max()) + 1
    figure = _new_figure(3.2 * len(sites), len(metrics) * (0.9 + 0.32 * layers))
    grid = figure.subplots(len(metrics), len(sites), squeeze=False)
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
            axes.set_xticks(shown.columns, [str(head) for head in shown.columns])
            axes.set_yticks(shown.index, [str(layer) for layer in shown.index])
            axes.invert_yaxis()
            axes.tick_params(length=0)
            sns.despine(ax=axes, left=True, bottom=True)
            if site == sites[-1]:
                bar = figure.colorbar(mesh, ax=axes, label=here["unit"].iloc[0])
                # A clipped scale would print ticks outside it at its ends: give them by hand.
                bar.set_ticks(ticks(low, high, about=4) if high > low else [low])
            axes.set(title=f"{title_of(metric)}: {title_of(site).lower()}")
            axes.set(xlabel="head", ylabel="layer")
            axes.title.set_fontsize(8)
    return figure


def draw_training(findings: Findings) -> Figure:
    """Draw loss and validation BLEU by training step."""
    rows = findings.rows("train", "curve").sort_values("step")
    figure = _new_figure(7.2, 2.8)
    left, right = figure.subplots(1, 2)
    for style, (name, label) in enumerate(
        (("train_loss", "training loss"), ("valid_nll", "validation NLL"))
    ):
        _steps(left, rows, name, style, label)
    left.set(xlabel="Step", ylabel="Nats a token")
    left.legend()
    _steps(right, rows, "valid_bleu", 2, "validation BLEU")
    right.set(xlabel="Step", ylabel="Validation BLEU")
    for axes in (left, right):
        axes.set_ylim(bottom=0)
    return figure


def _steps(axes: Any, rows: pd.DataFrame, name: str, index: int, label: str) -> None:
    """Draw one measured column by step; steps at which it was not measured are left out."""
    style = style_of(index)
    measured = records(rows[rows[name].notna()])
    axes.plot(
        [row["step"] for row in measured],
        [row[name] for row in measured],
        color=style.light,
        linestyle=_dashes(style.dash),
        marker=_MARKERS[style.marker] if len(measured) <= 40 else "",
        markersize=3.5,
        label=label,
    )


Draw = Callable[[Findings], Figure]
FIGURES: dict[str, tuple[str, str, Draw]] = {
    "curve": ("prune", "curve", draw_curve),
    "heads": ("score", "heads", draw_heads),
    "training": ("train", "curve", draw_training),
}
"""Every figure by the name of its file: the table it needs, and what draws it."""
