"""Heads that align: does cross-attention look at the word that is being translated?

Every target word is linked to the source word with its largest attention, and the links A are
set beside gold links, sure (S) and possible (P, S included), as Och & Ney 2003 (CL 29) do:

    precision = |A & P| / |A|,    recall = |A & S| / |S|,
    alignment error rate = 1 - (|A & S| + |A & P|) / (|A| + |S|)

Which query is a target word's is a choice. A Transformer reads y_t at one position and has
SAID it at the position before. Attention where the word is read aligns better in deep models
than where it is said (Chen et al. 2020, EMNLP, "shift-att"), but only there can it have helped
to choose the word. Both are measured.

What looks is a choice too: attention weights, the same times the length of what the key adds
(Kobayashi et al. 2020, who align better by it), or the relevance that came from the key, which
is signed, so that its largest is what speaks most FOR what was said.

Beside the heads stand the mean over all heads of a layer and over all of the model (the usual
way, and rarely the best), and the union of all heads' links: its recall says how much is
there to be found by any head.

Pitfall: precision, recall and error rate of one target word linked to one source word are
bounded: a target word that translates two words can have only one of them. And the best of
48 heads is to be chosen on other sentences than it is scored on: `held_out`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ...models.gates import Attention, HeadLayout
from ..annotations.pieces import NO_UNIT
from ..annotations.sentence import Links
from ..annotations.treebank import AlignedPair
from .asking import FEWEST, Asked, WordObserver, visible_in
from .questions import Arc, Question
from .walk import WEIGHTS, Observer, RoleView, Side

MEAN, UNION = "mean", "union"


class AlignmentQuality(NamedTuple):
    """How links compare with the gold ones, each between 0 and 1."""

    precision: float
    recall: float
    error_rate: float


@dataclass(frozen=True)
class AlignmentScores:
    """Links of every aligner, counted sentence by sentence.

    Args:
        aligners: names of heads (`cross.1.4`), of the mean of a layer (`cross.1 mean`), of
            all heads (`mean`), and of their union (`union`).
        links: |A|  # [sentence, aligner]
        in_sure: |A & S|  # [sentence, aligner]
        in_possible: |A & P|  # [sentence, aligner]
        sure: |S|, links of words without pieces left out  # [sentence]
    """

    aligners: tuple[str, ...]
    links: Tensor
    in_sure: Tensor
    in_possible: Tensor
    sure: Tensor

    def quality(self, sentences: Sequence[int] | None = None) -> list[AlignmentQuality]:
        """Return the quality of every aligner, from counts over all sentences together.

        Args:
            sentences: which of them count; all by default.
        """
        rows = list(range(len(self.sure))) if sentences is None else list(sentences)
        links, in_sure, in_possible = (
            counts[rows].sum(0, dtype=torch.float64)  # [aligner]
            for counts in (self.links, self.in_sure, self.in_possible)
        )
        sure = self.sure[rows].sum(dtype=torch.float64)  # []
        error_rate = 1 - (in_sure + in_possible) / (links + sure)  # [aligner]
        values = torch.stack([in_possible / links, in_sure / sure, error_rate], dim=1)
        return [AlignmentQuality(*row) for row in values.tolist()]

    def held_out(self, choose: Sequence[int], score: Sequence[int]) -> tuple[str, AlignmentQuality]:
        """Choose the head with the lowest error rate, and score it on other sentences.

        Raises:
            ValueError: a sentence is in both.
        """
        if set(choose) & set(score):
            raise ValueError("a sentence cannot both choose and score")
        rates = [quality.error_rate for quality in self.quality(choose)]
        heads = [place for place, name in enumerate(self.aligners) if name.count(".") == 2]
        best = min(heads, key=rates.__getitem__)
        return self.aligners[best], self.quality(score)[best]


class AlignmentObserver(Observer):
    """Counts how the links of cross-attention compare with gold links.

    Args:
        layout: heads of the model.
        sides: of `joined`, of the same pairs.
        pairs: with their gold links.
        said: whether a target word asks from where it is said instead of where it is read.
        of: what is largest at the source word, one of `MAPS`.
    """

    def __init__(
        self,
        layout: HeadLayout,
        sides: tuple[Side, Side],
        pairs: Sequence[AlignedPair],
        *,
        said: bool = False,
        of: str = WEIGHTS,
    ) -> None:
        self.said, self.reads = said, of
        self.layers = [
            (name, ids) for name, ids in layout.by_attention if name.site == "cross" and ids
        ]
        heads = [str(head) for head in layout.heads if head.site == "cross"]
        means = [f"cross.{name.layer} {MEAN}" for name, _ in self.layers]
        aligners = (*heads, *means, MEAN, UNION)
        self.sides, self.pairs = sides, pairs
        shape = (len(pairs), len(aligners))
        self.scores = AlignmentScores(
            aligners,
            links=torch.zeros(shape, dtype=torch.int32),
            in_sure=torch.zeros(shape, dtype=torch.int32),
            in_possible=torch.zeros(shape, dtype=torch.int32),
            sure=torch.zeros(len(pairs), dtype=torch.int32),
        )

    def observe(self, view: RoleView) -> None:
        """Count one batch; see `Observer.observe`."""
        if not self.layers:
            return
        weights = [
            view.over_words(Attention("cross", name.layer), said=self.said, of=self.reads)
            for name, _ in self.layers
        ]  # each [batch, head, target unit, source unit]
        means = [each.mean(1, keepdim=True) for each in weights]
        whole = torch.cat(weights, dim=1)
        every = torch.cat([whole, *means, whole.mean(1, keepdim=True)], dim=1)
        units = self._sizes(view.batch.indices.tolist())[:, :1]  # [batch, 1]
        none = torch.arange(every.shape[3]) >= units  # [batch, source unit]
        every = every.masked_fill(none[:, None, None].to(every.device), -torch.inf)
        looked = every.argmax(-1).cpu()  # [batch, aligner, target unit]
        self._count(view.batch.indices.tolist(), looked, every.shape[3], whole.shape[1])

    def _sizes(self, here: list[int]) -> Tensor:
        """Return how many units source and target have  # [batch, side]."""
        return torch.tensor([[len(it.pieces[at].unit_pieces) for it in self.sides] for at in here])

    def _gold(self, at: int, *, possible: bool) -> frozenset[tuple[int, int]]:
        """Return the links of a pair, as units."""
        pair = self.pairs[at]
        return _units(pair.possible if possible else pair.sure, self.sides, at)[0]

    def _count(self, here: list[int], looked: Tensor, source: int, heads: int) -> None:
        """Count the pairs of a batch.

        Args:
            here: the pairs.
            looked: where every target unit looks at most  # [batch, aligner, target unit]
            source: units of the longest source.
            heads: how many of the aligners are heads; the union is theirs.
        """
        sizes = self._sizes(here)
        asks = torch.arange(looked.shape[2]) < sizes[:, 1:]  # [batch, target unit]
        asks &= sizes[:, :1] > 0
        # The union of the heads, as links: a head's link to a unit that another head links too
        # is one link.
        union = torch.zeros(len(here), looked.shape[2], source, dtype=torch.bool)
        union.scatter_(2, looked[:, :heads].transpose(1, 2), True)
        union &= asks[:, :, None]  # [batch, target unit, source unit]
        links = asks.sum(1)[:, None].expand(-1, looked.shape[1])  # [batch, aligner]
        self.scores.links[here] = torch.cat([links, union.sum((1, 2))[:, None]], dim=1).int()
        for which, counts in enumerate((self.scores.in_sure, self.scores.in_possible)):
            gold = torch.zeros_like(union)  # [batch, target unit, source unit]
            cells = [
                (row, there, to)
                for row, at in enumerate(here)
                for to, there in self._gold(at, possible=which > 0)
            ]
            if cells:
                gold[tuple(torch.tensor(cells).T)] = True
            if not which:
                self.scores.sure[here] = gold.sum((1, 2)).int()
            right = gold.gather(2, looked.transpose(1, 2)) & asks[:, :, None]
            both = (gold & union).sum((1, 2))[:, None]  # [batch, 1]
            counts[here] = torch.cat([right.sum(1), both], dim=1).int()


