"""Relevance that passes from each key to each query of a head: a map like attention's.

    R_h(i, j) = alpha_h(i, j)  v_h(j) . c_h(i)

v_h(j) is the value vector of key j, c_h(i) the modified gradient at the head's output for query
i, of the sum of all target positions' starting logits. A head's output is sum_j alpha v, so a
row sums to what the head carries at query i, and the whole map to the head's relevance
(`head_relevance`). Unlike attention, the map is signed, and small where what is looked at is
of no use to what the model says (Kobayashi et al. 2020 correct for the length of v alone).
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...models.batch import Batch
from ...models.gates import Attention
from ...models.translator import Translator
from .tracing import RelevanceSettings, modified_gradients, trace


def relevance_maps(
    translator: Translator, batch: Batch, settings: RelevanceSettings = RelevanceSettings()
) -> dict[Attention, Tensor]:
    """Return the relevance between keys and queries of every head, for one batch.

    One forward and one backward for all heads.

    Args:
        translator: its weights and their gradients stay as they are.
        batch: sentence pairs for teacher forcing.
        settings: rules and start.

    Returns:
        in units of the logit  # each [batch, head, query, key]

    Raises:
        RuleError: the network does something no rule is known for.
    """
    traced = trace(translator, batch, settings, maps=True)
    seen = traced.seen
    names = [name for name in seen.context if seen.context[name].shape[2]]
    outputs = [seen.context[name] for name in names]  # [batch, query, head, head_width]
    slopes = modified_gradients(traced.start, torch.ones_like(traced.start), outputs)
    return {
        name: (
            torch.einsum("bqhd,bhkd->bhqk", slope, seen.values[name]) * seen.attention[name]
        ).detach()
        for name, slope in zip(names, slopes, strict=True)
    }  # each [batch, head, query, key]
