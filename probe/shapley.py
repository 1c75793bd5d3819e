"""Shapley values: what a head adds, averaged over all orders in which heads may come.

    v_h = mean over orders of the heads of  f(heads before h, and h) - f(heads before h)

with f(S) = log p(y | x) when the heads S alone are open (Shapley 1953). The values of all
heads sum to f(1) - f(0), heads that always add the same get the same, and two heads that do
the same work share its worth, where leave-one-out calls both idle.

There are too many orders for all of them, so some are drawn (Castro et al. 2009), each order
being uniform, which makes the mean unbiased whatever ties the orders together. By default
they come in pairs of an order and its reverse (antithetic; Mitchell et al. 2022, section 4.1):
where a pair of heads is worth more or less together than apart, both get exactly half of the
difference, so for functions without higher interactions a pair of orders is already exact.

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
    incompleteness,
    log_probabilities,
    log_probabilities_of_masks,
)
from .importance import Proof, metric
from .slopes import open_gates

TOLERANCE = 1e-4


@metric("shapley")
class Shapley(Attribution):
    """What the head adds to the log-probability, averaged over drawn orders of all heads.

    Args:
        permutations: orders drawn a batch of sentences.
        antithetic: whether every second order is the reverse of the one before.
    """

    permutations: int = 25
    antithetic: bool = True
    sentences: int | None = 50

    def shares(self, translator: Translator, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return every head's Shapley value in nats; see `Attribution.shares`."""
        heads = len(translator.layout)
        orders = draw_orders(heads, self.permutations, generator, antithetic=self.antithetic)
        return mean_gains(translator, batch, orders)

    def remarks(self) -> tuple[str, ...]:
        """Say how many orders were drawn."""
        tied = ", every second one the reverse of the one before" if self.antithetic else ""
        drawn = f"Shapley values are means over {self.permutations} orders of the heads{tied}."
        return (drawn, *super().remarks())

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Check that nothing is lost, and compare with captum on the same two orders."""
        orders = draw_orders(len(translator.layout), 2, generator, antithetic=False)
        lost = apart = 0.0
        for batch in self.batches(translator, data):
            ours = mean_gains(translator, batch, orders)
            captums = shapley_by_captum(translator, batch, orders)
            lost = max(lost, incompleteness(translator, batch, ours))
            scale = float(captums.abs().max().clamp(min=torch.finfo(captums.dtype).tiny))
            apart = max(apart, float((ours - captums).abs().max()) / scale)
        return (
            Proof("attributions sum to f(1) - f(0)", lost, TOLERANCE),
            Proof("equal to captum's ShapleyValueSampling on the same orders", apart, TOLERANCE),
        )


def draw_orders(heads: int, count: int, generator: torch.Generator, *, antithetic: bool) -> Tensor:
    """Draw orders, each uniform over all orders  # [order, head].

    Args:
        antithetic: whether every second order is the reverse of the one before.
    """
    drawn: list[Tensor] = []
    while len(drawn) < count:
        order = torch.randperm(heads, generator=generator)
        drawn += [order, order.flip(0)] if antithetic else [order]
    return torch.stack(drawn[:count]) if drawn else torch.empty(0, heads, dtype=torch.long)


def mean_gains(translator: Translator, batch: Batch, orders: Tensor) -> Tensor:
    """Return what each head adds when heads are opened in each order, the mean over orders.

    Args:
        orders: head columns, the one that is opened first in front [order, head]

    Returns:
        nats, float64 on the CPU  # [batch, head]
    """
    count, heads = orders.shape
    place = orders.argsort(1)  # [order, head]
    steps = torch.arange(heads + 1)[:, None]  # [step, 1]
    masks = (place[:, None, :] < steps).flatten(0, 1)  # [order x step, head]
    distinct, which = masks.unique(dim=0, return_inverse=True)
    found = log_probabilities_of_masks(translator, batch, distinct.to(torch.float32))[which]
    walks = found.view(count, heads + 1, len(batch))  # [order, step, batch]
    added = walks.diff(dim=1)  # [order, step, batch]
    by_head = added.gather(1, place[:, :, None].expand_as(added))  # [order, head, batch]
    return by_head.mean(0).T


def shapley_by_captum(translator: Translator, batch: Batch, orders: Tensor) -> Tensor:
    """Return the same by captum, with one whole forward pass a set  # [batch, head]."""
    from captum.attr import ShapleyValueSampling  # slow to import

    def forward(gates: Tensor) -> Tensor:
        return log_probabilities(translator, batch, gates).cpu().double()

    sampling = ShapleyValueSampling(forward)
    sampling.permutation_generator = lambda *_: iter(orders.tolist())
    gates = open_gates(translator.layout, len(batch))
    return sampling.attribute(gates, baselines=0, n_samples=len(orders)).double()
