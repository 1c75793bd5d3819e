"""Weight norm: how large a head's value and output weights are, the cheap control.

    v_h = || W_O^h ||_F  || W_V^h ||_F

It reads no text: whatever a metric knows beyond it, it has learnt from the data. The
product of the norms is an upper bound of the norm of the product W_V W_O, through which
alone a head acts on the values that it reads, and is 0 exactly where one of them is.

Every sentence gets the same value, so the interval over sentences has no width. Pitfall: the
scale of the residual stream differs between layers and a norm before the head undoes it, so
the weights of different layers are hardly comparable.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ..models.data.parallel_text import ParallelText
from ..models.gates import Attention, HeadLayout
from ..models.translator import Translator
from .importance import HeadScores, Metric, Proof, metric, same_for_all
from .proving import relative_error


@metric("weight_norm")
class WeightNorm(Metric):
    """Norm of the output weights times norm of the value weights; reads no text."""

    def remarks(self) -> tuple[str, ...]:
        """Say that text has no part in it."""
        return ("Weight norm reads no text, so it has no interval over sentences.",)

    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Measure every head's weights; see `Metric.scores`."""
        return same_for_all(translator.layout, data, weight_norms(translator), "product of norms")

    @torch.no_grad()
    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Check the norms against singular values, and that their product bounds W_V W_O."""
        norms = weight_norms(translator)  # [head]
        spectral, products = torch.zeros_like(norms), torch.zeros_like(norms)
        for name, columns in filled(translator.layout):
            weights = translator.head_weights(name)
            value, output = weights.value.cpu().double(), weights.output.cpu().double()
            singular = [torch.linalg.svdvals(part).square().sum(-1) for part in (value, output)]
            spectral[columns] = (singular[0] * singular[1]).sqrt()
            products[columns] = (value @ output).flatten(1).norm(dim=1)
        above = (products - norms).clamp(min=0)  # [head]
        return (
            Proof("norm^2 = sum of squared singular values", relative_error(norms, spectral), 1e-9),
            Proof("||W_V W_O|| <= ||W_V|| ||W_O||", relative_error(above + norms, norms), 1e-9),
        )


def weight_norms(translator: Translator) -> Tensor:
    """Return ||W_O|| ||W_V|| of every head, float64 on the CPU  # [head]."""
    norms = torch.zeros(len(translator.layout), dtype=torch.float64)
    for name, columns in filled(translator.layout):
        weights = translator.head_weights(name)
        value, output = (
            part.detach().cpu().double().flatten(1).norm(dim=1)  # [head]
            for part in (weights.value, weights.output)
        )
        norms[columns] = value * output
    return norms


def filled(layout: HeadLayout) -> Iterator[tuple[Attention, slice]]:
    """Yield the attentions that have heads left, with their gate columns."""
    for name, columns in layout.slices.items():
        if columns.start < columns.stop:
            yield name, columns
