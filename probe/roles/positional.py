"""Positional heads: heads that look a fixed number of tokens to the left or right.

    share_h(o) = queries i whose largest weight is at key i + o  /  all queries

A head is positional if some offset o has a share of at least 90 % (Voita et al. 2019, section
5.2; they found previous and next token). The whole profile over offsets is kept, because 85 %
at one place is no accident either.

Queries are ordinary tokens. Keys are all real tokens, BOS and EOS as well: a head that rests
on EOS has no fixed offset, and is not made positional by forbidding it EOS. Offsets count
positions of the model's input (pieces, not words). The decoder reads BOS y1 y2 ..., so in
self-attention the first token's previous one is BOS. In cross-attention a query at position t
reads y_t, is about to say y_t+1, and has offset 0 at source token x_t+1 (the one beside the
token that it says) if the languages had the same order.

Pitfall: in a sentence of two tokens there is little else to look at than a neighbour; short
sentences make heads look positional.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...models.gates import HeadLayout
from .walk import Observer, RoleView, summed

FURTHEST = 16
"""Largest offset with a count of its own."""
STRICT = 0.9
"""Share from which a head is called positional."""


@dataclass(frozen=True)
class OffsetProfile:
    """Where heads look, by distance.

    Args:
        layout: the heads, in the order of the columns.
        counts: queries with their largest weight at an offset; offsets -F ... F, and in the
            last bin all that are further away  # [sentence, head, bin]
    """

    layout: HeadLayout
    counts: Tensor

    @property
    def offsets(self) -> range:
        """Return the offset of every bin but the last."""
        furthest = (self.counts.shape[2] - 2) // 2
        return range(-furthest, furthest + 1)

    def shares(self, sentences: Sequence[int] | None = None) -> Tensor:
        """Return the share of queries in every bin, float64  # [head, bin].

        Args:
            sentences: which of them count; all by default. Without any query it is NaN.
        """
        counts = self.counts if sentences is None else self.counts[list(sentences)]
        total = summed(counts)  # [head, bin]
        return total / total.sum(1, keepdim=True)

    def best(self, sentences: Sequence[int] | None = None) -> list[tuple[int, float]]:
        """Return every head's most frequent offset and its share."""
        shares = self.shares(sentences)[:, :-1]  # [head, bin]
        places = shares.argmax(1).tolist()
        return [(self.offsets[bin], float(shares[head, bin])) for head, bin in enumerate(places)]

    def positional(self, share: float = STRICT) -> list[bool]:
        """Tell for every head whether one offset has at least such a share."""
        return [found >= share for _, found in self.best()]


class OffsetObserver(Observer):
    """Counts at which offset the largest weight of every query is.

    Args:
        layout: heads of the model.
        sentences: size of the corpus.
        furthest: largest offset with a bin of its own.
    """

    def __init__(self, layout: HeadLayout, sentences: int, furthest: int = FURTHEST) -> None:
        self.furthest = furthest
        counts = torch.zeros(sentences, len(layout), 2 * furthest + 2, dtype=torch.int16)
        self.profile = OffsetProfile(layout, counts)

    def observe(self, view: RoleView) -> None:
        """Count one batch; see `Observer.observe`."""
        bins = 2 * self.furthest + 2
        for name, weights in view.attention.items():
            queries, _ = view.tokens(name)
            largest = weights.argmax(-1)  # [batch, head, query]
            offset = largest - torch.arange(largest.shape[2], device=largest.device)
            bin = (offset + self.furthest).where(offset.abs() <= self.furthest, bins - 1)
            counts = torch.zeros(*bin.shape[:2], bins, dtype=torch.int32, device=bin.device)
            counted = queries.ordinary[:, None].expand_as(bin).int()  # [batch, head, query]
            counts.scatter_add_(2, bin, counted)
            columns = self.profile.layout.slices[name]
            self.profile.counts[view.batch.indices, columns] = counts.cpu().short()
