"""Right answers of heads to questions, beside what knows nothing: places, chance, random weights.

A head is only as good as it is better than what would find the same words without it:

- the best FIXED PLACE for the same questions: an offset (Voita et al. 2019, section 5.2; Clark
  et al. 2019, section 4.2), or the first or the last key of the sentence;
- CHANCE: a key drawn at random from those that can be seen. Where a verb has many dependents,
  and any is right, chance is better than every offset, because offsets end outside of short
  sentences and chance does not;
- a FLOOR: networks with random weights attend by what words are, and where words of one
  relation are few (the, a) that alone goes far beyond any place.

Pitfall: the best of 72 heads on one relation is too good by chance. `held_out` chooses head
and place on some sentences and scores them on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from ...models.gates import Head
from .questions import Arc

FIRST, LAST = "first", "last"
"""Places that are no offsets: the sentence's first and last key."""
MARGIN = 0.1
"""How far above all that knows nothing a head must be to have the role."""


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
