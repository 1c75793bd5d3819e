"""One sentence, two dropout masks, one answer: R-Drop (Liang et al. 2021, section 2).

Dropout trains many thinned networks, but translates with the whole one, so what they say
should agree. Every batch is read twice, each time under masks of its own, and a token pays,
with p and q the two distributions,

    L = 1/2 (CE(p) + CE(q)) + w 1/2 (KL(p || q) + KL(q || p)),

where 1/2 (KL(p || q) + KL(q || p)) = 1/2 sum over words of (p - q)(log p - log q). The paper
adds the two cross-entropies instead of taking their mean, so its alpha is 2 w.

The gradients with respect to the logits of p are, with d = log p - log q,

    dCE/dz = p - (1 - e) onehot(label) - e/V,    dKL/dz = 1/2 [p (d - sum p d) + p - q],

and those of q the same with the two exchanged. They are taken chunk by chunk with the loss, so
that the logits of both readings are projected once and never held whole (compare
`projected_cross_entropy`).

Pitfall: an update takes twice the time. Without dropout both readings are equal and the second
is wasted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from ..batch import Batch, Tokens
from ..losses import CHUNK


def read_twice(batch: Batch) -> Batch:
    """Return a batch with all its sentences, and then all again."""
    source, target, labels = map(_twice, (batch.source, batch.target, batch.labels))
    return Batch(source, target, labels, batch.indices.repeat(2))


def _twice(side: Tokens) -> Tokens:
    both = {name: getattr(side, name).repeat(2, 1) for name in ("ids", "real", "ordinary")}
    return replace(side, **both)


def consistent_cross_entropy(
    states: Tensor, table: Tensor, labels: Tensor, real: Tensor, smoothing: float, weight: float
) -> tuple[Tensor, Tensor]:
    """Return the summed loss above, with gradients, and the summed plain loss, in nats.

    Args:
        states: the decoder's last states of both readings [reading, token, width]
        table: the output projection [vocabulary, width]
        labels: [token]
        real: True where a label is not padding; the others count for nothing [token]
        smoothing: e above; 0 is plain cross-entropy
        weight: w above
    """
    return _ConsistentCrossEntropy.apply(states, table, labels, real, smoothing, weight)


class _ConsistentCrossEntropy(torch.autograd.Function):
    """Loss and gradients of both readings together, chunk by chunk."""

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        table: Tensor,
        labels: Tensor,
        real: Tensor,
        smoothing: float,
        weight: float,
    ) -> tuple[Tensor, Tensor]:
        """Compute loss and gradients together, in the precision of `states`."""
        exact = torch.promote_types(states.dtype, torch.float32)
        columns = table.to(states.dtype)  # [vocabulary, width]
        own = states[:, real]  # [reading, real token, width]
        own_labels = labels[real]  # [real token]
        d_own = torch.empty_like(own)
        d_table = torch.zeros_like(table)  # [vocabulary, width]
        total = torch.zeros((), device=states.device, dtype=exact)
        plain = torch.zeros((), device=states.device, dtype=exact)
        for start in range(0, own.shape[1], CHUNK):
            rows = slice(start, start + CHUNK)
            logits = (own[:, rows] @ columns.T).to(exact)  # [reading, token, vocabulary]
            logs = logits.sub_(logits.logsumexp(-1, keepdim=True))  # [reading, token, vocabulary]
            loss, said, d_logits = _loss_and_slope(logs, own_labels[rows], smoothing, weight)
            total += loss
            plain += said
            slope = d_logits.to(states.dtype)  # [reading, token, vocabulary]
            d_own[:, rows] = slope @ columns
            d_table += slope.flatten(0, 1).T @ own[:, rows].flatten(0, 1)
        d_states = torch.zeros_like(states)
        d_states[:, real] = d_own
        ctx.save_for_backward(d_states, d_table)
        ctx.mark_non_differentiable(plain)
        return total, plain

    @staticmethod
    def backward(ctx: Any, d_total: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Scale the stored gradients by what flows in."""
        d_states, d_table = ctx.saved_tensors
        scaled = d_states * d_total.to(d_states.dtype)
        return scaled, d_table * d_total, None, None, None, None


def _loss_and_slope(
    logs: Tensor, labels: Tensor, smoothing: float, weight: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return summed loss, summed plain loss, and the gradient with respect to the logits.

    Args:
        logs: log p and log q [reading, token, vocabulary]
        labels: [token]
    """
    label = labels.expand(2, -1)[..., None]  # [reading, token, 1]
    plain = -logs.gather(-1, label).sum() / 2
    loss = (1 - smoothing) * plain - smoothing * logs.mean(-1).sum() / 2
    chances = logs.exp()  # [reading, token, vocabulary]
    apart = logs[0] - logs[1]  # [token, vocabulary]
    between = chances[0] - chances[1]  # [token, vocabulary]
    loss = loss + weight * (between * apart).sum() / 2
    slope = chances - smoothing / logs.shape[-1]
    slope.scatter_add_(-1, label, torch.full_like(label, smoothing - 1, dtype=logs.dtype))
    for reading, sign in ((0, 1), (1, -1)):
        p, d = chances[reading], sign * apart  # each [token, vocabulary]
        pull = p * (d - (p * d).sum(-1, keepdim=True)) + sign * between
        slope[reading].add_(pull, alpha=weight)
    return loss, plain, slope.div_(2)