class LinkObserver(WordObserver):
    """Asks every linked target word for a source word that it may be linked to.

    Set beside fixed places and random weights, this tells whether a head aligns at all; how
    well the links are is for `AlignmentObserver`.

    Args:
        layout: heads of the model.
        sides: of `joined`, of the same pairs.
        pairs: with their gold links.
        said: whether a target word asks from where it is said instead of where it is read.
        fewest: questions that there must be.
    """

    def __init__(
        self,
        layout: HeadLayout,
        sides: tuple[Side, Side],
        pairs: Sequence[AlignedPair],
        *,
        said: bool = False,
        fewest: int = FEWEST,
    ) -> None:
        self.said = said
        arc = Arc("alignment", "target word->source word, " + ("said" if said else "read"))

        def found() -> Iterator[tuple[list[Question], int]]:
            for index, pair in enumerate(pairs):
                links, unseen = _units(pair.possible, sides, index)
                partners: dict[int, set[int]] = {}
                for here, there in links:
                    partners.setdefault(there, set()).add(here)
                asked = [Question(arc, it, frozenset(keys)) for it, keys in partners.items()]
                yield asked, unseen

        asked = Asked(found(), [len(pieces.unit_pieces) for pieces in sides[0].pieces])
        super().__init__(layout, "cross", asked, visible_in("cross"), fewest=fewest)


def _units(
    links: Links, sides: tuple[Side, Side], index: int
) -> tuple[frozenset[tuple[int, int]], int]:
    """Return gold links between units, and how many have a word without pieces."""
    source, target = (side.pieces[index].unit for side in sides)
    units = [(source[here], target[there]) for here, there in links]
    kept = [link for link in units if NO_UNIT not in link]
    return frozenset(kept), len(units) - len(kept)
