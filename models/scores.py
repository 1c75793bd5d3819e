"""How a query is compared with a key: the `score` family.

A member gives three functions that agree: `explicit` returns the scores, for those who want
to see the attention weights, `fused` goes straight to the heads' outputs, and `newest` does so
for the few queries of a decoding step.
"""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F

from .registry import Registry


class Score(Protocol):
    """What a member of the family offers."""

    @staticmethod
    def explicit(query: Tensor, key: Tensor) -> Tensor:
        """Return unmasked scores  # [batch, head, query, key]."""
        ...

    @staticmethod
    def fused(
        query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None, causal: bool
    ) -> Tensor:
        """Return the heads' outputs  # [batch, head, query, head_width]."""
        ...

    @staticmethod
    def newest(query: Tensor, key: Tensor, value: Tensor, added: Tensor | None) -> Tensor:
        """Return the heads' outputs, `added` being added to the scores, in evaluation alone.

        Args:
            added: 0, or -inf for what is hidden [1 or batch, 1, query, key]

        Returns:
            # [batch, head, query, head_width]
        """
        ...


score: Registry[type[Score]] = Registry("score")

FEW = 32
"""Heads of all sentences together up to which one kernel is faster with one query each."""


@score("scaled_dot")
class ScaledDot:
    """Dot product over the square root of the head's width (Vaswani et al. 2017, eq. 1)."""

    @staticmethod
    def explicit(query: Tensor, key: Tensor) -> Tensor:
        """Return q k' / sqrt(head_width)  # [batch, head, query, key]."""
        return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])

    @staticmethod
    def fused(
        query: Tensor, key: Tensor, value: Tensor, visible: Tensor | None, causal: bool
    ) -> Tensor:
        """Return the heads' outputs from one kernel  # [batch, head, query, head_width].

        Padding is always on the right, so the causal mask alone hides it from every real
        query: with `causal` the padding mask is left out and the faster kernel is taken.
        On a CPU the kernel's backward in bfloat16 is over ten times slower than in float32,
        so a training step there attends in float32.
        """
        mask = None if causal or visible is None else visible[:, None, None, :]
        slow = query.device.type == "cpu" and query.dtype == torch.bfloat16
        if slow and torch.is_grad_enabled():
            with torch.autocast("cpu", enabled=False):
                parts = (query.float(), key.float(), value.float())
                return F.scaled_dot_product_attention(*parts, mask, is_causal=causal)
        return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)

    @staticmethod
    def newest(query: Tensor, key: Tensor, value: Tensor, added: Tensor | None) -> Tensor:
        """Return the heads' outputs, from one kernel or from two products of matrices.

        For one sentence a step is a string of tiny operations, of which the kernel spares some:
        8 microseconds a sublayer instead of 15. With one query in each of many sentences
        products of matrices are faster (66 microseconds against 78 with 16 sentences of 8
        heads).
        """
        sentences, heads, queries, head_width = query.shape
        if queries > 1 or sentences * heads <= FEW:
            return F.scaled_dot_product_attention(query, key, value, added)
        scores = query * (1 / math.sqrt(head_width)) @ key.mT  # [batch, head, query, key]
        if added is not None:
            scores += added
        return scores.softmax(-1) @ value
