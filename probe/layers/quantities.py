"""Numbers that states tell: how deep a word stands, how far its head is, what people judged.

A class such as "depth 5 and more" throws away what ridge regression can use. Three kinds of
quantity, each with one value an example:

    depth           dependency arcs between the word and the root
    head distance   words from the word to its head, 1 for the next, to the left negative
    judgements      of UDS, one quantity a property: volition, sentient, factual, ...

Scored by R^2 = 1 - squared error / squared deviation from the mean, on test sentences; 0 is
what the mean alone reaches. Its interval comes from sums by sentence, so no refit is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..annotations.sentence import ROOT, AnnotatedSentence
from .examples import PARTS, Numbers, Split
from .features import Features
from .ridge import Sums, best_ridge
from .tasks.task import Words

PENALTIES = (1.0, 10.0, 100.0, 1000.0, 10_000.0)
FEWEST = 50
"""A quantity with fewer training or test examples is not read."""


@dataclass(frozen=True)
class Quantity:
    """A number for each of some words, or pairs of words.

    Args:
        name: what it is.
        rows, partners, sentences: of every example; partners only for pairs  # each [example]
        values: the numbers  # [example]
    """

    name: str
    rows: Numbers
    partners: Numbers | None
    sentences: Numbers
    values: NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    """How well a quantity is read from one layer.

    Args:
        sums: by test sentence: examples, sum of y, of y^2, of squared errors  # [sentence, 4]
        penalty: that validation chose.
    """

    sums: NDArray[np.float64]
    penalty: float

    @property
    def r_squared(self) -> float:
        """Return the explained share of the variance."""
        return float(self.explained(self.sums.sum(0)[None])[0])

    @staticmethod
    def explained(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return R^2 of sums [row, 4]; NaN where all values are equal  # [row]."""
        count, total, squares, errors = sums.T
        deviation = squares - total**2 / np.maximum(count, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found: NDArray[np.float64] = np.where(deviation > 0, 1 - errors / deviation, np.nan)
        return found


def quantities_of(
    sentences: Sequence[AnnotatedSentence], words: Words, split: Split
) -> list[Quantity]:
    """Return the quantities that enough words have; words without a vector are left out."""
    found: dict[str, list[tuple[int, int, int, float]]] = {}
    for number, sentence in enumerate(sentences):
        for name, word, partner, value in _values(sentence):
            row = int(words.starts[number]) + word
            other = row if partner < 0 else int(words.starts[number]) + partner
            if words.aligned[row] and words.aligned[other]:
                found.setdefault(name, []).append((number, row, other, value))
    quantities = []
    for name, examples in found.items():
        numbers, rows, partners, values = (np.array(it) for it in zip(*examples, strict=True))
        pair = bool((rows != partners).any())
        own = Quantity(name, rows, partners if pair else None, numbers, values.astype(float))
        parts = np.bincount(split.part[numbers], minlength=len(PARTS))
        if parts.min() >= FEWEST:
            quantities.append(own)
    return quantities


def _values(sentence: AnnotatedSentence) -> Iterator[tuple[str, int, int, float]]:
    """Yield name, word, second word (-1 without) and value."""
    if sentence.has_tree:
        for index, (word, arcs) in enumerate(zip(sentence.words, sentence.depths, strict=True)):
            yield "depth", index, -1, float(arcs)
            if word.head != ROOT:
                yield "head distance", index, -1, float(word.head - index)
    for each in sentence.judgements or ():
        if len(each.words) == 2:
            yield each.name, each.words[1], each.words[0], each.value
        else:
            yield each.name, each.words[0], -1, each.value


def read_numbers(
    states: NDArray[np.floating], quantity: Quantity, split: Split, penalties: Sequence[float]
) -> Reading:
    """Fit on training sentences, choose the penalty on validation, and judge on test sentences.

    Args:
        states: of one layer  # [word, width]
        penalties: offered, against the sum of squared errors.
    """
    parts = [split.examples(quantity.sentences, part) for part in PARTS]
    features = Features(states, quantity.rows, quantity.partners).standardised(parts[0])
    train, valid = (
        Sums.of(features.select(part), quantity.values[part, None]) for part in parts[:2]
    )
    weights, penalty = best_ridge(train, valid, penalties)
    rows = features.select(parts[2]).whole().astype(np.float64)  # [example, feature]
    gold = quantity.values[parts[2]]  # [example]
    errors = (gold - rows @ weights[:-1, 0] - weights[-1, 0]) ** 2
    _, place = np.unique(quantity.sentences[parts[2]], return_inverse=True)
    columns = (np.ones_like(gold), gold, gold**2, errors)
    return Reading(np.column_stack([np.bincount(place, it) for it in columns]), penalty)
