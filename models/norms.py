"""Normalisation and its place: the `norm` and `norm_place` families.

Vaswani et al. 2017 normalise after the residual sum (`post`): norm(x + f(x)). Later models
normalise the sublayer's input (`pre`): x + f(norm(x)), and the whole stack's output once
(Xiong et al. 2020). Post-norm is usually a little better where it trains; pre-norm needs
less warm-up and stands deeper stacks.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from .dropout import Dropout
from .registry import Registry

norm: Registry[Callable[[int], nn.Module]] = Registry("norm")
norm_place: Registry[type[Residual]] = Registry("norm place")

Sublayer = Callable[[Tensor], Tensor]


@norm("layer")
def layer_norm(width: int) -> nn.Module:
    """Zero mean and unit variance over the features of each token (Ba et al. 2016)."""
    return nn.LayerNorm(width, eps=1e-5)


class Residual(nn.Module):
    """A sublayer wrapped in dropout, residual sum and norm; the members choose the order."""

    ends_in_norm = False

    def __init__(self, norm_name: str, width: int, dropout: float) -> None:
        super().__init__()
        self.norm = norm[norm_name](width)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, sublayer: Sublayer) -> Tensor:
        """Apply the wrapped sublayer to [batch, token, width]."""
        raise TypeError("choose a member of the norm_place family")


@norm_place("post")
class PostNorm(Residual):
    """norm(x + dropout(f(x))), as in Vaswani et al. 2017, section 3.1."""

    ends_in_norm = True

    def forward(self, states: Tensor, sublayer: Sublayer) -> Tensor:
        """Apply the wrapped sublayer to [batch, token, width]."""
        return self.norm(states + self.dropout(sublayer(states)))


@norm_place("pre")
class PreNorm(Residual):
    """x + dropout(f(norm(x))), as in Xiong et al. 2020; the stack ends in one more norm."""

    def forward(self, states: Tensor, sublayer: Sublayer) -> Tensor:
        """Apply the wrapped sublayer to [batch, token, width]."""
        return states + self.dropout(sublayer(self.norm(states)))
