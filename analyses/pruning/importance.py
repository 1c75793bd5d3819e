"""Choosing by importance: the heads go in the order of a metric, and the null, by chance.

One-shot scoring measures the whole model once and trusts that a head that matters little in
it matters little in a smaller one. That is known to fail for heads that do the same work:
each alone can be spared, both together cannot (Michel et al. 2019, section 4.1). With
`rescore` the model that is left is measured again after every few removals.

Metrics need not be comparable between sublayers: with `normalised` every sublayer's values
are divided by their l2 norm (Molchanov et al. 2017), and with `scope = "site"` each of the
sites loses the same share of its heads, so that only heads of one site are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field

from ...models.gates import Head
from ...models.translator import Translator
from ...probe.importance import metric
from ...probe.random_order import random_orders
from .way import Chosen, Task, Way, spared, way


@way("importance")
class ByImportance(Way):
    """The least important heads by a metric go first, scored once or again and again.

    Args:
        metric: a member of the `metric` family.
        options: the metric's own.
        rescore: heads removed before the rest is scored again; 0 scores once.
        scope: whether all heads are compared, or those of each site, of which each then
            loses the same share.
        normalised: whether a sublayer's values are divided by their l2 norm.
        sentences: the first so many validation sentences.
    """

    metric: str = "leave_one_out"
    options: dict[str, Any] = Field(default_factory=dict)
    rescore: int = Field(default=0, ge=0)
    scope: Literal["global", "site"] = "global"
    normalised: bool = False
    sentences: int = Field(default=300, ge=1)

    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Measure, and put the least important heads in front; see `Way.choose`."""
        removed: list[Head] = []
        total = len(task.candidates)
        while True:
            task.progress(f"score: {self.metric}", len(removed), total)
            smaller = task.translator.without(removed)
            order = self._order(smaller, task, [it for it in task.candidates if it not in removed])
            if not self.rescore or len(order) <= self.rescore:
                task.progress(f"score: {self.metric}", total, total)
                return Chosen(task.translator, (*removed, *order))
            removed += spared(order, smaller.layout, self.minimum)[: self.rescore]

    def _order(
        self, translator: Translator, task: Task, candidates: Sequence[Head]
    ) -> tuple[Head, ...]:
        """Order what is left of the candidates by one scoring."""
        member = metric[self.metric].from_dict(self.options, f"options of '{self.metric}'")
        data = task.corpus.valid.head(self.sentences)
        generator = torch.Generator().manual_seed(task.seed)
        scores = member.scores(translator, data, generator)
        values = scores.normalised if self.normalised else scores.mean  # [head]
        if not scores.higher_is_important:
            values = -values
        found = dict(zip(scores.layout.heads, values.tolist(), strict=True))
        # Sorting is stable: of equals, the last in the layout goes first.
        last_first = list(candidates)[::-1]
        order = sorted(last_first, key=found.__getitem__)
        return by_site(order) if self.scope == "site" else tuple(order)


def by_site(order: Sequence[Head]) -> tuple[Head, ...]:
    """Merge the orders within each site so that all sites lose the same share of their heads."""
    sizes = {head.site: sum(it.site == head.site for it in order) for head in order}
    seen = dict.fromkeys(sizes, 0)
    share: dict[Head, float] = {}
    for head in order:
        seen[head.site] += 1
        share[head] = (seen[head.site] - 0.5) / sizes[head.site]
    return tuple(sorted(order, key=share.__getitem__))


@way("random")
class ByChance(Way):
    """The heads go in a random order, the null that every other way has to beat.

    Args:
        draw: which of the orders that the seed makes.
    """

    seeded: ClassVar[bool] = True

    draw: int = Field(default=0, ge=0)

    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Draw an order; see `Way.choose`."""
        drawn = random_orders(
            task.translator.layout, self.draw + 1, np.random.default_rng(task.seed)
        )
        may_go = set(task.candidates)
        order = tuple(head for head in drawn[-1] if head in may_go)
        return Chosen(task.translator, order)
