"""Proof that cutting a head out of the weights is closing its gate.

Every number of a pruning curve is measured on physically smaller models, while importance is
measured with gates. The two are the same function, and a run shows that they were here: the
table `proof` compares, for every point of the curve, the logits of the whole model with closed
gates with the logits of the smaller model, and their translations by a beam. The masked
models translate side by side, a row of gates for every sentence of each.

The largest difference is rounding: sums over fewer columns may be added in another order. Where
they are added in the same, it is exactly 0, for a closed head adds zeros. A translation can
differ where two tokens are equally likely to within that rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from ..models.data.parallel_text import ParallelText
from ..models.gates import Head
from ..models.translator import SearchSettings, Translator
from .analysis import spread
from .points import reference_losses, translations_of_masks
from .removal import Point
from .result import Column, Table

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


def proof_points(points: Sequence[Point], count: int | None) -> list[Point]:
    """Return the points where some heads are gone and some left, or `count` of them, evenly."""
    inner = [point for point in points if point.removed and point.heads_left]
    return inner if count is None else [inner[it] for it in spread(len(inner), count)]


def proof_table(
    translator: Translator, points: Sequence[Point], data: ParallelText, search: SearchSettings
) -> Table:
    """Compare the masked whole model with the smaller one at every point; each model once.

    Args:
        translator: the whole model.
        points: of the curve, see `proof_points`.
        data: some sentences; padding is left out of the comparison.
        search: how to translate; its beam is `PROOF_BEAM` at least.
    """
    sets = list(dict.fromkeys(point.removed for point in points))
    beam = search.with_changes(beam=max(PROOF_BEAM, search.beam))
    found = dict(zip(sets, compared_each(translator, sets, data, beam), strict=True))
    rows = [
        {"order": it.order.name, "draw": it.order.draw, "heads_left": it.heads_left}
        | found[it.removed]
        for it in points
    ]
    n = f"{len(data)} sentences ({data.name}) a model, beam {beam.beam}"
    return Table.of("Closed gates against heads cut out of the weights.", PROOF, rows, n=n)


def compared(
    translator: Translator, removed: Iterable[Head], data: ParallelText, search: SearchSettings
) -> dict[str, Any]:
    """Compare the whole model without `removed`, closed and cut; see `compared_each`."""
    return compared_each(translator, [tuple(removed)], data, search)[0]


def compared_each(
    translator: Translator,
    sets: Sequence[Iterable[Head]],
    data: ParallelText,
    search: SearchSettings,
) -> list[dict[str, Any]]:
    """Compare the whole model without each of some sets of heads, closed and cut.

    Returns:
        the last columns of `PROOF`, one row a set.
    """
    if not sets:
        return []
    said = translations_of_masks(translator, sets, data.source, search)
    found = []
    for removed, masked in zip(sets, said, strict=True):
        smaller = translator.without(removed)
        cut = [it.text for it in smaller.translate(data.source, search)]
        equal = sum(a == b for a, b in zip(masked, cut, strict=True))
        row = _logits_compared(translator, translator.layout.closing(removed), smaller, data)
        found.append({"sentences": len(data), **row, "translations_equal": equal})
    return found


@torch.no_grad()
def _logits_compared(
    translator: Translator, gates: Tensor, smaller: Translator, data: ParallelText
) -> dict[str, float]:
    """Return how far the logits of the whole model under `gates` [1, head] are from the cut's."""
    difference = largest = 0.0
    masked_loss = 0.0
    for batch in translator.batches(data.source, data.target):
        masked = translator.logits(batch, gates)[batch.labels.real]  # [token, vocabulary]
        cut = smaller.logits(batch)[batch.labels.real]  # [token, vocabulary]
        difference = max(difference, float((masked - cut).abs().max()))
        largest = max(largest, float(cut.abs().max()))
        masked_loss += float(translator.token_losses(batch, gates).cpu().double().sum())
    losses, tokens = reference_losses(smaller, data)
    return {
        "largest_logit_difference": difference,
        "largest_logit": largest,
        "nll_difference": abs(masked_loss - sum(losses)) / sum(tokens),
    }
