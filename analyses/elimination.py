"""A step of greedy backward elimination: which head is the next to go?

Each head that is left is closed in turn, beside those that are gone already, and the one
without which the references are likeliest goes. So every removal is judged in the model that
it is made in, by the loss itself. To the last head it takes H (H + 1) / 2 readings of the
text, which is why the readings share all that a mask cannot change
(`Translator.token_losses_of_masks`).

Of heads that cost the same the last in the layout goes first, as in the order that a metric
makes (`HeadScores.removal_order`).

Pitfall: greedy is not optimal; two heads of which one can stand in for the other are seen
only when the first has gone.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ..models.batch import Batch
from ..models.gates import Head
from ..models.translator import Translator


def cheapest_first(
    translator: Translator, batches: Sequence[Batch], removed: Sequence[Head], left: Sequence[Head]
) -> list[Head]:
    """Return the heads that are left, the one that costs least in front.

    Args:
        batches: validation text.
        removed: heads that are gone.
        left: heads that may go next.
    """
    losses = losses_without(translator, batches, removed, left)
    column = translator.layout.column_of
    return sorted(left, key=lambda head: (losses[head], -column(head)))


@torch.no_grad()
def losses_without(
    translator: Translator, batches: Sequence[Batch], removed: Sequence[Head], each: Sequence[Head]
) -> dict[Head, float]:
    """Return the summed NLL of all batches without `removed` and one head more, in nats.

    Args:
        batches: validation text.
        removed: heads that are closed in any case.
        each: heads that are closed one at a time.
    """
    layout = translator.layout
    masks = layout.closing(removed).repeat(len(each), 1)  # [mask, head]
    for row, head in enumerate(each):
        masks[row, layout.column_of(head)] = 0
    sums = [0.0] * len(each)
    for batch in batches:
        for row, losses in translator.token_losses_of_masks(batch, masks):
            sums[row] += float(losses.double().sum())
    return dict(zip(each, sums, strict=True))
