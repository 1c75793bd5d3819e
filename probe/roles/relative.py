"""The head's mean map by relative position, and block heads, which stay inside a stretch of text.

    m_h(o)      = sum over pairs (i, i + o) of alpha_h(i, i + o)  /  number of such pairs
    inside_h    = attention from words to words of their own block  /  words that ask
    expected_h  = sum over pairs inside a block of m_h(key - query) /  words that ask

The mean map says how a head attends if only distance counted (the histogram of offsets in
`positional.py` counts where the LARGEST weight is, this is all of it). A block is a stretch
between two punctuation marks, in most texts a clause or a member of a list. Kovaleva et al.
2019 ("Revealing the Dark Secrets of BERT") call heads with such maps BLOCK heads, and found
them by eye. Any head that looks at neighbours stays in its block, so `inside` alone says
nothing: a block head stays there more than its own mean map by distance explains.

Queries are the ordinary tokens, keys the ordinary tokens that the query sees. Blocks are asked
for in sentences with two blocks or more, and `expected` uses the mean map of those sentences.
Punctuation marks are in no block. Query and key of cross-attention are words of two languages,
which share no block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from ...models.gates import SITES, Attention, HeadLayout
from .sinks import is_mark
from .walk import Observer, RoleView, Side, summed

FURTHEST = 16
"""Largest offset with a bin of its own."""
NO_BLOCK = -1
AT_ONCE = 100
"""Resamples that are summed at once."""
Array = NDArray[np.float64]


class Blocks(NamedTuple):
    """How far every head stays in its block, as shares of its attention  # [resample, head].

    Args:
        inside: attention that stays.
        expected: what its mean map by distance gives.
    """

    inside: Array
    expected: Array

    @property
    def lead(self) -> Array:
        """Return what distance does not explain  # [resample, head]."""
        return self.inside - self.expected


@dataclass(frozen=True)
class RelativeMap:
    """Sums over queries, sentence by sentence; offsets are -F ... F, and all further away.

    Args:
        layout: the heads.
        weight: attention by offset  # [sentence, head, bin]
        inside: attention that stays in the query's block  # [sentence, head]
        pairs: queries with a key at an offset  # [sentence, site, bin]
        inside_pairs: pairs of a block, 0 in sentences of one block  # [sentence, site, bin]
        asked: words in a block, 0 in sentences of one block  # [sentence, site]
        queries: words that ask  # [sentence, site]
    """

    layout: HeadLayout
    weight: Tensor
    inside: Tensor
    pairs: Tensor
    inside_pairs: Tensor
    asked: Tensor
    queries: Tensor

    @property
    def offsets(self) -> range:
        """Return the offset of every bin but the last."""
        furthest = (self.weight.shape[2] - 2) // 2
        return range(-furthest, furthest + 1)

    @property
    def site(self) -> list[int]:
        """Return the site of every head, by its place in `SITES`."""
        return [SITES.index(head.site) for head in self.layout]

    def mean(self) -> Tensor:
        """Return the mean map, NaN where no query has a key so far, float64  # [head, bin]."""
        return summed(self.weight) / summed(self.pairs)[self.site]

    def mass(self) -> Tensor:
        """Return the attention of a mean query by offset, float64  # [head, bin].

        Rows sum to the attention that goes to words; the rest goes to BOS and EOS.
        """
        return summed(self.weight) / summed(self.queries)[self.site, None]

    def blocks(self, times: NDArray[np.integer] | None = None) -> Blocks:
        """Return how far heads stay in their block; NaN where there are no blocks.

        Args:
            times: how often each resample has a sentence; by default all once
                [resample, sentence]
        """
        weigh = torch.ones(1, len(self.asked)) if times is None else torch.from_numpy(times)
        some = (self.asked.sum(1) > 0).float()  # [sentence]
        parts = [self._blocks(each.float() * some) for each in weigh.split(AT_ONCE)]
        return Blocks(*(torch.cat(it).double().numpy() for it in zip(*parts, strict=True)))

    def _blocks(self, weigh: Tensor) -> tuple[Tensor, Tensor]:
        """Return `Blocks` of some resamples  # each [resample, head].

        Args:
            weigh: how often each has a sentence  # [resample, sentence]
        """
        weight, inside, pairs, inside_pairs, asked = (
            torch.tensordot(weigh, counts, dims=1)  # [resample, head or site, ...]
            for counts in (self.weight, self.inside, self.pairs, self.inside_pairs, self.asked)
        )
        site = self.site
        shares = torch.where(pairs > 0, inside_pairs / pairs, 0)  # [resample, site, bin]
        expected = (weight * shares[:, site]).sum(2)  # [resample, head]
        return inside / asked[:, site], expected / asked[:, site]


