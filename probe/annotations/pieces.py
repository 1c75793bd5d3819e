"""Words and the pieces a model cuts the text into, joined by characters.

A piece belongs to a word if they share a character. Mostly a word has one or more pieces to
itself; where it has not, the rules are these:

- French `du` is one surface token and two words, `de` and `le`. Both have the characters of
  `du` and so the same pieces: nothing in the model's input tells them apart.
- A piece may cover several surface tokens (`."` as one piece, or a vocabulary that crosses
  spaces). It belongs to all of them.
- Words that share a piece, directly or through others, form one UNIT. Units are what the
  model can tell apart; attention is measured between units, so that no weight is counted
  twice and none has to be divided by a guess. An arc within a unit cannot be seen.
- A piece of white space alone (the mark `▁` of some vocabularies) belongs to no word, nor do
  characters that no word claims. A piece of no characters belongs to the word it stands in,
  not to one at whose edge it stands.
- A word without a piece (it is not in the text, or the model drops its characters) has no
  unit. It is counted, and left out of every analysis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from .sentence import AnnotatedSentence

NO_UNIT = -1
"""The unit of a word without a piece."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How well words and pieces fit; of several sentences, the sum.

    Args:
        words: all words.
        not_located: words that the text does not have.
        without_pieces: words of the text that no piece covers.
        sharing: words that share their unit with another word (`de` and `le` of `du`).
        units: what the model can tell apart.
        pieces: all pieces.
        outside: pieces that belong to no word.
        over_several: pieces that cover several surface tokens.
    """

    words: int = 0
    not_located: int = 0
    without_pieces: int = 0
    sharing: int = 0
    units: int = 0
    pieces: int = 0
    outside: int = 0
    over_several: int = 0

    def __add__(self, other: Coverage) -> Coverage:
        return Coverage(
            *[getattr(self, each.name) + getattr(other, each.name) for each in fields(self)]
        )

    @property
    def lost(self) -> int:
        """Return how many words could not be aligned to any piece."""
        return self.not_located + self.without_pieces

    def remark(self) -> str:
        """Say in one sentence what was aligned and what was not; for the page and the log."""
        share = self.lost / self.words if self.words else 0.0
        return (
            f"{self.words - self.lost} of {self.words} words have pieces; {self.lost} "
            f"({share:.2%}) are left out ({self.not_located} not in the text, "
            f"{self.without_pieces} without a piece). {self.sharing} words share their pieces "
            f"with another word. Of {self.pieces} pieces {self.outside} belong to no word and "
            f"{self.over_several} cover several tokens."
        )


@dataclass(frozen=True, slots=True)
class WordPieces:
    """Which pieces are whose, in one sentence.

    Args:
        pieces: of every word, in order; empty where it has none.
        unit: of every word, -1 where it has no piece.
        unit_pieces: of every unit, in order of their first pieces.
        coverage: what could not be aligned.
    """

    pieces: tuple[tuple[int, ...], ...]
    unit: tuple[int, ...]
    unit_pieces: tuple[tuple[int, ...], ...]
    coverage: Coverage


def word_pieces(spans: Sequence[tuple[int, int]], offsets: Sequence[tuple[int, int]]) -> WordPieces:
    """Align words to pieces.

    Args:
        spans: every word's characters [start, end), (-1, -1) for a word without a place.
        offsets: every piece's characters, as `Translator.offsets` gives them.
    """
    located = {span for span in spans if span[0] >= 0}
    covered = {
        span: tuple([place for place, offset in enumerate(offsets) if _share(span, offset)])
        for span in located
    }
    pieces = tuple([covered.get(span, ()) for span in spans])
    claims = [0] * len(offsets)
    for places in covered.values():
        for place in places:
            claims[place] += 1
    unit_pieces = _merged(sorted({places for places in covered.values() if places}))
    unit_of = {place: unit for unit, places in enumerate(unit_pieces) for place in places}
    unit = tuple([unit_of[places[0]] if places else NO_UNIT for places in pieces])
    members = [unit.count(index) for index in range(len(unit_pieces))]
    coverage = Coverage(
        words=len(spans),
        not_located=sum(span[0] < 0 for span in spans),
        without_pieces=sum(
            not places and span[0] >= 0 for places, span in zip(pieces, spans, strict=True)
        ),
        sharing=sum(size for size in members if size > 1),
        units=len(unit_pieces),
        pieces=len(offsets),
        outside=claims.count(0),
        over_several=sum(claim > 1 for claim in claims),
    )
    return WordPieces(pieces, unit, unit_pieces, coverage)


def pieces_of(sentence: AnnotatedSentence, offsets: Sequence[tuple[int, int]]) -> WordPieces:
    """Align a sentence's words to the pieces of its text; see `word_pieces`."""
    return word_pieces(sentence.spans, offsets)


def _share(span: tuple[int, int], offset: tuple[int, int]) -> bool:
    """Tell whether a word and a piece have a character in common."""
    if offset[0] == offset[1]:
        return span[0] < offset[0] < span[1]
    return span[0] < offset[1] and offset[0] < span[1]


def _merged(groups: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Join groups of pieces, sorted, that overlap."""
    merged: list[set[int]] = []
    for group in groups:
        if merged and merged[-1] & set(group):
            merged[-1] |= set(group)
        else:
            merged.append(set(group))
    return tuple([tuple(sorted(group)) for group in merged])
