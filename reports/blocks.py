"""A section made of several figures, each with a heading, a chart, tables and a caption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from .drawing.palette import HEAT
from .rendering import Caption, Sheet, render


@dataclass(frozen=True)
class Block:
    """One figure of a section.

    Args:
        name: its anchor.
        title: its heading, empty for none.
        sheet: its table, None where it has another form.
        caption: what stands below it.
        chart: a chart above the table.
        legend: of the chart.
        squares: tables of pairs of metrics, one a site.
        folded: what to click on to see a long table, empty for one that is open.
    """

    name: str
    title: str
    sheet: Sheet | None
    caption: Caption
    chart: Markup | None = None
    legend: tuple[Any, ...] = ()
    squares: tuple[Any, ...] = ()
    folded: str = ""


def blocks_of(
    blocks: Sequence[Block | None],
    *,
    lead: str = "",
    broken: Sequence[tuple[str, str]] = (),
    remarks: Sequence[str] = (),
) -> Markup | None:
    """Return the markup of a section; None where there is no figure to show.

    Args:
        blocks: figures; None for one that has nothing to show.
        lead: what they say, in one sentence.
        broken: metrics that must not be shown, with their reasons.
        remarks: sentences below the figures.
    """
    shown = [block for block in blocks if block is not None]
    if not shown:
        return None
    return render(
        "blocks.html",
        {
            "blocks": shown,
            "lead": lead,
            "broken": broken,
            "steps": range(len(HEAT)),
            "remarks": remarks,
        },
    )
