"""What the proofs of several metrics have in common.

A proof compares two ways to a number, or a number with a bound, on a few sentences of the
run that it is printed beside. Its tolerance is stated in units of the model's own rounding
(`torch.finfo(dtype).eps`, 1.2e-7 in float32), so that one rule fits all precisions.

Pitfall: an error that is NaN is not small. `worst` keeps it, and `Proof.holds` is then False.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .importance import Proof
from .stream import BatchView


def worst(error: float, more: Tensor | float) -> float:
    """Return the largest of an error and further ones; NaN where one of them is NaN."""
    if isinstance(more, Tensor):
        more = more.max().item() if more.numel() else 0.0
    return math.nan if math.isnan(more) or math.isnan(error) else max(error, more)


def relative_error(found: Tensor, expected: Tensor) -> float:
    """Return the largest |found - expected| as a share of the largest |expected|.

    Both of any one shape; the error itself where all that is expected is 0.
    """
    found, expected = found.detach().cpu().double(), expected.detach().cpu().double()
    error = worst(0.0, (found - expected).abs())
    scale = worst(0.0, expected.abs())
    return error / scale if scale else error


@torch.no_grad()
def attention_proofs(views: Sequence[BatchView]) -> tuple[Proof, ...]:
    """Check the pass that shows attention: its rows, its masks, and its logits.

    Args:
        views: batches of a few sentences.
    """
    sums = hidden = logits = 0.0
    for view in views:
        source, target = view.batch.source.real, view.batch.target.real
        for name, weights in view.attention.attention.items():
            queries = source if name.site == "encoder" else target  # [batch, query]
            keys = target if name.site == "decoder" else source  # [batch, key]
            rows = weights.transpose(1, 2)[queries]  # [token, head, key]
            sums = worst(sums, (rows.double().sum(-1) - 1).abs())
            visible = queries[:, :, None] & keys[:, None, :]  # [batch, query, key]
            if name.site == "decoder":
                visible = visible.tril()
            unseen = queries[:, :, None] & ~visible  # [batch, query, key]
            hidden = worst(hidden, weights.permute(0, 2, 3, 1)[unseen])
        fused = view.translator.logits(view.batch)[target]  # [token, vocabulary]
        logits = worst(logits, relative_error(view.attention.logits[target], fused))
    eps = torch.finfo(views[0].attention.logits.dtype).eps
    return (
        Proof("the attention weights of a query sum to 1", sums, 1e2 * eps),
        Proof("padding and later tokens get no attention", hidden, 0.0),
        Proof(
            "logits of the pass that shows attention = logits of the fused one", logits, 1e3 * eps
        ),
    )
