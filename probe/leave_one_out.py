"""Leave-one-out: what the loss costs more when one head alone is cut out.

    v_h = ( L(g_h = 0) - L(g = 1) ) / T

in nats a token of the reference translation, exact, for every head (Michel et al. 2019,
section 3.2, ask the same of BLEU). It is the ground truth that cheaper metrics try to
guess. It is signed: a negative value says that the model is better off without the head.

The value over a corpus is the mean over target tokens (EOS included), which is the
difference of the two corpus NLLs.

Cost: well below one forward pass a head; what a head cannot change is computed once for all
heads (`models/ablation.py`). Pitfall: what can be spared alone need not be spared together;
when two heads do the same work, each alone looks idle.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.translator import Translator
from .gate_game import Attribution, log_probabilities, log_probabilities_of_masks
from .importance import Proof, metric
from .proving import worst


@metric("leave_one_out")
class LeaveOneOut(Attribution):
    """Change of the token NLL when the head alone is removed (exact; Michel et al. 2019)."""

    def shares(self, translator: Translator, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return what each sentence's summed loss gains without each head  # [batch, head]."""
        return losses_without_each(translator, batch)

    @torch.no_grad()
    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Compare with one whole forward pass a head."""
        error = 0.0
        for batch in self.batches(translator, data):
            found = losses_without_each(translator, batch)  # [batch, head]
            whole = log_probabilities(translator, batch, translator.layout.ones())  # [batch]
            for column, mask in enumerate(translator.layout.each_closed()):
                without = log_probabilities(translator, batch, mask[None])  # [batch]
                cost = (whole - without).cpu().double()  # [batch]
                tokens = batch.labels.real.sum(1).cpu()  # [batch]
                error = worst(error, ((found[:, column] - cost) / tokens).abs())
        claim = "shared work equals one whole forward pass a head"
        return (Proof(claim, error, 1e-5, "nats a token"),)


@torch.no_grad()
def losses_without_each(translator: Translator, batch: Batch) -> Tensor:
    """Return what each sentence's summed loss gains when each head is closed, in nats.

    Returns:
        float64 on the CPU; exactly 0 for a head that changes nothing  # [batch, head]
    """
    layout = translator.layout
    masks = torch.cat((layout.ones(), layout.each_closed()))  # [1 + head, head]
    # The open model goes through the same steps, so an idle head costs exactly nothing.
    found = log_probabilities_of_masks(translator, batch, masks)  # [1 + head, batch]
    return (found[0] - found[1:]).T
