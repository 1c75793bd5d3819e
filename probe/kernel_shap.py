"""Kernel SHAP: Shapley values by a weighted regression on random sets of heads.

    f(1_S)  ~  b + sum over h in S of v_h        for random sets S of open heads

fitted by least squares with the weights under which the exact solution is the Shapley value
(Lundberg and Lee 2017, theorem 2), by captum's `KernelShap`. The budget `samples` is the
number of sets a sentence; the fit has one unknown a head, so it must be larger.

Pitfall: with a small budget the values are noisy and, unlike sampled permutations, not
unbiased. Pitfall: captum draws from torch's global generator; here it is seeded from the
passed one, and put back afterwards.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.batch import Batch, Tokens
from ..models.data.parallel_text import ParallelText
from ..models.errors import UsageError
from ..models.translator import Translator
from .gate_game import Attribution, log_probabilities
from .importance import Proof, metric
from .slopes import open_gates

TOLERANCE = 0.01


@metric("kernel_shap")
class KernelShap(Attribution):
    """Shapley values by weighted regression on random sets of heads (Lundberg and Lee 2017).

    Args:
        samples: sets of open heads evaluated a sentence; more than there are heads.
    """

    samples: int = 512
    sentences: int | None = 50

    def shares(self, translator: Translator, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return every head's share in nats; see `Attribution.shares`."""
        if self.samples <= len(translator.layout):
            raise UsageError(
                f"kernel_shap fits {len(translator.layout)} heads to {self.samples} samples: "
                "give more samples than heads"
            )
        return torch.cat(
            [self._of_sentence(translator, batch, row, generator) for row in range(len(batch))]
        )

    def _of_sentence(
        self, translator: Translator, batch: Batch, row: int, generator: torch.Generator
    ) -> Tensor:
        """Return the shares in one sentence of the batch  # [1, head]."""
        from captum.attr import KernelShap as OfCaptum  # slow to import

        side_by_side = max(1, self.tokens // batch.target.ids.shape[1])

        def forward(gates: Tensor) -> Tensor:
            copies = copies_of(batch, row, len(gates))
            return log_probabilities(translator, copies, gates).cpu().double()

        seed = int(torch.randint(2**31, (), generator=generator))
        gates = open_gates(translator.layout, 1)
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.random.manual_seed(seed)
            return (
                OfCaptum(forward)
                .attribute(
                    gates,
                    baselines=0,
                    n_samples=self.samples,
                    perturbations_per_eval=side_by_side,
                )
                .double()
            )

    def remarks(self) -> tuple[str, ...]:
        """Say the budget."""
        said = f"Kernel SHAP evaluates {self.samples} sets of heads a sentence."
        return (said, *super().remarks())

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Check that nothing is lost."""
        return (self.completeness(translator, data, generator, TOLERANCE),)


def copies_of(batch: Batch, row: int, count: int) -> Batch:
    """Return a batch of one sentence `count` times, without padding."""

    def side(tokens: Tokens) -> Tokens:
        real = tokens.real[row]
        parts = (part[row, real].expand(count, -1) for part in (tokens.ids, tokens.ordinary))
        ids, ordinary = parts
        return Tokens(ids, torch.ones_like(ordinary), ordinary, full=True)

    indices = batch.indices[row].expand(count)
    return Batch(side(batch.source), side(batch.target), side(batch.labels), indices)
