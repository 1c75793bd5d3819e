"""Shapley values: what a head adds, averaged over all orders in which heads may come.

    v_h = mean over orders of the heads of  f(heads before h, and h) - f(heads before h)

with f(S) = log p(y | x) when the heads S alone are open (Shapley 1953). The values of all
heads sum to f(1) - f(0), heads that always add the same get the same, and two heads that do
the same work share its worth, where leave-one-out calls both idle.

There are too many orders for all of them, so some are drawn (Castro et al. 2009). Each order
is uniform over all orders, which makes the mean unbiased whatever ties the orders together.
By default eight are tied to one that is drawn:

- its rotations by quarters: what a head adds depends most on how many heads are open already,
  and so every head comes once in each quarter (stratified sampling);
- the reverse of each (antithetic; Mitchell et al. 2022, section 4.1): where a pair of heads is
  worth more or less together than apart, both get exactly half of the difference, so for
  functions without higher interactions a pair of orders is already exact.

So eight tied orders are at least as accurate as 25 independent ones. By their variance, summed
over heads, they were worth 29 [27, 30] of them on a single sentence and 60 [54, 69] for the
mean over six, in a miniature model, and 32 [27, 37] and 48 [40, 60] (three sentences) in one of
preset `small` trained on Multi30k; 72 heads each. `benchmarks/shapley.py RUN` measures it.

Orders are drawn for every batch of sentences, and what one draw misses it misses in the whole
batch. So batches are small here: a corpus then has more draws, at next to no cost.

Cost: one walk from closed to open gates an order. All sets of heads of all orders are
evaluated together, so that what they have in common is computed once (`models/ablation.py`),
instead of one whole forward pass a set, which is how captum's `ShapleyValueSampling` does it;
the proof compares the two on the same orders.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.translator import Translator
from .gate_game import (
    Attribution,
    complete,
    incompleteness,
    log_probabilities,
    log_probabilities_of_masks,
)
from .importance import Proof, metric
from .proving import relative_error, worst
from .slopes import open_gates

TOLERANCE = 1e-4
ROTATIONS = 4


@metric("shapley")
class Shapley(Attribution):
    """What the head adds to the log-probability, averaged over drawn orders of all heads.

    Args:
        permutations: orders drawn a batch of sentences.
        tied: whether eight orders each are rotations and reverses of one that is drawn.
        tokens: padded target tokens a batch, few so that there are many draws.
    """

    permutations: int = 8
    tied: bool = True
    tokens: int = 256
    sentences: int | None = 50

    def shares(self, translator: Translator, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return every head's Shapley value in nats; see `Attribution.shares`."""
        heads = len(translator.layout)
        orders = draw_orders(heads, self.permutations, generator, tied=self.tied)
        return mean_gains(translator, batch, orders)

    def remarks(self) -> tuple[str, ...]:
        """Say how many orders were drawn."""
        tied = ", rotations and reverses of fewer that were drawn" if self.tied else ""
        drawn = f"Shapley values are means over {self.permutations} orders of the heads{tied}."
        return (drawn, *super().remarks())

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Check that nothing is lost, and compare with captum on the same two orders."""
        orders = draw_orders(len(translator.layout), 2, generator, tied=False)
        lost = apart = 0.0
        for batch in self.batches(translator, data):
            ours = mean_gains(translator, batch, orders)
            captums = shapley_by_captum(translator, batch, orders)
            lost = worst(lost, incompleteness(translator, batch, ours))
            apart = worst(apart, relative_error(ours, captums))
        return (
            complete(lost, TOLERANCE),
            Proof("equal to captum's ShapleyValueSampling on the same orders", apart, TOLERANCE),
        )


def draw_orders(heads: int, count: int, generator: torch.Generator, *, tied: bool) -> Tensor:
    """Draw orders, each uniform over all orders  # [order, head].

    Args:
        tied: whether eight orders each are rotations and reverses of one that is drawn.
    """
    drawn: list[Tensor] = []
    while len(drawn) < count:
        order = torch.randperm(heads, generator=generator)
        rotations = min(ROTATIONS, (count - len(drawn) + 1) // 2) if tied else 1
        for number in range(rotations):
            rotated = order.roll(number * heads // rotations)
            drawn += [rotated, rotated.flip(0)] if tied else [rotated]
    return torch.stack(drawn[:count]) if drawn else torch.empty(0, heads, dtype=torch.long)


def mean_gains(translator: Translator, batch: Batch, orders: Tensor) -> Tensor:
    """Return what each head adds, the mean over orders, see `gains_by_order`  # [batch, head]."""
    return gains_by_order(translator, batch, orders).mean(0).T


def gains_by_order(translator: Translator, batch: Batch, orders: Tensor) -> Tensor:
    """Return what each head adds to log p when heads are opened in each order.

    Args:
        orders: head columns, the one that is opened first in front [order, head]

    Returns:
        nats, float64 on the CPU  # [order, head, batch]
    """
    count, heads = orders.shape
    place = orders.argsort(1)  # [order, head]
    steps = torch.arange(heads + 1)[:, None]  # [step, 1]
    masks = (place[:, None, :] < steps).flatten(0, 1)  # [order x step, head]
    distinct, which = masks.unique(dim=0, return_inverse=True)
    found = log_probabilities_of_masks(translator, batch, distinct.to(torch.float32))[which]
    walks = found.view(count, heads + 1, len(batch))  # [order, step, batch]
    added = walks.diff(dim=1)  # [order, step, batch]
    return added.gather(1, place[:, :, None].expand_as(added))  # [order, head, batch]


def shapley_by_captum(translator: Translator, batch: Batch, orders: Tensor) -> Tensor:
    """Return the same by captum, with one whole forward pass a set  # [batch, head]."""
    from captum.attr import ShapleyValueSampling  # slow to import

    def forward(gates: Tensor) -> Tensor:
        return log_probabilities(translator, batch, gates).cpu().double()

    sampling = ShapleyValueSampling(forward)
    sampling.permutation_generator = lambda *_: iter(orders.tolist())
    gates = open_gates(translator.layout, len(batch))
    return sampling.attribute(gates, baselines=0, n_samples=len(orders)).double()
