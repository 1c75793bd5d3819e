"""Feature ablation: captum's leave-one-out, the independent check of ours.

    v_h = f(1) - f(1 with g_h = 0),     f = log p(y | x; g)

by captum's `FeatureAblation`, one whole forward pass a head. It must equal `leave_one_out`,
which shares work between the heads and is faster; that is its use.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.translator import Translator
from .gate_game import Attribution, log_probabilities
from .importance import Proof, metric
from .leave_one_out import losses_without_each
from .proving import worst
from .slopes import open_gates


@metric("feature_ablation")
class FeatureAblation(Attribution):
    """Leave-one-out by captum, one forward pass a head; a check of ours, which is faster."""

    def shares(self, translator: Translator, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return what log p falls by without each head in nats; see `Attribution.shares`."""
        from captum.attr import FeatureAblation as OfCaptum  # slow to import

        def forward(gates: Tensor) -> Tensor:
            return log_probabilities(translator, batch, gates).cpu().double()

        gates = open_gates(translator.layout, len(batch))
        return OfCaptum(forward).attribute(gates, baselines=0).double()

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Compare with leave-one-out."""
        error = 0.0
        for batch in self.batches(translator, data):
            ours = losses_without_each(translator, batch)
            tokens = batch.labels.real.sum(1, keepdim=True).cpu()  # [batch, 1]
            difference = (self.shares(translator, batch, generator) - ours) / tokens
            error = worst(error, difference.abs())
        return (Proof("feature ablation = leave-one-out", error, 1e-5, "nats a token"),)
