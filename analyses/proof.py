"""Proof that cutting a head out of the weights is closing its gate.

Every number of a pruning curve is measured on physically smaller models, while importance is
measured with gates. The two are the same function, and a run shows that they were here: the
table `proof` compares, for some points of the curve, the logits of the whole model with
closed gates with the logits of the smaller model, and their translations.

The largest difference is rounding: sums over fewer columns are added in another order. A
translation can differ where two tokens are equally likely to within that rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from ..models.data.parallel_text import ParallelText
from ..models.gates import Head
from ..models.translator import SearchSettings, Translator
from .analysis import spread
from .points import reference_losses
from .removal import Point
from .result import Column

PROOF_BEAM = 5
"""Hypotheses of the search whose outputs are compared where a smaller model is made."""
PROOF = (
    Column("order", "text", "order of removal: a metric, or random"),
    Column("draw", "whole", "which random draw; 0 for a metric"),
    Column("heads_left", "whole", "heads of the smaller model"),
    Column("sentences", "whole", "sentences compared"),
    Column("largest_logit_difference", "number", "largest |masked - cut| over all logits"),
    Column("largest_logit", "number", "largest |logit| of the smaller model, to compare"),
    Column("nll_difference", "number", "|masked - cut| of the token NLL", "nats a token"),
    Column("translations_equal", "whole", "sentences with the same translation"),
)


def proof_points(points: Sequence[Point], count: int) -> list[Point]:
    """Choose `count` points, spread evenly over all where some heads are gone, some left."""
    inner = [point for point in points if point.removed and point.heads_left]
    return [inner[number] for number in spread(len(inner), count)]


def masked_against_cut(
    translator: Translator, point: Point, data: ParallelText, search: SearchSettings
) -> dict[str, Any]:
    """Compare the masked whole model with the smaller one; return a row of `PROOF`.

    Args:
        translator: the whole model.
        point: which heads are gone.
        data: some sentences; padding is left out of the comparison.
        search: how to translate.
    """
    place = {"order": point.order.name, "draw": point.order.draw, "heads_left": point.heads_left}
    return place | compared(translator, point.removed, data, search)


@torch.no_grad()
def compared(
    translator: Translator, removed: Iterable[Head], data: ParallelText, search: SearchSettings
) -> dict[str, Any]:
    """Compare the whole model without `removed`, closed and cut; see `masked_against_cut`."""
    heads = tuple(removed)
    gates = translator.layout.closing(heads)  # [1, head]
    smaller = translator.without(heads)
    difference = largest = 0.0
    masked_loss = 0.0
    for batch in translator.batches(data.source, data.target):
        masked = translator.logits(batch, gates)[batch.labels.real]  # [token, vocabulary]
        cut = smaller.logits(batch)[batch.labels.real]  # [token, vocabulary]
        difference = max(difference, float((masked - cut).abs().max()))
        largest = max(largest, float(cut.abs().max()))
        masked_loss += float(translator.token_losses(batch, gates).cpu().double().sum())
    losses, tokens = reference_losses(smaller, data)
    both = (
        translator.translate(data.source, search, gates=gates),
        smaller.translate(data.source, search),
    )
    return {
        "sentences": len(data.source),
        "largest_logit_difference": difference,
        "largest_logit": largest,
        "nll_difference": abs(masked_loss - sum(losses)) / sum(tokens),
        "translations_equal": sum(a.text == b.text for a, b in zip(*both, strict=True)),
    }
