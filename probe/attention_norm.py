"""Attention norm: how long the vectors are that a head adds to the residual stream.

    v_h = mean over query tokens i of  sum over key tokens j of  || alpha_h(i, j) f_h(x_j) ||,
    f_h(x) = (x W_V^h + b_V^h) W_O^h

Kobayashi et al. 2020, section 3: an attention weight says little where the vector that it
multiplies is short, as those of separators often are. The norm of the product sees both.
The aggregation is this project's: summed over keys, since the head adds all of them, and
the mean over query tokens.

The norm needs no vector of the model's width: with the Gram matrix G = W_O W_O^T of a head,
||v W_O||^2 = v G v^T, so a key costs head_width^2 operations and no memory of its own.

Which tokens count is told in `attention_metric.py`; weights are not renormalised, and what a
head adds from BOS and EOS counts only with `keep_special`.

Pitfall: a long vector need not matter, since norms and later layers rescale the stream and
vectors from different keys can cancel: || sum of alpha f || is never above v_h, often far
below. Layers differ in the length of their streams, so compare within a layer.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..models.translator import Translator
from .attention_metric import AttentionMetric, Seen
from .importance import Proof, metric
from .proving import relative_error, worst
from .stream import BatchView


@metric("attention_norm")
class AttentionNorm(AttentionMetric):
    """Attention weight times length of the value it carries (Kobayashi et al. 2020).

    Args:
        keep_special: whether BOS and EOS count as queries and keys.
    """

    @property
    def unit(self) -> str:
        """Unit of the values."""
        return "l2 norm"

    def remarks(self) -> tuple[str, ...]:
        """Say which tokens count, and how they are put together."""
        tokens = "counts" if self.keep_special else "leaves out"
        return (
            "Attention norm is the sum over keys of ||attention x value x output weights||, the "
            f"mean over query tokens; it {tokens} BOS and EOS, both as queries and as keys.",
        )

    def by_query(self, translator: Translator, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return what is added to each query, in lengths; every query has a value."""
        output = translator.head_weights(seen.name).output  # [head, head_width, width]
        lengths = value_lengths(seen.values, output)  # [batch, head, key]
        lengths = lengths.masked_fill(~seen.keys[:, None], 0)
        added = (seen.weights @ lengths[..., None]).squeeze(-1)  # [batch, head, query]
        return added, seen.queries[:, None]

    @property
    def limits_in_words(self) -> str:
        """The claim that `limits` makes."""
        return "norm of the sum over keys <= sum of the norms <= weight x the longest value"

    def limits(self, translator: Translator, seen: Seen) -> tuple[Tensor, Tensor]:
        """Return the length of what the head adds in all, and that without any short value."""
        output = translator.head_weights(seen.name).output  # [head, head_width, width]
        weights = seen.weights.masked_fill(~seen.keys[:, None, None], 0)
        added = weights @ seen.values @ output  # [batch, head, query, width]
        lengths = (seen.values @ output).norm(dim=-1)  # [batch, head, key]
        longest = lengths.masked_fill(~seen.keys[:, None], 0).amax(-1, keepdim=True)
        return added.norm(dim=-1), weights.sum(-1) * longest

    @torch.no_grad()
    def own_proofs(self, views: Sequence[BatchView], eps: float) -> tuple[Proof, ...]:
        """Check the Gram matrix against vectors of the model's width."""
        error = 0.0
        for view in views:
            for name, values in view.attention.values.items():
                output = view.translator.head_weights(name).output
                formed = (values.double() @ output.double()).norm(dim=-1)  # [batch, head, key]
                error = worst(error, relative_error(value_lengths(values, output), formed))
        return (Proof("||v W_O|| by the Gram matrix = the norm of the vector", error, 1e4 * eps),)


def value_lengths(values: Tensor, output: Tensor) -> Tensor:
    """Return ||v W_O|| of every value vector v, without forming v W_O.

    Args:
        values: [batch, head, key, head_width]
        output: [head, head_width, width]

    Returns:
        l2 norms  # [batch, head, key]
    """
    gram = output @ output.transpose(-1, -2)  # [head, head_width, head_width]
    squares = (values @ gram * values).sum(-1)  # [batch, head, key]
    return squares.clamp(min=0).sqrt()
