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
        several: whether a run may have several Results of the analysis, under names of their
            own, which all stand in the figure.
    """

    analysis: str
    table: str
    draw: Draw
    several: bool = False

    def shown_by(self, findings: Findings) -> bool:
        """Say whether a run has what is drawn."""
        if self.several:
            return bool(findings.names_of(self.analysis, self.table))
        return findings.table(self.analysis, self.table) is not None


figures: Registry[PaperFigure] = Registry("figure")


def figure(
    name: str, analysis: str, table: str, *, several: bool = False
) -> Callable[[Draw], Draw]:
    """Let a function join the figures; the rest as in `PaperFigure`."""

    def join(draw: Draw) -> Draw:
        figures(name)(PaperFigure(analysis, table, draw, several))
        return draw

    return join
