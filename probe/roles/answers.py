"""Right answers of heads to questions, beside what knows nothing: places, chance, random weights.

A head is only as good as it is better than what would find the same words without it:

- the best FIXED PLACE for the same questions: an offset (Voita et al. 2019, section 5.2; Clark
  et al. 2019, section 4.2), or the first or the last key of the sentence;
- CHANCE: a key drawn at random from those that can be seen. Where a verb has many dependents,
  and any is right, chance is better than every offset, because offsets end outside of short
  sentences and chance does not;
- a FLOOR: networks with random weights attend by what words are, and where words of one
  relation are few (the, a) that alone goes far beyond any place.

Pitfall: the best of 72 heads on one relation is too good by chance. `testing.py` chooses head
and place on some sentences and scores them on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from ...models.gates import Head
from .questions import Arc
from .walk import summed

FIRST, LAST = "first", "last"
"""Places that are no offsets: the sentence's first and last key."""
MARGIN = 0.1
"""How far above all that knows nothing a head must be to have the role."""


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
        return summed(right[rows]) / summed(self.asked[rows])[:, None]
