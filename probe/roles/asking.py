"""Asking heads: who looks at the right place, question by question.

A question is a query with the keys that are right answers (`questions.py`); a head's answer is
the key with its largest attention. Queries and keys are units of words, with attention pooled
over their pieces (`pooling.py`), or, for questions about tokens, positions of the model's
input. What needs no model (fixed places, chance) is counted once, before any batch.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Self

import torch
from torch import Tensor

from ...models.gates import Attention, Head, HeadLayout
from .answers import FIRST, LAST, ArcScores
from .questions import Question
from .walk import Observer, RoleView

FEWEST = 50
"""Questions that a kind must have to be scored."""
FURTHEST = 10
"""Largest offset that a baseline may have."""


@dataclass(frozen=True)
class Asked:
    """The questions of a corpus.

    Args:
        questions: of every sentence.
        keys: how many keys every sentence has, hidden ones included.
        unseen: questions that cannot be asked, because no pieces tell their words apart.
    """

    questions: Sequence[Sequence[Question]]
    keys: Sequence[int]
    unseen: int = 0


class QuestionObserver(Observer):
    """Counts right answers of one site's heads, kind by kind.

    Args:
        layout: heads of the model.
        site: whose heads are asked.
        asked: the questions.
        visible: how many keys a query can see, of the query and the keys of its sentence.
        fewest: questions that a kind must have in the whole corpus.
        furthest: largest offset of a fixed place.
    """

    def __init__(
        self,
        layout: HeadLayout,
        site: str,
        asked: Asked,
        visible: Callable[[int, int], int],
        *,
        fewest: int = FEWEST,
        furthest: int = FURTHEST,
    ) -> None:
        total = Counter(question.arc for each in asked.questions for question in each)
        arcs = tuple(sorted(arc for arc, count in total.items() if count >= fewest))
        self.site, self.layout, self.furthest = site, layout, furthest
        self.row = {arc: row for row, arc in enumerate(arcs)}
        self.questions = [[q for q in each if q.arc in self.row] for each in asked.questions]
        heads = tuple([head for head in layout.heads if head.site == site])
        offsets = [f"{offset:+d}" for offset in range(-furthest, furthest + 1)]
        shape = (len(asked.questions), len(arcs))
        self.scores = ArcScores(
            heads,
            arcs,
            right=torch.zeros(*shape, len(heads), dtype=torch.int16),
            places=(*offsets, FIRST, LAST),
            by_place=torch.zeros(*shape, len(offsets) + 2, dtype=torch.int16),
            by_chance=torch.zeros(*shape, dtype=torch.float64),
            asked=torch.zeros(*shape, dtype=torch.int16),
            unseen=asked.unseen,
        )
        for index, keys in enumerate(asked.keys):
            self._baselines(index, keys, visible)
        self._flatten()

    def _baselines(self, index: int, keys: int, visible: Callable[[int, int], int]) -> None:
        """Count the questions of a sentence, and what needs no model to answer them."""
        scores, furthest = self.scores, self.furthest
        # Views of the tensors: single numbers are much faster to count in numpy.
        asked, by_chance = scores.asked[index].numpy(), scores.by_chance[index].numpy()
        by_place = scores.by_place[index].numpy()  # [arc, place]
        for arc, query, partners in self.questions[index]:
            row = self.row[arc]
            asked[row] += 1
            for partner in partners:
                if abs(partner - query) <= furthest:
                    by_place[row, partner - query + furthest] += 1
            by_place[row, -2] += 0 in partners
            by_place[row, -1] += keys - 1 in partners
            by_chance[row] += len(partners) / visible(query, keys)

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
        rows, found, partner_of, partners = self._asked_of(view.batch.indices.tolist())
        if not len(found) or not self.scores.heads:
            return
        columns = {head: column for column, head in enumerate(self.scores.heads)}
        kinds, sizes = self._kinds[found], self.scores.right.shape
        into = self.scores.right.view(-1, sizes[2])  # [sentence x arc, head]
        cells = view.batch.indices[rows] * sizes[1] + kinds  # [question]
        for name in view.attention:
            ids = dict(self.layout.by_attention)[name]
            if name.site != self.site or not ids:
                continue
            looked = self.looked(view, name).cpu()  # [batch, head, query]
            answers = looked[rows, :, self._queries[found]]  # [question, head]
            keys = 1 + int(torch.maximum(answers.max(), partners.max()))
            is_right = torch.zeros(len(found), keys, dtype=torch.int16)  # [question, key]
            is_right[partner_of, partners] = 1
            first = columns[Head(name.site, name.layer, ids[0])]  # heads of a layer are neighbours
            into[:, first : first + len(ids)].index_add_(0, cells, is_right.gather(1, answers))

    def _flatten(self) -> None:
        """Lay all questions out in long tensors, so that a batch is counted at once."""
        flat = [question for each in self.questions for question in each]
        self._starts = list(accumulate(map(len, self.questions), initial=0))
        self._queries = torch.tensor([question.query for question in flat], dtype=torch.long)
        self._kinds = torch.tensor([self.row[question.arc] for question in flat], dtype=torch.long)
        self._partner_starts = list(accumulate((len(it.partners) for it in flat), initial=0))
        keys = [key for question in flat for key in question.partners]
        self._partners = torch.tensor(keys, dtype=torch.long)

    def _asked_of(self, indices: list[int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the questions of some sentences.

        Returns:
            the row of each in `indices`, its number  # each [question]
            which of them a right answer belongs to, and that answer  # each [partner]
        """
        ranges = [(self._starts[index], self._starts[index + 1]) for index in indices]
        found = torch.cat([torch.arange(*each) for each in ranges])  # [question]
        sizes = torch.tensor([end - start for start, end in ranges])  # [batch]
        rows = torch.arange(len(indices)).repeat_interleave(sizes)  # [question]
        starts = torch.tensor(self._partner_starts)
        counts = starts[found + 1] - starts[found]  # [question]
        partner_of = torch.arange(len(found)).repeat_interleave(counts)  # [partner]
        partners = torch.cat(
            [
                self._partners[self._partner_starts[start] : self._partner_starts[end]]
                for start, end in ranges
            ]
        )  # [partner]
        return rows, found, partner_of, partners


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


def visible_in(site: str) -> Callable[[int, int], int]:
    """Return how many keys a query can see at a site: in the decoder none that follow it."""
    return (lambda query, keys: query + 1) if site == "decoder" else (lambda query, keys: keys)
