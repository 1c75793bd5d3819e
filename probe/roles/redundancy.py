"""Which heads do the same? Distances between heads of a site, streamed.

Two heads of a site see the same queries and keys, so their maps can be compared query by query.
With p and q the weights of two heads for one query, and n the keys that this query sees,

    JS(p, q) = H((p + q) / 2) - (H(p) + H(q)) / 2    in bits, 0 to 1,
    distance = sqrt( sum over queries of JS / sum over queries of (1 - 1/n) ).

1 - 1/n is what two heads that each rest on a random visible key differ by on average. It
NORMALISES for causal attention: the first query of the decoder sees one key, where all heads
agree by force and nothing is learned from it, and early queries can differ little. Distance 0
is the same map, 1 is unlike as chance; heads that avoid each other go beyond. Queries and keys
are all real tokens.

Two heads with one map can still carry different things, so two more likenesses stand beside:

    CKA = |X'Y|_F^2 / (|X'X|_F |Y'Y|_F)              of the heads' centred outputs X, Y
          (Kornblith et al. 2019): 1 is the same up to rotation and scale
    overlap = |A'B|_F^2 / d                          mean squared cosine of the principal angles
          between the spaces that two heads write to (rows of W_O, orthonormal bases A, B of
          dimension d): 1 is the same space, d / width is expected of random ones

Pitfall: CKA of few tokens, fewer than ten times the head's width, is near 1 for anything.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...models.gates import Attention, Head, HeadLayout
from ...models.translator import Translator
from .walk import Observer, RoleView


class LikenessObserver(Observer):
    """Sums what distances and CKA of one site's heads are made of; holds no map.

    Args:
        layout: heads of the model.
        site: whose heads are compared, across layers too.
    """

    wants_context = True

    def __init__(self, layout: HeadLayout, site: str) -> None:
        self.heads = tuple([head for head in layout.heads if head.site == site])
        self.names = [at for at, ids in layout.by_attention if at.site == site and ids]
        size = len(self.heads)
        self.divergence = torch.zeros(size, size, dtype=torch.float64)  # bits, summed
        self.reference = 0.0
        self.tokens = 0
        self.sums: Tensor | None = None  # [feature]
        self.products: Tensor | None = None  # [feature, feature]

    def observe(self, view: RoleView) -> None:
        """Sum one batch; see `Observer.observe`."""
        if not self.heads:
            return
        weights = torch.cat([view.attention[name] for name in self.names], dim=1)
        queries, keys = view.tokens(self.names[0])
        real = queries.real  # [batch, query]
        rows = weights.transpose(1, 2)[real].float()  # [token, head, key]
        self.divergence += divergences(rows).cpu()
        count = keys.real.sum(1)[:, None].expand(real.shape)  # [batch, query]
        if self.names[0].site == "decoder":
            count = torch.arange(1, real.shape[1] + 1, device=real.device).expand(real.shape)
        self.reference += float((1 - 1 / count[real].double()).sum())
        outputs = torch.cat([view.context[name] for name in self.names], dim=2)
        features = outputs[real].double().flatten(1).cpu()  # [token, feature]
        if self.sums is None or self.products is None:
            width = features.shape[1]
            self.sums = torch.zeros(width, dtype=torch.float64)
            self.products = torch.zeros(width, width, dtype=torch.float64)
        self.sums += features.sum(0)
        self.products += features.T @ features
        self.tokens += len(features)

    def distances(self) -> Tensor:
        """Return the distance of all pairs of maps, NaN where no query sees two keys.

        Returns:
            float64, symmetric, 0 on the diagonal  # [head, head]
        """
        return (
            (self.divergence / self.reference if self.reference else self.divergence * torch.nan)
            .clamp(min=0)
            .sqrt()
        )

    def cka(self) -> Tensor:
        """Return linear CKA of all pairs of outputs, float64  # [head, head]."""
        size = len(self.heads)
        if self.sums is None or self.products is None:
            return torch.full((size, size), torch.nan, dtype=torch.float64)
        centred = self.products - torch.outer(self.sums, self.sums) / self.tokens
        blocks = centred.unflatten(0, (size, -1)).unflatten(2, (size, -1))
        like = blocks.square().sum((1, 3))  # [head, head]
        norms = like.diagonal().sqrt()  # [head]
        return like / torch.outer(norms, norms)


def divergences(rows: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of all pairs of heads, summed over queries, in bits.

    Args:
        rows: attention of every head for every query [token, head, key]

    Returns:
        float64, symmetric  # [head, head]
    """
    heads = rows.shape[1]
    entropy = entropies(rows)  # [head]
    found = torch.zeros(heads, heads, dtype=torch.float64, device=rows.device)
    for one in range(heads - 1):  # one head against all later ones: memory stays that of a map
        mixed = entropies((rows[:, one, None] + rows[:, one + 1 :]) / 2)  # [later]
        found[one, one + 1 :] = mixed - (entropy[one] + entropy[one + 1 :]) / 2
    return found + found.T


def entropies(rows: Tensor) -> Tensor:
    """Return the entropy of every head in bits, summed over queries, float64  # [head].

    Args:
        rows: [token, head, key]
    """
    return -torch.xlogy(rows, rows).sum(2).double().sum(0) / torch.log(torch.tensor(2.0))


def overlaps(translator: Translator, heads: tuple[Head, ...]) -> Tensor:
    """Return how far the spaces that heads write to overlap, float64  # [head, head].

    Args:
        translator: whose weights are read.
        heads: of any sites.
    """
    bases = []
    for head in heads:
        at = Attention(head.site, head.layer)
        column = translator.layout.ids_at(*at).index(head.head)
        output = translator.head_weights(at).output[column].double().cpu()  # [head_width, width]
        bases.append(torch.linalg.qr(output.T).Q)  # [width, head_width]
    stacked = torch.stack(bases)  # [head, width, head_width]
    cosines = torch.einsum("awi,bwj->abij", stacked, stacked)
    return cosines.square().sum((2, 3)) / stacked.shape[2]


def expected_overlap(translator: Translator, head: Head) -> float:
    """Return the overlap that is expected of random spaces: head width / width."""
    head_width, width = translator.head_weights(Attention(head.site, head.layer)).output.shape[1:]
    return min(1.0, head_width / width)
