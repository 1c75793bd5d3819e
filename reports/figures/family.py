"""The `figure` family: what a figure for papers needs, and what draws it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from ...models.registry import Registry
from ..findings import Findings

Draw = Callable[[Findings], Figure]


@dataclass(frozen=True)
class PaperFigure:
    """One figure, named as its files are.

    Args:
        analysis, table: the table without whose rows there is no such figure.
        draw: draws it.
    """

    analysis: str
    table: str
    draw: Draw


figures: Registry[PaperFigure] = Registry("figure")


def figure(name: str, analysis: str, table: str) -> Callable[[Draw], Draw]:
    """Let a function join the figures; the rest as in `PaperFigure`."""

    def join(draw: Draw) -> Draw:
        figures(name)(PaperFigure(analysis, table, draw))
        return draw

    return join
