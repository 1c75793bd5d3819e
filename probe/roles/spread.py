"""How different are the heads of a layer, and how much gradient reaches it?

Two things are called the variance of heads, and they are not the same:

    gap         mean Jensen-Shannon distance between the MAPS of the layer's heads
                (`redundancy.py`)
    variance    sum over tokens and heads |o_h - mean o|^2 / sum over both |o_h|^2,
                o_h = what head h ADDS to the residual stream, its output times W_O

variance is 0 where all heads add the same, 1 - 1/heads where what they add is orthogonal and as
long, and more where they work against each other. Beside them stands

    gradient    root mean square over tokens of |dL/dz|, z = all outputs of the layer's heads,
                L = token cross-entropy summed over the sentence, in nats

which is what vanishing gradients would make small in lower layers (Zhang et al. 2019, "Improving
Deep Transformer with Depth-Scaled Initialization and Merged Attention").
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ...models.batch import Batch
from ...models.gates import Attention
from ...models.losses import token_cross_entropy
from ...models.translator import Translator
from .walk import Side


class Spread(NamedTuple):
    """Of one attention sublayer: variance between what heads add, and gradient in nats."""

    variance: float
    gradient: float


def spread_by_layer(
    translator: Translator, sides: tuple[Side, Side], *, tokens: int = 256
) -> dict[Attention, Spread]:
    """Return the spread of every attention that has heads, in one forward and backward.

    Args:
        translator: the model; its weights take no gradient.
        sides: sentences to read.
        tokens: padded tokens a batch, at most; few, because the slope keeps every token's
            scores of all words of the vocabulary.
    """
    texts = [[sentence.text for sentence in side.sentences] for side in sides]
    sums: dict[Attention, Tensor] = {}
    for batch in translator.batches(texts[0], texts[1], tokens=tokens):
        for name, found in _sums(translator, batch).items():
            sums[name] = sums.get(name, torch.zeros(4, dtype=torch.float64)) + found
    return {
        name: Spread(float(between / total), float((squares / count).sqrt()))
        for name, (between, total, squares, count) in sums.items()
    }


def _sums(translator: Translator, batch: Batch) -> dict[Attention, Tensor]:
    """Return sums over the real query tokens of a batch.

    Returns:
        |o_h - mean o|^2, |o_h|^2, |dL/dz|^2 and 1, float64  # each [4]
    """
    with torch.enable_grad():
        gates = translator.layout.ones().to(translator.device).requires_grad_()  # [1, head]
        seen = translator.capture(batch, gates, context=True)
        loss = token_cross_entropy(seen.logits, batch.labels.ids, batch.labels.real).sum()
        names = [name for name in seen.context if seen.context[name].shape[2]]
        outputs = [seen.context[name] for name in names]  # [batch, query, head, head_width]
        slopes = torch.autograd.grad(loss, outputs, allow_unused=True, materialize_grads=True)
    with torch.no_grad():
        return {
            name: _of_layer(translator, batch, name, output, slope)
            for name, output, slope in zip(names, outputs, slopes, strict=True)
        }


def _of_layer(
    translator: Translator, batch: Batch, name: Attention, output: Tensor, slope: Tensor
) -> Tensor:
    """Return the sums of one layer.

    Args:
        output: of its heads, and `slope` of the loss by it
            # each [batch, query, head, head_width]
    """
    real = (batch.source if name.site == "encoder" else batch.target).real  # [batch, query]
    weight = translator.head_weights(name).output  # [head, head_width, width]
    added = torch.einsum("thd,hdw->thw", output[real], weight)  # [token, head, width]
    apart = added - added.mean(1, keepdim=True)
    parts = (apart.square().sum(), added.square().sum(), slope[real].square().sum(), real.sum())
    return torch.stack([part.double().cpu() for part in parts])
