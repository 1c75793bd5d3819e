"""Integrated gradients: the slope of the log-probability, all the way from closed to open.

    v_h = integral over a in (0, 1) of  df/dg_h (a, a, ..., a) da,     f = log p(y | x; g)

with all gates moving together from the baseline 0 to 1 (Sundararajan et al. 2017, eq. 1,
where inputs are pixels or words; here they are the gates). The values of all heads sum to
f(1) - f(0): nothing is lost, unlike with the gradient at g = 1 alone, which sees only the end
of the path. The integral is taken by captum with Gauss-Legendre quadrature.

Pitfall: the path runs through models in which every head is half open, which the network was
never trained for. Pitfall: with few steps the sum is off where f bends sharply; the proof
says how far.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.translator import Translator
from .gate_game import Attribution, log_probabilities
from .importance import Proof, metric
from .slopes import open_gates

TOLERANCE = 0.02  # at 32 steps a trained model loses less than half a per cent of a sentence


@metric("integrated_gradients")
class IntegratedGradients(Attribution):
    """Slope of the log-probability, integrated from closed to open (Sundararajan et al. 2017).

    Args:
        steps: points of the quadrature; each costs a forward and a backward pass.
    """

    steps: int = 32

    def shares(self, translator: Translator, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return every head's part of f(1) - f(0) in nats; see `Attribution.shares`."""
        from captum.attr import IntegratedGradients as OfCaptum  # slow to import

        def forward(gates: Tensor) -> Tensor:
            return log_probabilities(translator, batch, gates)

        return (
            OfCaptum(forward)
            .attribute(
                open_gates(translator.layout, len(batch)),
                baselines=0,
                n_steps=self.steps,
                internal_batch_size=len(batch),  # one step at a time, in constant memory
            )
            .detach()
            .double()
        )

    def remarks(self) -> tuple[str, ...]:
        """Say the baseline and the steps."""
        said = f"Integrated gradients go from closed to open gates in {self.steps} steps."
        return (said, *super().remarks())

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Check that nothing is lost on the way."""
        return (self.completeness(translator, data, generator, TOLERANCE),)
