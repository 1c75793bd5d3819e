"""Asking heads: who looks at the right place, question by question.

A question is a query with the keys that are right answers (`questions.py`); a head's answer is
the key with its largest attention. Queries and keys are units of words, with attention pooled
over their pieces (`pooling.py`), or, for questions about tokens, positions of the model's
input. What needs no model (fixed places, chance) is counted once, before any batch.

Of a question only its numbers are kept, in long tensors of all questions together: an object for
each would be most of the memory that a long text takes.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from torch import Tensor

from ...models.gates import Attention, Head, HeadLayout
from .answers import FIRST, LAST, ArcScores
from .questions import Arc, Question
from .walk import Observer, RoleView

FEWEST = 50
"""Questions that a kind must have to be scored."""
FURTHEST = 10
"""Largest offset that a baseline may have."""
SOME = 100
"""Sentences whose baselines are counted at once."""
Visible = Callable[[Tensor, Tensor], Tensor]
"""How many keys every query can see, of the query and the keys of its sentence."""


@dataclass(frozen=True)
class Asked:
    """The questions of a corpus.

    Args:
        questions: of every sentence, and how many cannot be asked, because no pieces tell their
            words apart; read once.
        keys: how many keys every sentence has, hidden ones included.
        by_arc: whether the size of a kind is its arcs, (query, right answer), and not its queries.
    """

    questions: Iterable[tuple[Sequence[Question], int]]
    keys: Sequence[int]
    by_arc: bool = False


@dataclass(frozen=True)
class Laid:
    """All questions, laid out in long tensors.

    Args:
        arcs: kinds that are asked for.
        starts: where the questions of every sentence start, and the end  # [sentence + 1]
        query, kind: of every question  # each int32 [question]
        partner_starts: where its right answers start, and the end  # [question + 1]
        partners: right answers  # int32 [partner]
        unseen: questions that cannot be asked.
    """

    arcs: tuple[Arc, ...]
    starts: Tensor
    query: Tensor
    kind: Tensor
    partner_starts: Tensor
    partners: Tensor
    unseen: int

    @property
    def sizes(self) -> Tensor:
        """Return how many right answers every question has  # [question]."""
        return self.partner_starts.diff()

    def of(self, sentences: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the questions of some sentences.

        Returns:
            the place of each in `sentences`, its number  # each [question]
            which of them a right answer belongs to, and that answer  # each [partner]
        """
        first, last = self.starts[sentences], self.starts[sentences + 1]
        rows = torch.arange(len(first)).repeat_interleave(last - first)  # [question]
        found = _ranges(first, last)  # [question]
        start, end = self.partner_starts[found], self.partner_starts[found + 1]
        partner_of = torch.arange(len(found)).repeat_interleave(end - start)  # [partner]
        return rows, found, partner_of, self.partners[_ranges(start, end)].long()


def _ranges(first: Tensor, last: Tensor) -> Tensor:
    """Return first, first + 1, ..., last - 1 of every pair, one after another."""
    sizes = last - first
    before = sizes.cumsum(0) - sizes  # numbers of the pairs in front
    return torch.arange(int(sizes.sum())) + (first - before).repeat_interleave(sizes)


def laid(asked: Asked, fewest: int) -> Laid:
    """Lay out the questions of kinds that have enough of them.

    Args:
        asked: the questions.
        fewest: queries (or arcs) that a kind must have.
    """
    kinds: dict[Arc, int] = {}
    counts, query, kind, sizes, partners = (array("q") for _ in range(5))
    unseen = 0
    for questions, lost in asked.questions:
        unseen += lost
        counts.append(len(questions))
        for arc, at, right in questions:
            kind.append(kinds.setdefault(arc, len(kinds)))
            query.append(at)
            sizes.append(len(right))
            partners.extend(right)
    per_sentence, of_kind, of_query, size, keys = (
        torch.from_numpy(np.array(it)) for it in (counts, kind, query, sizes, partners)
    )
    many = torch.bincount(of_kind, size if asked.by_arc else None, minlength=len(kinds))
    arcs = tuple(sorted(arc for arc, at in kinds.items() if many[at] >= fewest))
    row = torch.full((len(kinds),), -1)  # [kind]
    row[torch.tensor([kinds[arc] for arc in arcs], dtype=torch.long)] = torch.arange(len(arcs))
    of_kind = row[of_kind]  # [question]
    kept = of_kind >= 0
    owner = torch.arange(len(per_sentence)).repeat_interleave(per_sentence)  # [question]
    return Laid(
        arcs,
        _starts(torch.bincount(owner[kept], minlength=len(per_sentence))),
        of_query[kept].int(),
        of_kind[kept].int(),
        _starts(size[kept]),
        keys[kept.repeat_interleave(size)].int(),
        unseen,
    )


def _starts(sizes: Tensor) -> Tensor:
    return torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])


class QuestionObserver(Observer):
    """Counts right answers of one site's heads, kind by kind.

    Args:
        layout: heads of the model.
        site: whose heads are asked.
        asked: the questions.
        visible: how many keys a query can see.
        fewest: questions that a kind must have in the whole corpus.
        furthest: largest offset of a fixed place.
    """

    def __init__(
        self,
        layout: HeadLayout,
        site: str,
        asked: Asked,
        visible: Visible,
        *,
        fewest: int = FEWEST,
        furthest: int = FURTHEST,
    ) -> None:
        self.site, self.layout = site, layout
        self._laid = laid(asked, fewest)
        heads = tuple([head for head in layout.heads if head.site == site])
        offsets = [f"{offset:+d}" for offset in range(-furthest, furthest + 1)]
        shape = (len(self._laid.starts) - 1, len(self._laid.arcs))
        self.scores = ArcScores(
            heads,
            self._laid.arcs,
            right=torch.zeros(*shape, len(heads), dtype=torch.int16),
            places=(*offsets, FIRST, LAST),
            by_place=torch.zeros(*shape, len(offsets) + 2, dtype=torch.int16),
            by_chance=torch.zeros(*shape, dtype=torch.float64),
            asked=torch.zeros(*shape, dtype=torch.int16),
            unseen=self._laid.unseen,
        )
        self._baselines(torch.tensor(asked.keys, dtype=torch.long), visible, furthest)

    def _baselines(self, keys: Tensor, visible: Visible, furthest: int) -> None:
        """Count all questions, and what needs no model to answer them.

        Args:
            keys: of every sentence  # [sentence]
        """
        scores, everything = self.scores, self._laid
        places, arcs = len(scores.places), len(everything.arcs)
        by_place = scores.by_place.view(-1)
        one = torch.ones(1, dtype=torch.int16)
        for some in torch.arange(len(keys)).split(SOME):
            rows, found, partner_of, partners = everything.of(some)
            query, seen = everything.query[found].long(), keys[some][rows]  # each [question]
            cells = some[rows] * arcs + everything.kind[found]  # [question]
            scores.asked.view(-1).index_add_(0, cells, one.expand(len(cells)))
            chance = everything.sizes[found] / visible(query, seen)  # [question]
            scores.by_chance.view(-1).index_add_(0, cells, chance.double())
            offset = partners - query[partner_of]  # [partner]
            for right, place in (
                (offset.abs() <= furthest, offset + furthest),
                (partners == 0, torch.full_like(partners, places - 2)),
                (partners == seen[partner_of] - 1, torch.full_like(partners, places - 1)),
            ):
                where = (cells[partner_of] * places + place)[right]
                by_place.index_add_(0, where, one.expand(len(where)))

    def fresh(self) -> Self:
        """Return an observer of the same questions that has not counted any answer yet."""
        other = copy.copy(self)
        other.scores = replace(self.scores, right=torch.zeros_like(self.scores.right))
        return other

    @abstractmethod
    def looked(self, view: RoleView, name: Attention) -> Tensor:
        """Return the key that every query looks at most  # [batch, head, query]."""

    def observe(self, view: RoleView) -> None:
        """Count one batch; see `Observer.observe`."""
        here = view.batch.indices.cpu()
        rows, found, partner_of, partners = self._laid.of(here)
        if not len(found) or not self.scores.heads:
            return
        columns = {head: column for column, head in enumerate(self.scores.heads)}
        sizes = self.scores.right.shape
        into = self.scores.right.view(-1, sizes[2])  # [sentence x arc, head]
        cells = here[rows] * sizes[1] + self._laid.kind[found]  # [question]
        queries = self._laid.query[found].long()  # [question]
        for name in view.attention:
            ids = dict(self.layout.by_attention)[name]
            if name.site != self.site or not ids:
                continue
            looked = self.looked(view, name).cpu()  # [batch, head, query]
            answers = looked[rows, :, queries]  # [question, head]
            keys = 1 + int(torch.maximum(answers.max(), partners.max()))
            is_right = torch.zeros(len(found), keys, dtype=torch.int16)  # [question, key]
            is_right[partner_of, partners] = 1
            first = columns[Head(name.site, name.layer, ids[0])]  # heads of a layer are neighbours
            into[:, first : first + len(ids)].index_add_(0, cells, is_right.gather(1, answers))


class WordObserver(QuestionObserver):
    """Asks words: attention is pooled over their pieces before the largest is taken.

    Args:
        said: whether a target word asks from where it is said instead of where it is read.
        others: as in `QuestionObserver`.
    """

    said: bool = False

    def looked(self, view: RoleView, name: Attention) -> Tensor:
        """Return the word that every word looks at most  # [batch, head, unit]."""
        return view.over_words(name, said=self.said).argmax(-1)


class TokenObserver(QuestionObserver):
    """Asks positions of the model's input, BOS and EOS among the keys."""

    def looked(self, view: RoleView, name: Attention) -> Tensor:
        """Return the position that every position looks at most  # [batch, head, query]."""
        return view.attention[name].argmax(-1)


def visible_in(site: str) -> Visible:
    """Return how many keys a query can see at a site: in the decoder none that follow it."""
    return (lambda query, keys: query + 1) if site == "decoder" else (lambda query, keys: keys)
