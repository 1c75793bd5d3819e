"""The ambiguous words: their senses, and the cues that decide between them.

`ambiguous.tsv` gives every sense of a noun its cues: verbs that take it as object or subject,
adjectives that only this sense can have, nouns whose part or possession it is, and places.
`ambiguous_adjectives.tsv` gives every sense of an adjective the nouns that it goes with.
"""

from __future__ import annotations

from functools import cache

from .lexicon import Adjective, Noun, Weighted, lexicon, read_noun, rows, zipf


class Sense:
    """A noun in one sense, with its cues by kind."""

    def __init__(self, row: dict[str, str]) -> None:
        words = lexicon()
        verbs = {verb.lemma: verb for verb in reversed(words.verbs)}
        nouns = {noun.english: noun for noun in words.nouns}
        self.noun: Noun = read_noun(row)
        self.objects = [verbs[lemma] for lemma in _items(row["objects"])]
        self.subjects = [verbs[lemma] for lemma in _items(row["subjects"])]
        self.adjectives = [_cue_adjective(pair) for pair in _items(row["adjectives"])]
        self.of = [nouns[word] for word in _items(row["of"])]
        self.places = [nouns[phrase.split()[1]] for phrase in _items(row["places"])]

    @property
    def kinds(self) -> list[str]:
        """Return the kinds of cue that the sense has."""
        kinds = ("objects", "subjects", "adjectives", "of", "places")
        return [kind for kind in kinds if getattr(self, kind)]


def _items(cell: str) -> list[str]:
    return cell.split(",") if cell else []


def _cue_adjective(pair: str) -> Adjective:
    english, german = pair.split("=")
    return Adjective(english, german, german)


@cache
def senses() -> Weighted[tuple[Sense, tuple[Sense, ...]]]:
    """Return all senses, each with the other senses of its word."""
    found: dict[str, list[Sense]] = {}
    for row in rows("ambiguous.tsv"):
        sense = Sense(row)
        found.setdefault(sense.noun.english, []).append(sense)
    entries = [
        (sense, tuple(other for other in group if other is not sense))
        for group in found.values()
        for sense in group
    ]
    ranks = [rank for rank, group in enumerate(found.values()) for _ in group]
    return Weighted(entries, (zipf(rank, 6.0, 1.0) for rank in ranks))


@cache
def adjective_senses() -> tuple[tuple[Adjective, Adjective], ...]:
    """Return every ambiguous adjective with its other sense."""
    found: dict[str, list[Adjective]] = {}
    for row in rows("ambiguous_adjectives.tsv"):
        word = Adjective(
            row["english"],
            row["german"],
            row["stem"] or row["german"],
            row["goes_with"],
            row["sense"],
        )
        found.setdefault(word.english, []).append(word)
    return tuple((a, b) for one, two in found.values() for a, b in ((one, two), (two, one)))
