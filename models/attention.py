"""Multi-head attention with a gate on every head.

    head_h(Q, K, V) = softmax(score(Q W_Q^h, K W_K^h)) V W_V^h
    attention(Q, K, V) = sum over h of  g_h head_h(Q, K, V) W_O^h + b_O

Vaswani et al. 2017, section 3.2.2, with the gates g_h of Voita et al. 2019, section 5.1.
The gate sits between the head's output and the output projection, so closing a gate and
cutting the head's rows and columns out of the four matrices are the same function.

There are two ways to the same numbers. The fused kernel never forms the attention weights
and is used when nobody looks; the explicit path forms them and is used when a `Recorder`
is passed. Recorded weights and head outputs are the ungated ones: a gated map would be
scaled by something that is not attention, and confidence or entropy of it mean nothing.

Pitfall: scores are divided by the square root of the head's width, which stays as it is
when heads are removed; dividing by width / heads of the smaller model would change it.
"""

from __future__ import annotations

import warnings

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .gates import Attention
from .recorder import Recorder
from .scores import score


class MultiHeadAttention(nn.Module):
    """One attention sublayer, with any number of heads, none included.

    Args:
        name: site and layer of the sublayer.
        width: features of the residual stream.
        ids: original ids of the heads, ascending.
        head_width: features of one head.
        score_name: how queries and keys are compared, from the `score` registry.
    """

    def __init__(
        self, name: Attention, width: int, ids: tuple[int, ...], head_width: int, score_name: str
    ) -> None:
        super().__init__()
        self.name = name
        self.ids = ids
        self.head_width = head_width
        inner = len(ids) * head_width
        linear = nn.Linear if ids else _empty_linear
        self.query = linear(width, inner)
        self.key = linear(width, inner)
        self.value = linear(width, inner)
        self.output = linear(inner, width)
        self.score = score[score_name]
        if not ids:  # these have no elements and never meet a gradient
            for part in (self.query, self.key, self.value):
                part.requires_grad_(False)
            self.output.weight.requires_grad_(False)

    def forward(
        self,
        queries: Tensor,
        memory: Tensor,
        visible: Tensor | None,
        *,
        causal: bool = False,
        gates: Tensor | None = None,
        recorder: Recorder | None = None,
    ) -> Tensor:
        """Attend from every query position to the memory.

        Args:
            queries: [batch, query, width]
            memory: what keys and values are made of; `queries` itself for self-attention
                [batch, key, width]
            visible: True where a key is a real token [batch, key], None when all are
            causal: whether query i sees only keys 0 ... i
            gates: one gate a head [1 or batch, head], None for open ones
            recorder: what to look at; None takes the fused kernel

        Returns:
            The sublayer's output before residual and norm [batch, query, width].
        """
        if not self.ids:
            return self.output.bias.expand(*queries.shape[:2], -1)
        query, key, value = self.projected(queries, memory)  # each [batch, head, token, head_width]
        if recorder is None:
            context = self.score.fused(query, key, value, visible, causal).transpose(1, 2)
        else:
            scores = self.score.explicit(query, key)  # [batch, head, query, key]
            weights = masked_softmax(scores, visible, causal)  # [batch, head, query, key]
            context = (weights @ value).transpose(1, 2)  # [batch, query, head, head_width]
            recorder.saw_attention(self.name, weights, context, value)
        return self.merged(context, gates)

    def projected(self, queries: Tensor, memory: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries, keys and values by head  # each [batch, head, token, head_width]."""
        if queries is memory:  # one matrix product instead of three
            weight = torch.cat((self.query.weight, self.key.weight, self.value.weight))
            bias = torch.cat((self.query.bias, self.key.bias, self.value.bias))
            query, key, value = F.linear(queries, weight, bias).chunk(3, dim=-1)
            return self.by_head(query), self.by_head(key), self.by_head(value)
        return self.by_head(self.query(queries)), *self.remembered(memory)

    def remembered(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values by head  # each [batch, head, key, head_width]."""
        weight = torch.cat((self.key.weight, self.value.weight))
        bias = torch.cat((self.key.bias, self.value.bias))
        key, value = F.linear(memory, weight, bias).chunk(2, dim=-1)
        return self.by_head(key), self.by_head(value)

    def by_head(self, features: Tensor) -> Tensor:
        """Split features into heads  # [batch, head, token, head_width]."""
        return features.unflatten(-1, (len(self.ids), self.head_width)).transpose(1, 2)

    def merged(self, context: Tensor, gates: Tensor | None) -> Tensor:
        """Gate the heads' outputs [batch, query, head, head_width] and project their sum."""
        if gates is not None:
            context = context * gates[:, None, :, None]
        return self.output(context.flatten(2))  # [batch, query, width]


def _empty_linear(inputs: int, outputs: int) -> nn.Linear:
    """Make a layer of no weights without torch's warning that there is nothing to draw."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Initializing zero-element tensors")
        return nn.Linear(inputs, outputs)


def masked_softmax(scores: Tensor, visible: Tensor | None, causal: bool) -> Tensor:
    """Return attention weights that are exactly 0 on hidden keys  # [batch, head, query, key].

    A query always sees at least one key (every sentence ends in EOS or starts with BOS, and
    a causal query sees itself), so no row is empty and none is NaN.
    """
    if visible is not None:
        scores = scores.masked_fill(~visible[:, None, None, :], float("-inf"))
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(later, float("-inf"))
    return scores.softmax(dim=-1)
