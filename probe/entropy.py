"""Attention entropy: over how many tokens a head spreads its attention.

    H_i = - sum over key tokens j of  a_ij log a_ij,      v_h = mean over query tokens i of H_i

in nats: 0 where one token gets all, log n where n tokens get the same. LOW entropy is
taken as important, because a sharp head does something definite (Voita et al. 2019 make the
same case for confidence; Ghader and Monz 2017 and Clark et al. 2019 describe heads by
their entropy). That direction is an assumption: a head that averages over the whole sentence
on purpose has a high entropy and may be needed.

Which tokens count is told in `attention_metric.py`. An entropy is defined for weights that
sum to one, so each row IS renormalised over the keys that count: a query whose weight rests
on EOS is judged by how the rest is spread. A query without any weight on such keys counts
nothing. With `keep_special` nothing is left out and the entropy is that of the whole row.

Pitfall: a causal query sees few keys at the start of a sentence, so a decoder head has a low
entropy by necessity. `normalised` divides each H_i by log of the number of keys that count
and that the query can see, which is 1 for an even spread everywhere; a query with a single
such key has no choice and then counts nothing.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from ..models.translator import Translator
from .attention_metric import AttentionMetric, Seen
from .confidence import largest_weight
from .importance import metric


@metric("entropy")
class Entropy(AttentionMetric):
    """Entropy of the attention weights, mean over query tokens; low is taken as important.

    Args:
        keep_special: whether BOS and EOS count as queries and keys.
        normalised: whether each entropy is divided by the largest that it could be.
    """

    normalised: bool = False
    higher_is_important: ClassVar[bool] = False

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return "share of the largest entropy" if self.normalised else "nats"

    def remarks(self) -> tuple[str, ...]:
        """Say which tokens count, and which end is important."""
        tokens = (
            "counts BOS and EOS as queries and as keys"
            if self.keep_special
            else "leaves out BOS and EOS, both as queries and as keys, and renormalises the "
            "attention weights that are left"
        )
        return (f"Entropy {tokens}; a head with low entropy is taken as important.",)

    def by_query(self, translator: Translator, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return each query's entropy; without weight on the keys it has none."""
        entropy, total = row_entropy(seen.weights, seen.keys)  # each [batch, head, query]
        defined = total > 0  # [batch, head, query]
        if self.normalised:
            choices = seen.keys_seen[:, None].to(entropy)  # [batch, 1, query]
            entropy = entropy / choices.clamp(min=2).log()
            defined = defined & (choices > 1)
        return entropy, defined

    @property
    def limits_in_words(self) -> str:
        """The claim that `limits` makes."""
        return "- log of the largest weight <= entropy <= log of the keys that a query sees"

    def limits(self, translator: Translator, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return the entropy that a row with this largest weight has at least, and an even one."""
        kept = seen.keys[:, None, :, None].to(seen.weights.dtype)  # [batch, 1, key, 1]
        total = (seen.weights @ kept).squeeze(-1)  # [batch, head, query]
        largest = largest_weight(seen.weights, seen.queries, seen.keys)  # [batch, head, query]
        choices = seen.keys_seen[:, None].to(total)  # [batch, 1, query]
        least, most = (total / largest).log(), choices.clamp(min=1).log()
        if self.normalised:
            scale = choices.clamp(min=2).log()
            return least / scale, most / scale
        return least, most


def row_entropy(alpha: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Return the entropy of each row over the kept keys, renormalised, and their weight W.

    Args:
        alpha: attention weights, ungated [batch, head, query, key]
        keys: True at the keys that count [batch, key]

    Returns:
        entropy in nats, NaN where W is 0  # [batch, head, query]
        W, between 0 and 1  # [batch, head, query]
    """
    kept = alpha.masked_fill(~keys[:, None, None, :], 0)  # [batch, head, query, key]
    total = kept.sum(-1)  # [batch, head, query]
    # Divided before the logarithm, a single key gets exactly 1 and the entropy is exactly 0.
    return torch.special.entr(kept.div_(total[..., None])).sum(-1), total
