"""Confidence: how sure of one token a head is, on average.

    v_h = mean over query tokens i of  max over key tokens j of  alpha_h(i, j)

Voita et al. 2019, section 4: a confident head puts nearly all its weight on one token.
It needs a forward pass only and reads nothing but attention weights, so it says nothing of
what the head's output is used for: a head whose output is multiplied by zeros can be very
confident.

Which tokens count is told in `attention_metric.py`. Rows are NOT renormalised over the
tokens that are left: a head that rests on EOS is unsure.
"""

from __future__ import annotations

from torch import Tensor

from ..models.translator import Translator
from .attention_metric import AttentionMetric, Seen
from .importance import metric


@metric("confidence")
class Confidence(AttentionMetric):
    """Largest attention weight, mean over query tokens (Voita et al. 2019).

    Args:
        keep_special: whether BOS and EOS count as queries and keys.
    """

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return "share of the attention"

    def remarks(self) -> tuple[str, ...]:
        """Say which tokens count."""
        if self.keep_special:
            return ("Confidence counts BOS and EOS as queries and as keys.",)
        return (
            "Confidence leaves out BOS and EOS, both as queries and as keys; the attention "
            "weights that are left are not renormalised.",
        )

    def by_query(self, translator: Translator, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return each query's largest weight; every query has one."""
        return largest_weight(seen.weights, seen.queries, seen.keys), seen.queries[:, None]

    @property
    def limits_in_words(self) -> str:
        """The claim that `limits` makes."""
        return "mean of the weights <= the largest weight <= their sum"

    def limits(self, translator: Translator, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return the mean and the sum of the weights on the keys that a query sees."""
        kept = seen.keys[:, None, :, None].to(seen.weights.dtype)  # [batch, 1, key, 1]
        total = (seen.weights @ kept).squeeze(-1)  # [batch, head, query]
        return total / seen.keys_seen[:, None].clamp(min=1), total


def largest_weight(alpha: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Return each query's largest weight on the kept keys, 0 for queries that are not kept.

    Args:
        alpha: attention weights, ungated [batch, head, query, key]
        queries, keys: True at the tokens that count [batch, query], [batch, key]

    Returns:
        weights between 0 and 1  # [batch, head, query]
    """
    largest = alpha.masked_fill(~keys[:, None, None, :], 0).amax(-1)  # [batch, head, query]
    return largest.masked_fill(~queries[:, None, :], 0)
