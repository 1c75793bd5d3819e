"""Squared gradient: the diagonal of the empirical Fisher information of the gates.

    v_h = (dL / dg_h)^2,    L = - sum over t of log p(y_t | y_<t, x)

at open gates, the mean over sentences. To second order it is the change of the loss when the
head is removed, where the model is at its optimum and its own distribution is that of the
data, for then the Hessian of the loss is the Fisher information (Theis et al. 2018; Kwon et
al. 2022, section 3.3, for masks on heads). It weighs few sentences with a large slope more
than many with a small one, which is how its order differs from the gradient's.

Pitfall: the square is taken once a sentence, of the slope of its summed loss, so long
sentences count for more; taken over a batch's sum, slopes of different signs would cancel.
"""

from __future__ import annotations

import torch

from .importance import metric
from .slope_metric import SlopeMetric
from .stream import BatchView, Folded


@metric("fisher")
class Fisher(SlopeMetric):
    """Squared derivative of the loss by the head's gate (empirical Fisher information)."""

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return "nats²"

    def fold(self, view: BatchView) -> Folded:
        """Return (dL/dg)^2 of every sentence and head, in squared nats."""
        return Folded(view.slopes.square(), torch.ones_like(view.slopes))
