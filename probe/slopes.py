"""The slope of the loss by every head's gate, for all heads in one backward pass.

    dL / dg_h  at open gates g = 1,    L = - sum over t of log p(y_t | y_<t, x)

Every sentence has its own row of gates, so the gradient of the loss summed over a batch
holds one slope a sentence and head: sentences do not see one another.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.gates import HeadLayout
from ..models.translator import Translator


def loss_slopes(
    translator: Translator, batch: Batch, *, by_token: bool = False
) -> Iterator[Tensor]:
    """Yield dL/dg at open gates, in nats  # each [batch, head].

    Args:
        by_token: whether to yield once a target position (the loss of that token alone)
            instead of once for the summed loss of the sentences.
    """
    gates = open_gates(translator.layout, len(batch)).requires_grad_()
    with torch.enable_grad():
        losses = translator.token_losses(batch, gates)  # [batch, target]
        sums = losses.unbind(1) if by_token else [losses]
    for last, loss in enumerate(sums, 1):
        more = last < len(sums)
        if gates.numel():
            yield torch.autograd.grad(loss.sum(), gates, retain_graph=more)[0]
        else:  # all heads are gone, and with them the loss's only way back to the gates
            yield gates.detach()


def open_gates(layout: HeadLayout, rows: int) -> Tensor:
    """Return open gates in float64, whose gradient then is float64 too  # [row, head]."""
    return layout.ones(rows, dtype=torch.float64)
