"""Syntactic heads: heads that look along the arcs of the dependency tree.

    accuracy = right answers / questions of a relation and direction (see `questions.py`),

where the answer is the word with the largest attention, between units of words (`pooling.py`).

Adjectives stand before nouns, so a head that always looks one word to the right finds most
heads of amod and knows no syntax. Every accuracy is therefore set beside that of the best
FIXED PLACE for the same questions: an offset (Voita et al. 2019, section 5.2; Clark et al.
2019, section 4.2), or the first or the last word of the sentence. It is also set beside
CHANCE, a word drawn at random from those that can be seen; where a verb has many dependents,
and any is right, chance is better than every offset, because offsets end outside of short
sentences and chance does not. And it is set beside a FLOOR: networks with random weights
attend by what words are, and where words of one relation are few (the, a) that alone goes far
beyond any place. A head is called syntactic only if it is at least 10 points above all three.

Choices made here: the words looked at include the word itself; BOS and EOS are left out
(their weight is not redistributed, which no argmax would notice); subtypes are merged
(nsubj:pass is nsubj); offsets are between units; in the decoder only partners that come
before the word are asked for, because the others cannot be seen.

Pitfall: the best of 72 heads on one relation is too good by chance. `held_out` chooses head
and place on some sentences and scores them on others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ...models.gates import Head, HeadLayout
from .questions import Arc, questions
from .walk import Observer, RoleView, Side

FEWEST = 50
"""Questions that a relation must have to be scored."""
FURTHEST = 10
"""Largest offset that a baseline may have."""
FIRST, LAST = "first", "last"
"""Places that are no offsets: the sentence's first and last word."""
MARGIN = 0.1
"""How far above the baseline a head must be to be called syntactic."""


class Choice(NamedTuple):
    """The head chosen for a kind of arc on some sentences, scored on others.

    Args:
        arc: relation and direction.
        head: the best on the sentences for choosing.
        accuracy: its share of right answers on the others.
        place: the best fixed place on the sentences for choosing: an offset, first or last.
        baseline: its share of right answers on the others.
        chance: share of right answers of a word drawn at random, on the others.
        floor: the same as `accuracy` for random weights, the best of those that were given.
        questions: how many the others have.
    """

    arc: Arc
    head: Head
    accuracy: float
    place: str
    baseline: float
    chance: float
    floor: float
    questions: int

    @property
    def syntactic(self) -> bool:
        """Tell whether the head is at least 10 points above all that knows no syntax."""
        return self.accuracy - max(self.baseline, self.chance, self.floor) >= MARGIN


@dataclass(frozen=True)
class ArcScores:
    """Right answers of every head of a site.

    Args:
        heads: of the site, in layout order.
        arcs: the kinds of questions.
        right: right answers  # [sentence, arc, head]
        places: names of the fixed places: offsets -F ... F, first, last.
        by_place: right answers of the fixed places  # [sentence, arc, place]
        by_chance: expected right answers of a random word  # [sentence, arc]
        asked: questions  # [sentence, arc]
        unseen: arcs that cannot be seen, because no pieces tell their words apart.
    """

    heads: tuple[Head, ...]
    arcs: tuple[Arc, ...]
    right: Tensor
    places: tuple[str, ...]
    by_place: Tensor
    by_chance: Tensor
    asked: Tensor
    unseen: int

    def accuracy(self, sentences: Sequence[int] | None = None) -> Tensor:
        """Return every head's share of right answers, float64  # [arc, head].

        Args:
            sentences: which of them count; all by default. Without any question it is NaN.
        """
        return self._share(self.right, sentences)

    def baselines(self, sentences: Sequence[int] | None = None) -> Tensor:
        """Return every fixed place's share of right answers, float64  # [arc, place]."""
        return self._share(self.by_place, sentences)

    def chance(self, sentences: Sequence[int] | None = None) -> Tensor:
        """Return a random word's expected share of right answers, float64  # [arc]."""
        return self._share(self.by_chance[..., None], sentences)[:, 0]

    def _share(self, right: Tensor, sentences: Sequence[int] | None) -> Tensor:
        rows = list(range(len(right))) if sentences is None else list(sentences)
        asked = self.asked[rows].sum(0, dtype=torch.float64)  # [arc]
        return right[rows].sum(0, dtype=torch.float64) / asked[:, None]

    def held_out(
        self,
        choose: Sequence[int],
        score: Sequence[int],
        floors: Sequence[ArcScores] = (),
    ) -> list[Choice]:
        """Choose a head and a fixed place for every kind of arc, and score both elsewhere.

        Args:
            choose, score: sentences; none may be in both.
            floors: scores of the same sentences by models with random weights; without any
                the floor is 0.

        Returns:
            one choice for each kind of arc that has questions on both sides.

        Raises:
            ValueError: a sentence is in both, or a floor is of other questions.
        """
        if set(choose) & set(score):
            raise ValueError("a sentence cannot both choose and score")
        seen, baseline = self.accuracy(choose), self.baselines(choose)
        then, baseline_then = self.accuracy(score), self.baselines(score)
        chance_then = self.chance(score)
        floor_then = self._floor(choose, score, floors)
        counts = [self.asked[list(rows)].sum(0).tolist() for rows in (choose, score)]
        choices = []
        for row, arc in enumerate(self.arcs):
            if not counts[0][row] or not counts[1][row]:
                continue
            head, place = int(seen[row].argmax()), int(baseline[row].argmax())
            choices.append(
                Choice(
                    arc,
                    self.heads[head],
                    float(then[row, head]),
                    self.places[place],
                    float(baseline_then[row, place]),
                    float(chance_then[row]),
                    floor_then[row],
                    counts[1][row],
                )
            )
        return choices

    def _floor(
        self, choose: Sequence[int], score: Sequence[int], floors: Sequence[ArcScores]
    ) -> list[float]:
        """Return, arc by arc, the best held-out accuracy of models with random weights."""
        best = [0.0] * len(self.arcs)
        for each in floors:
            if each.arcs != self.arcs or not torch.equal(each.asked, self.asked):
                raise ValueError("a floor needs the scores of the same questions")
            heads = each.accuracy(choose).argmax(1)  # [arc]
            then = each.accuracy(score)  # [arc, head]
            for row, head in enumerate(heads.tolist()):
                best[row] = max(best[row], float(then[row, head]))
        return best


