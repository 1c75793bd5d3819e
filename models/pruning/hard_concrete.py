"""Hard-concrete gates: stochastic head gates whose expected number is differentiable.

    u ~ U(0, 1),  s = sigmoid((log u - log(1 - u) + a) / beta),
    g = clip(s (zeta - gamma) + gamma, 0, 1)

(Louizos et al. 2018, eq. 10 and 11; for heads Voita et al. 2019, section 5.1). The stretch
beyond [0, 1] puts probability on exactly 0 and exactly 1, so a gate is open, closed or, less
and less, between, and the probability that it is not closed,

    P(open) = P(g > 0) = sigmoid(a - beta log(-gamma / zeta)),

can be priced in the loss: cross-entropy a token + lambda (1/H) sum over heads of P(open). One
draw serves a whole batch. What is evaluated in the end is never the soft model but the one
whose gates are exactly 0 or 1.

Pitfall: a starts at 2.5 or more, where g is 1 most of the time; at a = 0 every head of the
trained model would be halved at once. Pitfall: gates are not dropout, nothing is divided by
the share that is open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from pydantic import Field
from torch import Tensor, nn

from ..gates import Head, HeadLayout
from ..network import Network
from ..settings import Settings
from .controller import Controller
from .selector import Selector

SMALLEST = 1e-6
"""Draws are kept so far from 0 and 1, where their logarithms are infinite."""


class HardConcrete(Settings):
    """The shape of the distribution.

    Args:
        beta: temperature; 0.33 is Voita's, 2/3 that of Louizos et al.
        gamma, zeta: the interval that s is stretched to, below 0 and above 1.
    """

    beta: float = Field(default=0.33, gt=0)
    gamma: float = Field(default=-0.1, lt=0)
    zeta: float = Field(default=1.1, gt=1)

    def gate(self, a: Tensor, uniform: Tensor) -> Tensor:
        """Return gates for draws from (0, 1), of the shape of both."""
        u = uniform.clamp(SMALLEST, 1 - SMALLEST)
        s = ((u.log() - (-u).log1p() + a) / self.beta).sigmoid()
        return (s * (self.zeta - self.gamma) + self.gamma).clamp(0, 1)

    def open(self, a: Tensor) -> Tensor:
        """Return P(g > 0)."""
        return (a - self.beta * math.log(-self.gamma / self.zeta)).sigmoid()

    def whole(self, a: Tensor) -> Tensor:
        """Return P(g = 1)."""
        return (a - self.beta * math.log((1 - self.gamma) / (self.zeta - 1))).sigmoid()

    def mean(self, a: Tensor, *, steps: int = 10_000) -> Tensor:
        """Return E[g], the integral over t from 0 to 1 of P(g > t), by the midpoint rule."""
        t = (torch.arange(steps, dtype=a.dtype) + 0.5) / steps  # [step]
        beyond = (a[..., None] - self.beta * self._stretched(t).logit()).sigmoid()
        return beyond.mean(-1)

    def _stretched(self, g: Tensor) -> Tensor:
        """Return the s that gives g."""
        return (g - self.gamma) / (self.zeta - self.gamma)


class HardConcreteGates(Selector):
    """Gates that are drawn for every batch, and whose expected number is paid for.

    Args:
        layout: all heads of the network.
        candidates: those that may go; the others have no gate.
        controller: what an open gate costs, update by update.
        shape: of the distribution.
        initial: a at the start, at least 2.5.
        learning_rate: of a; constant, without weight decay.
    """

    def __init__(
        self,
        layout: HeadLayout,
        candidates: Sequence[Head],
        controller: Controller,
        *,
        shape: HardConcrete = HardConcrete(),
        initial: float = 3.0,
        learning_rate: float = 0.05,
    ) -> None:
        super().__init__(layout, candidates)
        self.shape = shape
        self.controller = controller
        self.learning_rate = learning_rate
        self.a = nn.Parameter(torch.full((len(candidates),), initial))  # [candidate]

    def gates(self) -> Tensor:
        """Draw one gate a head for a batch  # [1, head]."""
        return self.among_all(self.shape.gate(self.a, torch.rand_like(self.a)))

    def price(self, network: Network) -> Tensor:
        """Return lambda (1/H) sum of P(open), in nats a token  # []."""
        return self.controller.price * self.shape.open(self.a).mean()

    def strengths(self, network: Network) -> Tensor:
        """Return P(open) of every candidate  # [candidate]."""
        return self.shape.open(self.a.detach())

    def after_update(self, update: int, network: Network) -> None:
        """Let the controller see how many gates are open."""
        self.controller.see(update, float(self.strengths(network).mean()))
        self.keep_record(update, network, price=float(self.controller.price))
