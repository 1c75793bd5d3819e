"""Learning from what a teacher says: word-level knowledge distillation.

    L = - sum over positions and words of p_teacher(word) log p(word)

under teacher forcing (Hinton et al. 2015; for translation Kim & Rush 2016, section 3.1). A
smaller model learns more from the whole model's distribution than from the one word that a
reference happens to have, since it is told which other words would have done.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ..losses import CHUNK


def distilled_cross_entropy(
    states: Tensor, teacher_states: Tensor, table: Tensor, teacher_table: Tensor, real: Tensor
) -> Tensor:
    """Return the summed cross-entropy with the teacher's distribution, in nats  # [].

    Args:
        states: the student's last states, with gradients [token, width]
        teacher_states: the teacher's [token, width of the teacher]
        table: the student's output projection [vocabulary, width]
        teacher_table: the teacher's [vocabulary, width of the teacher]
        real: True where a label is not padding; the others count for nothing [token]
    """
    exact = torch.promote_types(states.dtype, torch.float32)
    states, teacher_states = states[real], teacher_states[real]
    total = torch.zeros((), device=states.device, dtype=exact)
    for start in range(0, len(states), CHUNK):
        rows = slice(start, start + CHUNK)
        logits = (states[rows] @ table.to(states.dtype).T).to(exact)  # [token, vocabulary]
        with torch.no_grad():
            theirs = teacher_states[rows] @ teacher_table.to(states.dtype).T
            target = theirs.to(exact).softmax(-1)  # [token, vocabulary]
        total = total - (target * F.log_softmax(logits, -1)).sum()
    return total
