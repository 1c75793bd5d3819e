"""Leave-one-out: what the loss costs more when one head alone is cut out.

    v_h = ( L(g_h = 0) - L(g = 1) ) / T

in nats a token of the reference translation, exact, for every head (Michel et al. 2019,
section 3.2, ask the same of BLEU). It is the ground truth that cheaper metrics try to
guess. It is signed: a negative value says that the model is better off without the head.

The value over a corpus is the mean over target tokens (EOS included), which is the
difference of the two corpus NLLs.

Cost: at most one forward pass a head and one more; what comes before the head is computed
once for all heads (`models/ablation.py`). Pitfall: what can be spared alone need not be
spared together; when two heads do the same work, each alone looks idle.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.translator import Translator
from .importance import HeadScores, Metric, empty_scores, metric


@metric("leave_one_out")
class LeaveOneOut(Metric):
    """Change of the token NLL when the head alone is removed (exact; Michel et al. 2019)."""

    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Measure the cost of every head in nats a token; see `Metric.scores`."""
        layout = translator.layout
        values, weights = empty_scores(data, layout), empty_scores(data, layout)
        for batch in self.batches(translator, data):
            tokens = batch.labels.real.sum(1, keepdim=True).cpu().double()  # [batch, 1]
            values[batch.indices] = losses_without_each(translator, batch) / tokens
            weights[batch.indices] = tokens.expand(-1, len(layout))
        return HeadScores(layout, values, weights, unit="nats a token")


@torch.no_grad()
def losses_without_each(translator: Translator, batch: Batch) -> Tensor:
    """Return what each sentence's summed loss gains when each head is closed, in nats.

    Returns:
        float64 on the CPU; exactly 0 for a head that changes nothing  # [batch, head]
    """
    whole = sentence_sums(translator.token_losses(batch))  # [batch]
    gains = [sentence_sums(it) - whole for it in translator.token_losses_without_each(batch)]
    return torch.stack(gains, dim=1) if gains else whole.new_zeros(len(batch), 0)


def sentence_sums(losses: Tensor) -> Tensor:
    """Sum token losses [batch, target] by sentence, in float64 on the CPU  # [batch]."""
    # To the CPU first: not every kind of device can compute in float64.
    return losses.cpu().double().sum(1)
