"""The position-wise network of every layer: the `feed_forward` family."""

from __future__ import annotations

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

    def forward(self, states: Tensor) -> Tensor:
        """Transform every position by itself  # [batch, token, width]."""
        return self.outer(self.activation(self.inner(states)))
