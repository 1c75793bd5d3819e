"""What confidence, entropy and the attention norm share: which tokens count.

Each of them gives a number to every query token of a head and takes the mean over the query
tokens of the corpus, not over its sentences. A sentence without a query token that counts
counts nothing.

BOS, EOS and padding are left out, both as queries and as keys, because many heads rest on
EOS when they have nothing to do (Clark et al. 2019, section 3.2) and would look sharp for
it. `keep_special` keeps BOS and EOS on both sides; padding is never kept. Queries are
source tokens in the encoder and target tokens elsewhere; keys are source tokens in the
encoder and in cross-attention. What is done with the weight on keys that are left out is
each metric's own choice, and its remark says it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.gates import Attention
from ..models.translator import Translator
from .stream import BatchView, Folded, Pass, StreamedMetric


@dataclass(frozen=True)
class Seen:
    """One attention sublayer of a batch, as a metric reads it.

    Args:
        name: site and layer.
        weights: attention weights, ungated  # [batch, head, query, key]
        values: what they average  # [batch, head, key, head_width]
        queries: True at the tokens that count as queries  # [batch, query]
        keys: True at the tokens that count as keys  # [batch, key]
    """

    name: Attention
    weights: Tensor
    values: Tensor
    queries: Tensor
    keys: Tensor

    @property
    def keys_seen(self) -> Tensor:
        """Return how many keys that count each query can see  # [batch, query]."""
        if self.name.site == "decoder":  # causal: query i sees keys 0 ... i
            return self.keys.cumsum(1)
        return self.keys.sum(1, keepdim=True).expand_as(self.queries)


class AttentionMetric(StreamedMetric):
    """A mean over query tokens of something read from the attention weights.

    Args:
        keep_special: whether BOS and EOS count as queries and keys.
    """

    keep_special: bool = False

    @property
    def reads(self) -> Pass:
        """The forward pass that shows attention weights."""
        return "attention"

    @abstractmethod
    def by_query(self, translator: Translator, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return each query's value and whether it has one.

        Returns:
            values, anything where undefined  # [batch, head, query]
            True where defined; `seen.queries` need not be looked at  # [batch, 1 or head, query]
        """

    def fold(self, view: BatchView) -> Folded:
        """Take the mean over each sentence's query tokens; the weight is their number."""
        layout = view.translator.layout
        shape = (len(view.batch), len(layout))
        values, weights = (torch.zeros(shape, dtype=torch.float64) for _ in range(2))
        for name in view.attention.attention:
            seen = self.seen(view, name)
            found, defined = self.by_query(view.translator, seen)
            counted = (defined & seen.queries[:, None]).expand_as(found)  # [batch, head, query]
            # To the CPU first: not every kind of device can compute in float64.
            count = counted.sum(2).cpu().double()  # [batch, head]
            total = found.where(counted, 0).cpu().double().sum(2)  # [batch, head]
            values[:, layout.slices[name]] = total / count.clamp(min=1)
            weights[:, layout.slices[name]] = count
        return Folded(values, weights)

    def seen(self, view: BatchView, name: Attention) -> Seen:
        """Return one attention sublayer of a batch under this metric's choice of tokens."""
        capture = view.attention
        tokens = tokens_seen(view.batch, name, self.keep_special)
        return Seen(name, capture.attention[name], capture.values[name], *tokens)


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