class ArcObserver(Observer):
    """Counts right answers of one site's heads, relation by relation.

    Args:
        layout: heads of the model.
        site: `encoder` (trees of the source) or `decoder` (trees of the target).
        side: the sentences that have the trees.
        fewest: questions that a kind of arc must have in the whole corpus.
        furthest: largest offset of a fixed place.
    """

    def __init__(
        self,
        layout: HeadLayout,
        site: str,
        side: Side,
        *,
        fewest: int = FEWEST,
        furthest: int = FURTHEST,
    ) -> None:
        if site not in ("encoder", "decoder"):
            raise ValueError(f"no tree joins queries and keys of '{site}'")
        found = [
            questions(sentence, pieces, causal=site == "decoder")
            for sentence, pieces in zip(side.sentences, side.pieces, strict=True)
        ]
        total = Counter(question.arc for asked, _ in found for question in asked)
        arcs = tuple(sorted(arc for arc, count in total.items() if count >= fewest))
        self.site, self.layout, self.furthest = site, layout, furthest
        self.row = {arc: row for row, arc in enumerate(arcs)}
        self.questions = [[q for q in asked if q.arc in self.row] for asked, _ in found]
        heads = tuple([head for head in layout.heads if head.site == site])
        offsets = [f"{offset:+d}" for offset in range(-furthest, furthest + 1)]
        shape = (len(side.sentences), len(arcs))
        self.scores = ArcScores(
            heads,
            arcs,
            right=torch.zeros(*shape, len(heads), dtype=torch.int16),
            places=(*offsets, FIRST, LAST),
            by_place=torch.zeros(*shape, len(offsets) + 2, dtype=torch.int16),
            by_chance=torch.zeros(*shape, dtype=torch.float64),
            asked=torch.zeros(*shape, dtype=torch.int16),
            unseen=sum(unseen for _, unseen in found),
        )
        for index, pieces in enumerate(side.pieces):
            self._baselines(index, len(pieces.unit_pieces))

    def _baselines(self, index: int, units: int) -> None:
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
            by_place[row, -1] += units - 1 in partners
            by_chance[row] += len(partners) / (query + 1 if self.site == "decoder" else units)

    def observe(self, view: RoleView) -> None:
        """Count one batch; see `Observer.observe`."""
        columns = {head: column for column, head in enumerate(self.scores.heads)}
        for name in view.attention:
            ids = dict(self.layout.by_attention)[name]
            if name.site != self.site or not ids:
                continue
            looked = view.over_words(name).argmax(-1).cpu()  # [batch, head, unit]
            heads = [columns[Head(name.site, name.layer, each)] for each in ids]
            for row, index in enumerate(view.batch.indices.tolist()):
                self._count(index, heads, looked[row])

    def _count(self, index: int, heads: list[int], looked: Tensor) -> None:
        """Count one sentence.

        Args:
            index: of the sentence.
            heads: their columns.
            looked: which unit every unit looks at most  # [head, unit]
        """
        asked = self.questions[index]
        if not asked:
            return
        answers = looked[:, [question.query for question in asked]].T  # [question, head]
        partners = torch.zeros(len(asked), looked.shape[1], dtype=torch.int16)  # [question, unit]
        for place, question in enumerate(asked):
            partners[place, list(question.partners)] = 1
        right = partners.gather(1, answers)  # [question, head]
        kinds = torch.tensor([self.row[question.arc] for question in asked])  # [question]
        counts = torch.zeros(len(self.row), len(heads), dtype=torch.int16)  # [arc, head]
        counts.index_add_(0, kinds, right)
        self.scores.right[index][:, heads] = counts
