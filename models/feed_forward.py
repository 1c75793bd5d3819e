"""The position-wise network of every layer: the `feed_forward` family.

Its inner features are called units. Like a head, a unit can have a gate that multiplies what
it puts out; gates are an argument of the forward, None for open ones, so the ordinary way is as
short as if there were none (see `units.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from .registry import Registry

feed_forward: Registry[type[nn.Module]] = Registry("feed-forward")


@feed_forward("relu")
class ReluFeedForward(nn.Module):
    """max(0, x W_1 + b_1) W_2 + b_2 (Vaswani et al. 2017, eq. 2).

    Args:
        width: features of the residual stream.
        inner: features between the two layers.
    """

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, inner)
        self.activation = nn.ReLU()
        self.outer = nn.Linear(inner, width)

    def forward(self, states: Tensor, gates: Tensor | None = None) -> Tensor:
        """Transform every position by itself  # [batch, token, width].

        Args:
            gates: of the units [1 or batch, unit], None for open ones
        """
        units = self.activation(self.inner(states))  # [batch, token, unit]
        return self.outer(units if gates is None else units * gates[:, None, :])


def gated(network: nn.Module, gates: Tensor | None) -> Callable[[Tensor], Tensor]:
    """Return a feed-forward network with its gates, itself where there are none."""
    return network if gates is None else partial(network, gates=gates)
