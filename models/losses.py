"""Cross-entropy, as a measure and as what training minimises.

The measure is -log p of each label in nats. Training minimises the label-smoothed form
(Szegedy et al. 2016; Vaswani et al. 2017, section 5.4): with smoothing e over a vocabulary
of V the target distribution is (1 - e) on the label plus e/V everywhere.

With a vocabulary of thousands the logits are the largest tensor of a training step by far.
`projected_cross_entropy` never holds them whole: it projects a chunk of tokens, takes the
chunk's loss and its gradient at once, and lets the logits go.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

CHUNK = 512
CACHED = 256  # tokens whose logits stay in a cache of some megabytes


def token_cross_entropy(logits: Tensor, labels: Tensor, real: Tensor) -> Tensor:
    """Return -log p of every label in nats, 0 at padding  # [batch, target].

    Args:
        logits: [batch, target, vocabulary]
        labels: [batch, target]
        real: True where a label is not padding [batch, target]
    """
    losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")  # [token]
    return losses.view_as(labels) * real


@torch.no_grad()
def label_losses(states: Tensor, table: Tensor, labels: Tensor, real: Tensor) -> Tensor:
    """Return `token_cross_entropy` of the projected states, without whole logits or a graph.

    Only real labels are projected, and few at a time, so that their logits are still in the
    processor's cache when they are summed.

    Args:
        states: the decoder's last states [batch, target, width]
        table: the output projection [vocabulary, width]
        labels: [batch, target]
        real: True where a label is not padding [batch, target]

    Returns:
        -log p of every label in nats, 0 at padding  # [batch, target]
    """
    exact = torch.promote_types(states.dtype, torch.float32)
    own_states, own_labels = states[real], labels[real, None]  # [token, width], [token, 1]
    losses = torch.empty(len(own_states), dtype=exact, device=states.device)  # [token]
    for start in range(0, len(own_states), CACHED):
        rows = slice(start, start + CACHED)
        logits = (own_states[rows] @ table.T).to(exact)  # [token, vocabulary]
        largest = logits.amax(1, keepdim=True)  # [token, 1]
        chosen = logits.gather(1, own_labels[rows]) - largest  # [token, 1]
        log_total = logits.sub_(largest).exp_().sum(1, keepdim=True).log_()  # [token, 1]
        losses[rows] = (log_total - chosen)[:, 0]
    return torch.zeros(real.shape, dtype=exact, device=real.device).masked_scatter_(real, losses)


def projected_cross_entropy(
    states: Tensor, table: Tensor, labels: Tensor, real: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return the summed smoothed loss, with gradients, and the summed plain loss, in nats.

    Args:
        states: the decoder's last states [token, width]
        table: the output projection [vocabulary, width]
        labels: [token]
        real: True where a label is not padding; the others count for nothing [token]
        smoothing: e above; 0 is plain cross-entropy
    """
    return _ProjectedCrossEntropy.apply(states, table, labels, real, smoothing)


class _ProjectedCrossEntropy(torch.autograd.Function):
    """With p = softmax(z): dL/dz = p - (1 - e) onehot(label) - e/V, chunk by chunk."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, table: Tensor, labels: Tensor, real: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        """Compute loss and gradients together, in the precision of `states`."""
        exact = torch.promote_types(states.dtype, torch.float32)
        weight = table.to(states.dtype)  # [vocabulary, width]
        counts = real[:, None].to(exact)  # [token, 1]
        states = states * counts.to(states.dtype)  # zeros add nothing to the table's gradient
        d_states = torch.empty_like(states)  # [token, width]
        d_table = torch.zeros_like(table)  # [vocabulary, width]
        smoothed = torch.zeros((), device=states.device, dtype=exact)
        plain = torch.zeros((), device=states.device, dtype=exact)
        spread = smoothing / table.shape[0]
        for start in range(0, len(states), CHUNK):
            rows = slice(start, start + CHUNK)
            label, count = labels[rows, None], counts[rows]  # each [token, 1]
            logits = (states[rows] @ weight.T).to(exact)  # [token, vocabulary]
            log_total = logits.logsumexp(-1, keepdim=True)  # [token, 1]
            own = ((log_total - logits.gather(1, label)) * count).sum()
            plain += own
            smoothed += (1 - smoothing) * own
            if smoothing:
                mean = logits.mean(-1, keepdim=True)  # [token, 1]
                smoothed += smoothing * ((log_total - mean) * count).sum()
            d_logits = logits.sub_(log_total).exp_().sub_(spread)  # [token, vocabulary]
            d_logits.scatter_add_(1, label, torch.full_like(log_total, smoothing - 1))
            d_logits = d_logits.to(states.dtype)
            torch.mm(d_logits, weight, out=d_states[rows])
            d_table += d_logits.T @ states[rows]
        ctx.save_for_backward(d_states.mul_(counts), d_table)
        ctx.mark_non_differentiable(plain)
        return smoothed, plain

    @staticmethod
    def backward(ctx: Any, d_smoothed: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the stored gradients by what flows in."""
        d_states, d_table = ctx.saved_tensors
        scale = d_smoothed.to(d_states.dtype)
        return d_states * scale, d_table * d_smoothed, None, None, None
