"""Group lasso over heads: a price on the norm of each head's weights.

    loss = cross-entropy a token + lambda (1/H) sum over heads of n_h / n_0,
    n_h = sqrt(||W_V^h||^2 + ||W_O^h||^2)

What a head gives is a product of its value and its output weights, so these two blocks are
one group: the norm itself, not its square, is paid for, which pulls whole groups to zero
while the others stay large (Yuan & Lin 2006; for translation Behnke & Heafield 2021). n_0 is
the mean norm at the start, so that lambda is on the scale of the other ways: it is what a
whole set of untouched heads costs.

Heads are ordered by their norm when training ends. Gradient steps bring a norm near zero and
never onto it, so the smallest groups are cut although they still say a little.

Pitfall: layers whose norms are small to begin with lose their heads first. Pitfall: without
training on, the norm says little (it is the control `weight_norm` of the metrics).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..gates import Head
from ..network import Network
from .selector import Selector

CLOSED = 0.05
"""A head whose norm is below this share of the mean norm at the start counts as closed."""


def head_norms(network: Network) -> Tensor:
    """Return n_h of every head of the network, in layout order, with gradients  # [head]."""
    norms = []
    for name, ids in network.layout.by_attention:
        attention = network.attentions[name]
        split = (len(ids), attention.head_width)
        if ids:
            value = attention.value.weight.unflatten(0, split)  # [head, head_width, width]
            output = attention.output.weight.unflatten(1, split)  # [width, head, head_width]
            squares = value.square().sum((1, 2)) + output.square().sum((0, 2))  # [head]
            norms.append(squares.clamp_min(1e-20).sqrt())
    return torch.cat(norms)


class GroupLasso(Selector):
    """A price on the norms of the candidates' weights; it has no gates.

    Args:
        network: as it is before the training, for the scale of the price.
        candidates: heads that may go; only they are paid for.
        price: lambda, in nats a token.
    """

    scale: Tensor

    def __init__(self, network: Network, candidates: Sequence[Head], price: float) -> None:
        super().__init__(network.layout, candidates)
        self.lambda_ = price
        mean = head_norms(network).detach()[self.columns.to(network.output_table.device)].mean()
        self.register_buffer("scale", mean.clamp_min(1e-20))

    def price(self, network: Network) -> Tensor:
        """Return lambda times the mean norm, the norm at the start being 1  # []."""
        return self.lambda_ * self._relative(network).mean()

    def strengths(self, network: Network) -> Tensor:
        """Return every candidate's norm over the mean norm at the start  # [candidate]."""
        with torch.no_grad():
            return self._relative(network)

    def left(self, network: Network) -> int:
        """Return how many candidates have a norm that is not nearly zero."""
        return int((self.strengths(network) >= CLOSED).sum())

    def after_update(self, update: int, network: Network) -> None:
        """Keep a record of the norms."""
        self.keep_record(update, network, price=self.lambda_)

    def _relative(self, network: Network) -> Tensor:
        return head_norms(network)[self.columns] / self.scale
