"""BPE-dropout: a word is cut into pieces in another way each time that it is read.

While a word is put together from its bytes, every merge that could be made is left out with
some probability at every step (Provilkov, Emelianenko & Voita 2020, arXiv:1910.13267,
algorithm 1). A model trained so sees rare words in many cuts, learns what their parts mean,
and overfits a small corpus less. Translation reads text with all merges, as always.

The library's own dropout draws from a generator that cannot be seeded, and a run here must be
repeatable. So each different word of the corpus gets `CUTS` random cuts once, from a seed, and
each occurrence of it in each epoch takes one of them at random: drawing is then a matter of
looking up, and an epoch of 29,000 sentence pairs is cut anew in well under a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from .token_store import TokenStore
from .vocabulary import Vocabulary

CUTS = 16
"""Random cuts that are made of every different word."""
MOST = 1 << 32
"""Different words that can be numbered."""


def cut_with_dropout(
    pieces: Sequence[int], merges: dict[tuple[int, int], tuple[int, int]], rate: float, draws: Draws
) -> list[int]:
    """Put one word together from its bytes, with merges left out at random.

    Args:
        pieces: the ids of the word's bytes.
        merges: pair of ids -> (rank, id of the merged piece); the lowest rank goes first.
        rate: probability that a possible merge is left out at a step; 0 gives the only cut
            of plain BPE.
        draws: random numbers.

    Returns:
        The ids of the pieces.

    Source: Provilkov et al. 2020, algorithm 1.
    """
    cut = list(pieces)
    while True:
        possible = [
            (*merges[pair], place)
            for place, pair in enumerate(pairwise(cut))
            if pair in merges and (rate == 0 or draws.next() >= rate)
        ]
        if not possible:
            return cut
        _, merged, place = min(possible)
        cut[place : place + 2] = [merged]


class Draws:
    """Uniform random numbers in [0, 1), drawn many at a time because one at a time is slow."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._numbers: Iterator[float] = iter(())

    def next(self) -> float:
        """Return the next number."""
        for number in self._numbers:
            return number
        self._numbers = iter(self._generator.random(1 << 16).tolist())
        return self.next()


class CutTable:
    """Random cuts of all different words of a text.

    Args:
        words: which different word each word of a sentence is, by sentence.
        ids: the ids of all cuts, one behind the other  # [token]
        starts: where each cut starts, and the end  # [word * CUTS + 1]
    """

    def __init__(
        self, words: TokenStore, ids: NDArray[np.int32], starts: NDArray[np.int64]
    ) -> None:
        self._words, self._ids, self._starts = words, ids, starts

    @classmethod
    def of(
        cls, sentences: Sequence[str], vocabulary: Vocabulary, path: Path, rate: float, seed: int
    ) -> CutTable:
        """Cut every different word of the sentences `CUTS` times.

        Args:
            sentences: the training text of one language.
            vocabulary: of the kind `bpe`.
            path: where the words of the sentences are kept, so that they need not be in memory.
            rate: probability that a possible merge is left out at a step.
            seed: makes the cuts.

        Raises:
            UsageError: a vocabulary that is not made of merges.
        """
        check_mergeable(vocabulary.kind)
        numbers: dict[str, int] = {}
        words = TokenStore.build(
            path, _numbered(sentences, vocabulary, numbers), vocabulary_size=MOST
        )
        draws, merges = Draws(np.random.default_rng(seed)), vocabulary.merges
        cuts = [
            cut_with_dropout(vocabulary.byte_ids(word), merges, rate, draws)
            for word in numbers
            for _ in range(CUTS)
        ]
        starts = np.cumsum([0, *map(len, cuts)], dtype=np.int64)
        return cls(words, np.array([i for cut in cuts for i in cut], dtype=np.int32), starts)

    def draw(self, generator: np.random.Generator) -> Iterator[NDArray[np.int32]]:
        """Yield the ids of every sentence, each word in one of its cuts  # [token]."""
        for sentence in range(len(self._words)):
            words = self._words[sentence].astype(np.int64)  # [word]
            cuts = words * CUTS + generator.integers(CUTS, size=len(words))  # [word]
            spans = [self._ids[self._starts[cut] : self._starts[cut + 1]] for cut in cuts]
            yield np.concatenate(spans) if spans else self._ids[:0]


def check_mergeable(kind: str) -> None:
    """Refuse a kind of vocabulary that is not made of merges.

    Raises:
        UsageError: any kind but `bpe`.
    """
    if kind != "bpe":
        raise UsageError(
            f"merge dropout needs a vocabulary of the kind 'bpe', not '{kind}': "
            "set training.merge_dropout to 0"
        )


def _numbered(
    sentences: Sequence[str], vocabulary: Vocabulary, numbers: dict[str, int]
) -> Iterator[list[int]]:
    """Yield the number of every word of a sentence; a new word gets the next number."""
    for sentence in sentences:
        yield [numbers.setdefault(word, len(numbers)) for word in vocabulary.words(sentence)]
