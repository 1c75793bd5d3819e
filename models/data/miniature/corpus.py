"""The corpus: distinct sentence pairs from a seed, in disjoint parts.

`unseen` holds combinations that training never shows, though it shows their words: a verb with
an object, or an adjective with a noun, held out by a checksum of the two lemmas, the same in
every corpus. Good BLEU on `test` and poor BLEU on `unseen` means memory instead of grammar.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from zlib import crc32

from .annotation import AnnotatedPair, Focus, Written, alignment, finish, write
from .grammar.tree import Line, Token
from .sentences import complex_sentences, context, main_clauses, senses  # noqa: F401  (they join)
from .sentences.drafts import Draft
from .sentences.family import WEIGHTS, Grammar, phenomenon

HELD_OUT = 16  # one combination in so many
SHORTEST, LONGEST = 3, 25  # words of a sentence, punctuation included


@dataclass(frozen=True, slots=True)
class MiniatureCorpus:
    """Annotated sentence pairs, English to German.

    Args:
        train, valid, test: drawn alike, disjoint in source and in target text
        unseen: every sentence has a combination that is in no other part
    """

    train: list[AnnotatedPair]
    valid: list[AnnotatedPair]
    test: list[AnnotatedPair]
    unseen: list[AnnotatedPair]

    @property
    def splits(self) -> dict[str, list[AnnotatedPair]]:
        """Return the parts by name."""
        return {"train": self.train, "valid": self.valid, "test": self.test, "unseen": self.unseen}


def held_out(first: str, second: str) -> bool:
    """Tell whether a combination of two English lemmas is kept for the part `unseen`."""
    return crc32(f"{first} {second}".encode()) % HELD_OUT == 0


def combinations(line: Line) -> list[tuple[str, str]]:
    """Return the verb + object and adjective + noun pairs of an English sentence."""
    return [
        (token.lemma, token.head.lemma)
        if token.relation == "amod"
        else (token.head.lemma, token.lemma)
        for token in line.tokens
        if token.head is not None
        and token.relation in ("amod", "obj")
        and token.upos in ("NOUN", "ADJ")
        and token.lemma != "many"
    ]


def drafts(grammar: Grammar, only: str = "") -> Iterator[tuple[str, Draft]]:
    """Yield drafts without end, with the names of their phenomena."""
    names, weights = list(WEIGHTS), list(WEIGHTS.values())
    while True:
        name = only or grammar.rng.choices(names, weights)[0]
        draft = phenomenon[name](grammar)
        while draft is None or not _fits(draft):
            draft = phenomenon[name](grammar)
        yield name, draft


def _fits(draft: Draft) -> bool:
    lengths = len(draft.english.tokens), len(draft.german.tokens)
    return min(lengths) >= SHORTEST and max(lengths) <= LONGEST


def freeze(
    name: str, draft: Draft, written: tuple[Written | None, Written | None] = (None, None)
) -> AnnotatedPair:
    """Turn a draft into an immutable annotated pair; `written` as in `annotation.finish`."""
    focus, distance = _focus(draft)
    source, target = finish(draft.english, written[0]), finish(draft.german, written[1])
    pairs = alignment(draft.english, draft.german)
    contrasts = tuple(text for text in draft.contrasts() if text != target.text)
    return AnnotatedPair(source, target, pairs, name, distance, focus, contrasts)


def _focus(draft: Draft) -> tuple[Focus, int]:
    if draft.focus is None or draft.cue is None:
        return Focus(), 0
    sides = (draft.english.tokens, draft.german.tokens)

    def where(words: tuple[Token, Token]) -> list[int]:
        return [tokens.index(word) for tokens, word in zip(sides, words, strict=True)]

    word, cue = where(draft.focus), where(draft.cue)
    return Focus(word[0], word[1], cue[0], cue[1]), abs(word[0] - cue[0])


def pairs(seed: int, phenomenon: str = "", distance: int | None = None) -> Iterator[AnnotatedPair]:
    """Yield annotated pairs without end; the same text may come again.

    Args:
        seed: seed of the only random generator
        phenomenon: show this phenomenon alone
        distance: number of modifiers between a word and what decides it, where the phenomenon
            has such a pair
    """
    grammar = Grammar(Random(seed), distance)
    for name, draft in drafts(grammar, phenomenon):
        yield freeze(name, draft)


@contextmanager
def _no_search_for_cycles() -> Iterator[None]:
    """Rest the garbage collector: the kept words are many, and looking at them costs a quarter."""
    resting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if resting:
            gc.enable()


def generate(
    seed: int = 0,
    sentences: int = 20_000,
    valid: int | None = None,
    test: int | None = None,
    unseen: int | None = None,
) -> MiniatureCorpus:
    """Generate a corpus; the same arguments give the same corpus on every machine.

    Args:
        seed: seed of the only random generator
        sentences: size of the training part
        valid, test, unseen: sizes of the other parts; 500, 1,000 and 500 when not given, less
            beside a small training part

    Returns:
        parts without a common source or target text, in random order. `unseen` can be smaller
        than asked for where a small training part knows too few words.
    """
    valid = min(500, sentences // 4 + 1) if valid is None else valid
    test = min(1_000, sentences // 4 + 1) if test is None else test
    unseen = min(500, sentences // 8 + 1) if unseen is None else unseen
    rng = Random(seed)
    ordinary: list[AnnotatedPair] = []
    apart: list[AnnotatedPair] = []
    seen_sources: set[str] = set()
    seen_targets: set[str] = set()
    with _no_search_for_cycles():
        for name, draft in drafts(Grammar(rng)):
            new = any(held_out(*pair) for pair in combinations(draft.english))
            wanted = apart if new else ordinary
            limit = 2 * unseen if new else sentences + valid + test
            if len(wanted) < limit:
                source, target = write(draft.english.tokens), write(draft.german.tokens)
                if source[0] not in seen_sources and target[0] not in seen_targets:
                    seen_sources.add(source[0])
                    seen_targets.add(target[0])
                    wanted.append(freeze(name, draft, (source, target)))
            if len(ordinary) == sentences + valid + test and len(apart) == 2 * unseen:
                break
    rng.shuffle(ordinary)
    train = ordinary[:sentences]
    known = Counter(word.form.lower() for pair in train for word in pair.source.words)
    apart = [p for p in apart if all(word.form.lower() in known for word in p.source.words)]
    return MiniatureCorpus(
        train,
        ordinary[sentences : sentences + valid],
        ordinary[sentences + valid :],
        apart[:unseen],
    )
