"""How much blocks of feed-forward units matter.

    taylor:         | dL / dg_b |  at open gates, the mean over sentences
    leave_one_out:  L(g_b = 0) - L(g = 1), nats a token

These are the gradient and the leave-one-out importance of heads (Michel et al. 2019), asked of
the gates of blocks instead; for units the first is the Taylor criterion of Molchanov et al.
2017. It takes one backward pass for all blocks, the second one pass a block.

Pitfall: where a unit is silent its slope is 0, so blocks that speak rarely need many sentences.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..models.data.parallel_text import ParallelText
from ..models.registry import Registry
from ..models.transformer import TransformerTranslator

UnitImportance = Callable[[TransformerTranslator, ParallelText, int], Tensor]

unit_importance: Registry[UnitImportance] = Registry("importance of units")


@unit_importance("taylor")
def taylor(translator: TransformerTranslator, text: ParallelText, block: int) -> Tensor:
    """Absolute slope of a sentence's loss by the gate of a block, in nats  # [block].

    Args:
        text: sentence pairs; the mean is over sentences.
        block: units of a block.
    """
    count = len(translator.network.units.blocks(block))
    total = torch.zeros(count, dtype=torch.float64)
    for batch in translator.batches(text.source, text.target):
        gates = torch.ones(len(batch), count, device=translator.device, requires_grad=True)
        with torch.enable_grad():
            loss = translator.token_losses_of_units(batch, gates, block).sum()
        total += torch.autograd.grad(loss, gates)[0].abs().sum(0).double().cpu()
    return total / len(text)


@unit_importance("leave_one_out")
@torch.no_grad()
def leave_one_out(translator: TransformerTranslator, text: ParallelText, block: int) -> Tensor:
    """Change of the token NLL when a block is closed, in nats a token  # [block]."""
    count = len(translator.network.units.blocks(block))
    total, tokens = torch.zeros(count, dtype=torch.float64), 0
    for batch in translator.batches(text.source, text.target):
        tokens += int(batch.labels.real.sum())
        whole = translator.token_losses(batch).double().sum().cpu()
        for number in range(count):
            gates = torch.ones(1, count, device=translator.device)
            gates[0, number] = 0
            losses = translator.token_losses_of_units(batch, gates, block)
            total[number] += losses.double().sum().cpu() - whole
    return total / tokens
