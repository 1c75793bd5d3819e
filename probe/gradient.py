"""Gradient importance: how fast the loss changes when a head is turned down.

    v_h = | dL / dg_h |,    L = - sum over t of log p(y_t | y_<t, x)

at open gates g = 1, the mean over sentences (Michel et al. 2019, eq. 2). To first order it
is the change of the sentence's loss when the head is removed, up to its sign. One backward
pass gives all heads (`slopes.py`).

Where the absolute value is taken changes the number, since what is summed before it can
cancel. Following the equation, it is taken once a sentence; `token` takes it for every
target token before summing over the sentence (one backward pass a position), and `batch`
takes it of the sum over a batch, as code that reads `parameter.grad` does, which makes the
result depend on the batch size.

Pitfall: a head can have a small gradient and still be needed, where the loss is flat at
g = 1 and steep further down; leave-one-out is the exact question.
"""

from __future__ import annotations

from typing import Literal

import torch

from .importance import metric
from .slope_metric import SlopeMetric
from .stream import BatchView, Folded, Pass


@metric("gradient")
class Gradient(SlopeMetric):
    """Absolute derivative of the loss by the head's gate (Michel et al. 2019).

    Args:
        absolute: what is summed before the absolute value is taken: the tokens of a
            `sentence`, nothing (`token`), or the sentences of a `batch`.
    """

    absolute: Literal["token", "sentence", "batch"] = "sentence"

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return "nats"

    @property
    def reads(self) -> Pass:
        """One backward pass a batch, or one a target position."""
        return "slopes_by_token" if self.absolute == "token" else "slopes"

    def remarks(self) -> tuple[str, ...]:
        """Say where the absolute value is taken."""
        return (f"The absolute value of the gradient is taken once a {self.absolute}.",)

    def fold(self, view: BatchView) -> Folded:
        """Return |dL/dg| of every sentence and head, in nats.

        With `absolute="batch"` every sentence of a batch gets the batch's value, divided by
        its sentences, so that the mean over sentences is the sum over batches / sentences.
        """
        if self.absolute == "token":
            sizes = view.slopes_by_token.abs().sum(0)  # [batch, head]
        elif self.absolute == "batch":
            sizes = view.slopes.mean(0).abs().expand_as(view.slopes)  # [batch, head]
        else:
            sizes = view.slopes.abs()  # [batch, head]
        return Folded(sizes, torch.ones_like(sizes))
