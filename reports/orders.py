"""Removal orders as lines: which style each has, and its points.

An order has the same colour, dash and marker in every figure of the page, whether or not the
others are drawn beside it.
"""

from __future__ import annotations

import pandas as pd

from .choice import RANDOM
from .drawing.charts import Line, Point
from .drawing.palette import style_of
from .findings import records
from .wording import fixed, interval, title_of


def order_styles(curve: pd.DataFrame) -> dict[str, int | str]:
    """Return the line style of every order but random ones, in the order of the table."""
    names = [name for name in curve["order"].unique() if name != RANDOM]
    return {name: index for index, name in enumerate(names)}


def order_line(curve: pd.DataFrame, order: str) -> Line:
    """Return BLEU against heads left for one order, with intervals.

    Args:
        curve: the rows of `prune/curve`.
        order: any order but the random ones, which are a band.
    """
    rows = curve[(curve["order"] == order) & (curve["draw"] == 0)].sort_values("heads_left")
    style = order_styles(curve)[order]
    points = [
        Point(
            row["heads_left"],
            row["bleu"],
            row["bleu_low"],
            row["bleu_high"],
            f"{title_of(order)}, {row['heads_left']} heads left: BLEU {fixed(row['bleu'])} "
            f"{interval(row['bleu_low'], row['bleu_high'])}",
        )
        for row in records(rows)
    ]
    return Line(title_of(order), points, style, style_of(style).marker)


def random_band(band: pd.DataFrame) -> list[tuple[float, float, float]]:
    """Return (heads left, lowest, highest BLEU) of the random orders, ascending."""
    rows = records(band.sort_values("heads_left"))
    return [(row["heads_left"], row["low"], row["high"]) for row in rows]


def random_line(band: pd.DataFrame) -> Line:
    """Return the mean BLEU of the random orders against heads left."""
    rows = records(band.sort_values("heads_left"))
    points = [
        Point(
            row["heads_left"],
            row["mean"],
            title=f"Mean of {row['draws']} random orders, {row['heads_left']} heads left: "
            f"BLEU {fixed(row['mean'])}",
        )
        for row in rows
    ]
    return Line("Random orders (mean and range)", points, "random", style_of("random").marker)
