"""Replaced backward passes, in closed form.

Relevance is carried in GRADIENT FORM: a tensor x with the modified gradient c has the
relevance R = x c. A rule that divides the relevance of z = f(x) among the inputs becomes a
rule for c, in which no division by an activation is left:

| operation | rule | c of the input |
| --- | --- | --- |
| z = x W + b | R_i = sum_j x_i w_ij R_j / z_j | c_i = sum_j w_ij c_j, the plain gradient |
| the same, stabilised | R_j / (z_j + epsilon sign z_j) | c_j z_j / (z_j + epsilon sign z_j) first |
| z = f(x), elementwise | R_x = R_z | c_x = c_z f(x) / x |
| z = a b, both activations | R_a = R_b = R_z / 2 | half the plain gradient each |
| z = (x - mean) / deviation | deviation is a constant | c_x = h - mean h, h = c_z / deviation |

So a masked score of -inf, whose softmax weight is 0, has c = 0 and makes no NaN, while its
relevance, computed as a number, would be -inf times 0.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class ReplacedBackward(torch.autograd.Function):
    """Base of all replaced backward passes, by which a graph's own nodes are recognised."""


class WithSlope(ReplacedBackward):
    """Elementwise: the value is given, and the gradient is multiplied by a given slope."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, value: Tensor, slope: Tensor | float) -> Tensor:
        """Return `value`, as if it were computed from `inputs` with this slope.

        Args:
            inputs, value: of the same shape [...]
            slope: one number, or one each [...]
        """
        ctx.slope = slope
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Multiply by the slope."""
        return gradients[0] * ctx.slope, None, None


class FrozenDeviationNorm(ReplacedBackward):
    """Layer norm whose standard deviation counts as a constant (Ali et al. 2022, section 3.2).

    What is left is linear in x: (x - mean x) w / deviation + b.
    """

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        shape: list[int],
        weight: Tensor | None,
        bias: Tensor | None,
        epsilon: float,
    ) -> Tensor:
        """Normalise over the last `len(shape)` axes of [..., *shape]."""
        value, _, rate = torch.native_layer_norm(inputs, shape, weight, bias, epsilon)
        ctx.axes = tuple(range(-len(shape), 0))
        ctx.save_for_backward(rate, weight)
        return value

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Send back what the centring and the constant factor let through."""
        rate, weight = ctx.saved_tensors
        through = gradients[0] * rate  # [..., *shape]
        if weight is not None:
            through *= weight
        through -= through.mean(ctx.axes, keepdim=True)
        return through, None, None, None, None


def scaled_gradient(inputs: Tensor, factor: float) -> Tensor:
    """Return the same values, through which the gradient comes back multiplied."""
    scaled: Tensor = WithSlope.apply(inputs, inputs.detach(), factor)
    return scaled


def stabilised(inputs: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Return the same values with the epsilon rule's factor in the backward, and that factor.

    The stabiliser has the SIGN of what it stabilises, 0 counting as positive. An unsigned
    one moves negative values towards 0 and beyond, where the division explodes.
    """
    values = inputs.detach()
    divisor = torch.copysign(values.new_tensor(epsilon), values).add_(values)
    share = values / divisor  # between 0 and 1
    return WithSlope.apply(inputs, values, share), share
