"""What gradient and Fisher share: the slopes of the loss by the gates, and their proof.

The proof compares the slopes with two other ways to them (float64, on a few sentences):

    sum over h of d_h dL/dg_h  =  ( L(1 + e d) - L(1 - e d) ) / 2e      for random signs d
    dL/dg_h  =  sum over queries and features of  context_h * dL/dcontext_h

The first needs no gradient at all. A head whose slope is wrong is wrong in the sum whatever
the signs are, so a few draws check all heads. The second takes the gradient at the heads'
outputs on the explicit attention path, and says for each head what the first says in sum.

Pitfall: the loss has a kink wherever a ReLU is 0; a step that crosses one gives a difference
that is no derivative. The smaller the step, the fewer it crosses and the more it rounds, so
three sizes are tried; a slope that is wrong is wrong at all of them.
"""

from __future__ import annotations

from collections.abc import Hashable

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.losses import token_cross_entropy
from ..models.translator import Translator
from .importance import Proof
from .proving import relative_error, worst
from .slopes import loss_slopes, open_gates
from .stream import Pass, StreamedMetric

STEPS, DRAWS = (1e-5, 1e-6, 1e-7), 2


class SlopeMetric(StreamedMetric):
    """A metric that is a function of dL/dg, sentence by sentence."""

    @property
    def reads(self) -> Pass:
        """One backward pass a batch."""
        return "slopes"

    def proves(self) -> Hashable:
        """All that is proved is the slopes, which every such metric reads."""
        return SlopeMetric, self.tokens

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Check the slopes against differences of the loss and against the heads' outputs."""
        exact = translator.in_precision(torch.float64)
        difference = context = own = 0.0
        dtype = torch.float64
        for batch in self.batches(translator, data):
            slopes = next(loss_slopes(exact, batch))  # [batch, head]
            for _ in range(DRAWS):
                error = _difference_error(exact, batch, slopes, generator)
                difference = worst(difference, error)
            through = slopes_through_context(exact, batch)  # [batch, head]
            context = worst(context, relative_error(slopes, through))
            own = worst(own, relative_error(next(loss_slopes(translator, batch)), slopes))
            dtype = translator.logits(batch).dtype
        rounding = min(1e4 * torch.finfo(dtype).eps, 0.05)
        return (
            Proof("slopes along random signs = central differences (float64)", difference, 1e-5),
            Proof("dL/dg = sum of context x dL/dcontext (float64)", context, 1e-9),
            Proof("slopes in the model's precision = slopes in float64", own, rounding),
        )


def _difference_error(
    translator: Translator, batch: Batch, slopes: Tensor, generator: torch.Generator
) -> float:
    """Compare slopes [batch, head] with central differences along one draw of signs.

    Each sentence is judged by the step that fits it best.
    """
    gates = open_gates(translator.layout, 1)  # [1, head]
    signs = 2.0 * torch.randint(0, 2, gates.shape, generator=generator) - 1  # [1, head]
    along = (slopes.cpu() * signs).sum(1)  # [batch]
    found = []
    for step in STEPS:
        with torch.no_grad():
            above = translator.token_losses(batch, gates + step * signs).sum(1)  # [batch]
            below = translator.token_losses(batch, gates - step * signs).sum(1)  # [batch]
        found.append(((above - below) / (2 * step)).cpu())
    differences = torch.stack(found)  # [step, batch]
    closest = (differences - along).abs().argmin(0, keepdim=True)  # [step, batch]; NaN is least
    return relative_error(along, differences.gather(0, closest)[0])


def slopes_through_context(translator: Translator, batch: Batch) -> Tensor:
    """Return dL/dg as sum(context x dL/dcontext), on the explicit path  # [batch, head]."""
    with torch.enable_grad():
        seen = translator.capture(batch, open_gates(translator.layout, len(batch)), context=True)
        losses = token_cross_entropy(seen.logits, batch.labels.ids, batch.labels.real)
        gradients = torch.autograd.grad(losses.sum(), list(seen.context.values()))
    slopes = torch.zeros(len(batch), len(translator.layout), dtype=losses.dtype)
    for (name, context), gradient in zip(seen.context.items(), gradients, strict=True):
        by_head = (context * gradient).sum((1, 3))  # [batch, head]
        slopes[:, translator.layout.slices[name]] = by_head.detach().cpu()
    return slopes
