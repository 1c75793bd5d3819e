"""Confidence: how sure of one token a head is, on average.

    v_h = mean over query tokens i of  max over key tokens j of  alpha_h(i, j)

Voita et al. 2019, section 4: a confident head puts nearly all its weight on one token.
It needs a forward pass only and reads nothing but attention weights, so it says nothing of
what the head's output is used for: a head whose output is multiplied by zeros can be very
confident.

BOS, EOS and padding are left out, both as queries and as keys, because many heads rest on
EOS when they have nothing to do (Clark et al. 2019, section 3.2) and would look confident
for it. Rows are NOT renormalised over the tokens that are left: a head that rests on EOS is
unsure. `keep_special` keeps BOS and EOS on both sides; padding is never kept. Queries are
source tokens in the encoder and target tokens elsewhere; keys are source tokens in the
encoder and in cross-attention.

The value over a corpus is the mean over its query tokens, not over its sentences. A
sentence without an ordinary query token counts nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.gates import Attention
from ..models.translator import Translator
from .importance import HeadScores, Metric, empty_scores, metric


@metric("confidence")
class Confidence(Metric):
    """Largest attention weight, mean over query tokens (Voita et al. 2019).

    Args:
        keep_special: whether BOS and EOS count as queries and keys.
    """

    keep_special: bool = False

    def remarks(self) -> tuple[str, ...]:
        """Say which tokens count."""
        if self.keep_special:
            return ("Confidence counts BOS and EOS as queries and as keys.",)
        return (
            "Confidence leaves out BOS and EOS, both as queries and as keys; the attention "
            "weights that are left are not renormalised.",
        )

    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Measure every head's confidence; see `Metric.scores`."""
        layout = translator.layout
        values, weights = empty_scores(data, layout), empty_scores(data, layout)
        for batch in self.batches(translator, data):
            with torch.no_grad():
                attention = translator.capture(batch, attention=True).attention
            for name, alpha in attention.items():
                queries, keys = tokens_seen(batch, name, self.keep_special)
                largest = largest_weight(alpha, queries, keys)  # [batch, head, query]
                count = queries.sum(1, keepdim=True).cpu().double()  # [batch, 1]
                mean = largest.cpu().double().sum(2) / count.clamp(min=1)  # [batch, head]
                columns = layout.slices[name]
                values[batch.indices, columns] = mean
                weights[batch.indices, columns] = count.expand_as(mean)
        return HeadScores(layout, values, weights, unit="share of the attention")


def largest_weight(alpha: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Return each query's largest weight on the kept keys, 0 for queries that are not kept.

    Args:
        alpha: attention weights, ungated [batch, head, query, key]
        queries, keys: True at the tokens that count [batch, query], [batch, key]

    Returns:
        weights between 0 and 1  # [batch, head, query]
    """
    kept = queries[:, None, :, None] & keys[:, None, None, :]  # [batch, 1, query, key]
    return alpha.masked_fill(~kept, 0).amax(-1)  # [batch, head, query]


def tokens_seen(batch: Batch, name: Attention, keep_special: bool) -> tuple[Tensor, Tensor]:
    """Return which tokens count as queries and as keys of an attention.

    Returns:
        two masks  # [batch, query], [batch, key]
    """
    query_side = batch.source if name.site == "encoder" else batch.target
    key_side = batch.target if name.site == "decoder" else batch.source
    if keep_special:
        return query_side.real, key_side.real
    return query_side.ordinary, key_side.ordinary