class RelativeObserver(Observer):
    """Sums attention by relative position, and inside blocks.

    Args:
        layout: heads of the model.
        sentences: size of the corpus.
        furthest: largest offset with a bin of its own.
    """

    def __init__(self, layout: HeadLayout, sentences: int, furthest: int = FURTHEST) -> None:
        self.furthest = furthest
        bins = 2 * furthest + 2
        self.found = RelativeMap(
            layout,
            weight=torch.zeros(sentences, len(layout), bins),
            inside=torch.zeros(sentences, len(layout)),
            pairs=torch.zeros(sentences, len(SITES), bins),
            inside_pairs=torch.zeros(sentences, len(SITES), bins),
            asked=torch.zeros(sentences, len(SITES)),
            queries=torch.zeros(sentences, len(SITES)),
        )

    def observe(self, view: RoleView) -> None:
        """Sum one batch; see `Observer.observe`."""
        here, found = view.batch.indices, self.found
        where: dict[str, tuple[Tensor, Tensor]] = {}
        for name, weights in view.attention.items():
            if name.site not in where:
                where[name.site] = self._pairs(view, name)
            seen, same = where[name.site]
            columns = found.layout.slices[name]
            weights = weights * seen  # [batch, head, query, key]
            found.weight[here, columns] = by_offset(weights, self.furthest).cpu()
            if name.site != "cross":
                found.inside[here, columns] = (weights * same).sum((2, 3)).float().cpu()

    def _pairs(self, view: RoleView, name: Attention) -> tuple[Tensor, Tensor]:
        """Count the pairs of a site, and return which see each other, and which share a block.

        Returns:
            1 or 0  # each [batch, 1, query, key]
        """
        queries, keys = view.tokens(name)
        seen = queries.ordinary[:, :, None] & keys.ordinary[:, None]  # [batch, query, key]
        if name.site == "decoder":
            seen = seen.tril()
        here, found, site = view.batch.indices, self.found, SITES.index(name.site)
        found.queries[here, site] = queries.ordinary.sum(1).float().cpu()
        found.pairs[here, site] = by_offset(seen[:, None].float(), self.furthest)[:, 0].cpu()
        if name.site == "cross":
            return seen[:, None].float(), torch.zeros(())
        side = view.source if name.site == "encoder" else view.target
        pieces = [piece for index in here.tolist() for piece in _blocks(side, index)]
        block = torch.full_like(queries.ids, NO_BLOCK)  # [batch, token]
        block[queries.ordinary] = torch.tensor(pieces, dtype=torch.long, device=block.device)
        several = block.amax(1) > 0  # [batch]
        inside = (block != NO_BLOCK) & several[:, None]  # [batch, token]
        same = (block[:, :, None] == block[:, None]) & inside[:, :, None] & inside[:, None] & seen
        found.asked[here, site] = inside.sum(1).float().cpu()
        inside_pairs = by_offset(same[:, None].float(), self.furthest)[:, 0]  # [batch, bin]
        found.inside_pairs[here, site] = inside_pairs.cpu()
        return seen[:, None].float(), same[:, None].float()


def by_offset(pairs: Tensor, furthest: int) -> Tensor:
    """Sum the diagonals of maps: what stands at key - query = -F ... F, and all further away.

    Args:
        pairs: [batch, head, query, key]
        furthest: F.

    Returns:
        [batch, head, bin]
    """
    queries, keys = pairs.shape[2:]
    # Rows are shifted against each other by reading them one element shorter than they are, so
    # that diagonals become columns: query q counted from the last, key k is at column q + k.
    skewed = F.pad(pairs.flip(2), (0, queries)).flatten(2)[..., : queries * (keys + queries - 1)]
    sums = skewed.unflatten(2, (queries, keys + queries - 1)).sum(2)  # [batch, head, diagonal]
    zero = queries - 1  # the diagonal of offset 0
    low, high = max(0, zero - furthest), min(sums.shape[2], zero + furthest + 1)
    near = sums[..., low:high]  # [batch, head, offset]
    around = (low - zero + furthest, furthest + zero + 1 - high)
    far = sums.sum(2, keepdim=True) - near.sum(2, keepdim=True)  # [batch, head, 1]
    return torch.cat([F.pad(near, around), far.clamp(min=0)], dim=2)


def _blocks(side: Side, index: int) -> list[int]:
    """Return the block of every piece of a sentence, counted from 0."""
    words = side.pieces[index]
    block = [NO_BLOCK] * words.coverage.pieces
    number, marked = 0, True
    for word, pieces in zip(side.sentences[index].words, words.pieces, strict=True):
        mark = is_mark(word)
        if not mark and marked and any(it != NO_BLOCK for it in block):
            number += 1
        marked = mark
        for piece in pieces if not mark else ():
            block[piece] = number
    return block
