"""Random order: the null that every importance metric has to beat.

Removing heads in an order that knows nothing of them shows how much of the model is spare
at all. One draw says little, since the first heads to go may be the ones that carry the
answer; the analyses draw ten and show the band they make.

As a metric it gives every head one uniform number, the same on all sentences: its agreement
with other metrics shows how large a rank correlation chance alone makes.
"""

from __future__ import annotations

import numpy as np
import torch

from ..models.data.parallel_text import ParallelText
from ..models.gates import Head, HeadLayout
from ..models.translator import Translator
from .importance import HeadScores, Metric, metric, same_for_all


@metric("random")
class Random(Metric):
    """One random number a head: the null, which knows nothing of the model."""

    def remarks(self) -> tuple[str, ...]:
        """Say that it is one draw."""
        return ("Random is one draw a head, the same on all sentences.",)

    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Draw one number between 0 and 1 for every head; see `Metric.scores`."""
        layout = translator.layout
        drawn = torch.rand(len(layout), generator=generator, dtype=torch.float64)  # [head]
        return same_for_all(layout, data, drawn, "uniform draw")


def random_orders(
    layout: HeadLayout, draws: int, generator: np.random.Generator
) -> list[list[Head]]:
    """Return `draws` orders of all heads, uniform and independent.

    Args:
        layout: the heads.
        draws: how many orders.
        generator: the only source of chance.
    """
    heads = layout.heads
    return [[heads[at] for at in generator.permutation(len(heads))] for _ in range(draws)]
