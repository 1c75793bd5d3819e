"""Differentiable subset pruning: exactly k heads, learnt by gradient.

Every head has a score w. With Gumbel noise, taking the k largest of

    r = w + noise x Gumbel(0, 1)

draws k heads without replacement in proportion to exp(w) (the Gumbel top-k trick, Vieira
2014). The largest-k mask is relaxed by k softmaxes in a row, each of which forgets what those
before it took (Plötz & Roth 2018; Xie & Ermon 2019):

    m_1 = softmax(r / tau),  r <- r + log(1 - m),  m_2 = softmax(r / tau), ...,  g = sum of m_j

so the gates always sum to k, and become the hard mask as tau falls. This is the differentiable
subset pruning of Li et al. 2021. By default the forward takes the hard mask and the backward
the soft one (straight-through), so the network never learns to live on half-open heads.

Three things are annealed over the updates. k falls from all heads to the wanted number, since
a trained network does not survive losing most of its heads at once; tau falls geometrically;
and the noise falls to nothing, so that at the end the set stands still while the network
settles on it. Li et al. anneal tau alone and start from fewer heads.

Pitfall: sums of softmaxes exceed 1 for single heads while tau is high (3.3 where 63 of 72 are
drawn at tau = 1), so without the straight-through forward the network sees gates above 1. And
where scores are nearly equal a head's soft mask can fall as its score rises, for what one
softmax takes the next ones lack (a few of 72 heads at tau = 0.1).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from ..gates import Head, HeadLayout
from ..network import Network
from .selector import Selector

TEMPERATURE = (1.0, 0.1)
_TINY = 1e-6


def soft_top_k(scores: Tensor, heads: int, temperature: float) -> Tensor:
    """Return the relaxed mask of the largest `heads` scores [candidate]  # [candidate]."""
    mask = torch.zeros_like(scores)
    for _ in range(heads):
        taken = (scores / temperature).softmax(-1)
        mask = mask + taken
        # A head that is taken whole has to fall below all others, however far it was above.
        left = (1 - taken).clamp_min(torch.finfo(scores.dtype).tiny)
        scores = scores + left.log()
    return mask


def hard_top_k(scores: Tensor, heads: int) -> Tensor:
    """Return 1 for the largest `heads` scores [candidate], 0 for the others  # [candidate]."""
    return torch.zeros_like(scores).index_fill(-1, scores.topk(heads).indices, 1.0)


class SubsetGates(Selector):
    """Gates of which exactly so many are open.

    Args:
        layout: all heads of the network.
        candidates: those that may go; the others have no gate.
        heads: candidates that shall be left.
        updates: of the whole training.
        ramp: updates over which the number of open gates falls to `heads`.
        settle: updates at the end without noise.
        straight_through: whether the forward takes the hard mask.
        learning_rate: of the scores; constant, without weight decay.
    """

    made: Tensor

    def __init__(
        self,
        layout: HeadLayout,
        candidates: Sequence[Head],
        heads: int,
        *,
        updates: int,
        ramp: int,
        settle: int,
        straight_through: bool = True,
        learning_rate: float = 0.05,
    ) -> None:
        super().__init__(layout, candidates)
        self.heads = heads
        self.updates, self.ramp, self.settle = updates, max(1, ramp), settle
        self.straight_through = straight_through
        self.learning_rate = learning_rate
        self.scores = nn.Parameter(torch.zeros(len(candidates)))  # [candidate]
        self.register_buffer("made", torch.zeros((), dtype=torch.long))

    def heads_at(self, update: int) -> int:
        """Return how many gates are open after `update`."""
        total = len(self.candidates)
        return total - round((total - self.heads) * min(1.0, update / self.ramp))

    def temperature_at(self, update: int) -> float:
        """Return tau after `update`."""
        first, last = TEMPERATURE
        return first * (last / first) ** min(1.0, update / max(1, self.updates - self.settle))

    def noise_at(self, update: int) -> float:
        """Return what the Gumbel noise is multiplied by after `update`."""
        return max(0.0, 1 - update / max(1, self.updates - self.settle))

    def gates(self) -> Tensor:
        """Draw one set of heads for a batch  # [1, head]."""
        made = int(self.made)
        heads = self.heads_at(made)
        uniform = torch.rand_like(self.scores).clamp(_TINY, 1 - _TINY)
        noised = self.scores - self.noise_at(made) * (-uniform.log()).log()  # [candidate]
        soft = soft_top_k(noised, heads, self.temperature_at(made))
        if self.straight_through:
            soft = hard_top_k(noised, heads) - soft.detach() + soft
        return self.among_all(soft)

    def strengths(self, network: Network) -> Tensor:
        """Return the soft mask without noise, by which the order goes  # [candidate]."""
        made = int(self.made)
        soft = soft_top_k(self.scores.detach(), self.heads_at(made), self.temperature_at(made))
        return soft.clamp(0, 1)

    def order(self, network: Network) -> tuple[Head, ...]:
        """Return the candidates, that of the lowest score first."""
        lowest = self.scores.detach().cpu().flip(0).argsort(stable=True)
        return tuple(self.candidates[len(self.candidates) - 1 - at] for at in lowest.tolist())

    def after_update(self, update: int, network: Network) -> None:
        """Go on with the annealing."""
        self.made.fill_(update)
        self.keep_record(update, network, price=0.0)
