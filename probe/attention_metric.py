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
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.gates import Attention
from ..models.translator import Translator
from .importance import Proof
from .proving import attention_proofs, relative_error, worst
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

    @abstractmethod
    def limits(self, translator: Translator, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return bounds of each query's value that are found in another way.

        Returns:
            the smallest and the largest that it can be  # each [batch, 1 or head, query]
        """

    @property
    @abstractmethod
    def limits_in_words(self) -> str:
        """The claim that `limits` makes."""

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

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Check the pass that is read, the bounds of each query, and that padding is nothing."""
        alone = self.with_changes(tokens=1).scores(translator, data, generator)
        together = self.scores(translator, data, generator)
        apart = relative_error(together.values, alone.values)
        views = [BatchView(translator, batch) for batch in self.batches(translator, data)]
        eps = torch.finfo(views[0].attention.logits.dtype).eps
        return (
            *attention_proofs(views),
            Proof(self.limits_in_words, self._beyond_limits(views), 1e3 * eps),
            Proof("a sentence alone = the sentence in a padded batch", apart, 1e3 * eps),
            *self.own_proofs(views, eps),
        )

    def own_proofs(self, views: Sequence[BatchView], eps: float) -> tuple[Proof, ...]:
        """Check what only this metric computes.

        Args:
            views: batches of a few sentences.
            eps: of the model's precision.
        """
        return ()

    @torch.no_grad()
    def _beyond_limits(self, views: Sequence[BatchView]) -> float:
        """Return how far values lie outside their limits, as a share of the largest limit."""
        beyond = largest = 0.0
        for view in views:
            for name in view.attention.attention:
                seen = self.seen(view, name)
                found, defined = self.by_query(view.translator, seen)
                counted = (defined & seen.queries[:, None]).expand_as(found)
                low, high = (
                    limit.expand_as(found)[counted] for limit in self.limits(view.translator, seen)
                )
                outside = torch.maximum(low - found[counted], found[counted] - high)
                beyond = worst(beyond, outside.clamp(min=0))
                largest = worst(largest, high.abs())
        return beyond / largest if largest else beyond

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
