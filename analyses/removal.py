"""Which heads go first, and how many are left: orders of removal and the points on them.

An order lists all heads, the first to go in front. A point on an order is the model from
which the first few heads of it are gone. Points of different orders are often the same
model (nothing removed, everything removed, two metrics that agree), so a model is known by
the set of its removed heads, and each set is measured once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..models.errors import UsageError, did_you_mean
from ..models.gates import Head, HeadLayout
from ..probe.random_order import random_orders
from .result import Result

RANDOM = "random"


@dataclass(frozen=True)
class RemovalOrder:
    """All heads of a model, the first to be removed in front.

    Args:
        name: the metric it follows, or `random`.
        draw: which random draw; 0 for a metric.
        heads: every head once.
    """

    name: str
    draw: int
    heads: tuple[Head, ...]

    def removed(self, heads_left: int) -> frozenset[Head]:
        """Return the heads that are gone when `heads_left` are left.

        Raises:
            UsageError: more heads than there are.
        """
        if not 0 <= heads_left <= len(self.heads):
            raise UsageError(f"{heads_left} heads cannot be left of {len(self.heads)}")
        return frozenset(self.heads[: len(self.heads) - heads_left])


@dataclass(frozen=True)
class Point:
    """One model on one order."""

    order: RemovalOrder
    heads_left: int

    @property
    def removed(self) -> frozenset[Head]:
        """Return the heads that are gone."""
        return self.order.removed(self.heads_left)


def orders_by_metric(
    scores: Result, names: Sequence[str] | None, layout: HeadLayout
) -> list[RemovalOrder]:
    """Read from a `score` Result the orders that remove the least important head first.

    Args:
        scores: ranks of all heads of this very model, from validation text.
        names: metrics to follow; None follows all that were measured, but for `random`, of
            which `orders_by_chance` draws several.

    Raises:
        UsageError: a metric that was not measured, or ranks of another model's heads.
    """
    rows = scores.tables["heads"].rows
    measured = [name for name in dict.fromkeys(rows["metric"]) if name != RANDOM]
    orders = []
    for name in measured if names is None else names:
        if name not in measured:
            raise UsageError(f"metric '{name}' was not measured" + did_you_mean(name, measured))
        ranked = rows[rows["metric"] == name].sort_values("rank", ascending=False, kind="stable")
        columns = zip(ranked["site"], ranked["layer"], ranked["head"], strict=True)
        heads = tuple(Head(str(site), int(layer), int(head)) for site, layer, head in columns)
        if set(heads) != set(layout.heads):
            raise UsageError("the scores are of a model with other heads: score this model first")
        orders.append(RemovalOrder(name, 0, heads))
    return orders


def orders_by_chance(
    layout: HeadLayout, draws: int, generator: np.random.Generator
) -> list[RemovalOrder]:
    """Return random orders, the null that the metrics have to beat."""
    drawn = random_orders(layout, draws, generator)
    return [RemovalOrder(RANDOM, draw, tuple(heads)) for draw, heads in enumerate(drawn)]


def head_counts(total: int, shares: Sequence[float]) -> list[int]:
    """Return how many heads are left at each share of `total`, from many to few.

    The whole model is always there, for everything is compared with it.

    Raises:
        UsageError: a share outside 0 to 1.
    """
    for share in shares:
        if not 0 <= share <= 1:
            raise UsageError(f"prune.shares: {share} is no share of the heads: write 0 to 1")
    return sorted({total, *(round(total * share) for share in shares)}, reverse=True)
