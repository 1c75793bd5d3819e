"""What does it cost to remove heads of one site alone?

The curve over all sites mixes two questions: how many heads, and of which site. Here the heads
of one site go by their order of importance, the other two sites stay whole, as in the first
experiment of Voita et al. 2019 (section 5.3, encoder heads only). The curves of the three
sites have the same x-axis, heads left at the site, so that they can be laid over each other.

Pitfall: the heads of a site are ranked by a metric of heads that are closed alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..models.data.parallel_text import ParallelText
from ..models.gates import SITES, Head
from .columns import BLEU, BLEU_DIFFERENCE, NLL
from .points import Measured
from .prune_tables import bleu_by_model
from .removal import Point, RemovalOrder, head_counts
from .result import Column, Table

SITE_CURVE = (
    Column("order", "text", "metric by whose order the heads of the site go"),
    Column("site", "text", "the site that loses heads: encoder, decoder or cross"),
    Column("site_left", "whole", "heads left at the site"),
    Column("heads_left", "whole", "heads of the smaller model, all sites together"),
    *BLEU,
    *BLEU_DIFFERENCE,
    NLL,
    Column("parameters", "whole", "parameters of the smaller model"),
)


def site_points(
    orders: Sequence[RemovalOrder], preferred: str, shares: Sequence[float]
) -> list[Point]:
    """Return the points on an order of every site's heads alone.

    Args:
        orders: the orders of the curve, those of metrics in front.
        preferred: the metric whose order is cut into sites; the first order where it is none
            of them.
        shares: of the site's heads, how many are left at each point.
    """
    if not orders:
        return []
    whole = next((order for order in orders if order.name == preferred), orders[0])
    points = []
    for site in SITES:
        heads = tuple(head for head in whole.heads if head.site == site)
        order = RemovalOrder(whole.name, whole.draw, heads)
        points += [Point(order, count) for count in head_counts(len(heads), shares) if heads]
    return points


def sites_table(
    points: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
    resamples: int,
    seed: int,
    heads: int,
) -> dict[str, Table]:
    """Return the table `sites`, or nothing where there are no points.

    Args:
        points: of `site_points`.
        measured: what each model did, by its removed heads.
        data: the test sentences.
        resamples: bootstrap resamples of the sentences.
        seed: draws the resamples.
        heads: of the whole model.
    """
    if not points:
        return {}
    some = {point.removed: measured[point.removed] for point in points}
    bleu = bleu_by_model(some, frozenset(), data, resamples, seed)
    rows = [
        {
            "order": point.order.name,
            "site": point.order.heads[0].site,
            "site_left": point.heads_left,
            "heads_left": heads - len(point.removed),
            **bleu[point.removed],
            "nll": some[point.removed].nll,
            "parameters": some[point.removed].parameters,
        }
        for point in points
    ]
    table = Table.of(
        "BLEU when heads of one site alone are removed.",
        SITE_CURVE,
        rows,
        n=f"{len(data)} test sentences ({data.name})",
        interval=f"95 % percentile bootstrap over sentences, {resamples} resamples, the same for "
        "all",
    )
    return {"sites": table}
