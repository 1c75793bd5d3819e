"""Sentences that were put out of order: does a state notice (Conneau et al. 2018)?

- bigram shift: two neighbouring words inside the sentence change places;
- coordination inversion: the two clauses of a coordination do. `The dog slept and the cat
  ran away.` becomes `The cat ran away and the dog slept.`

Any treebank will do (coordination needs trees), because the sentences are made here: of those
that allow it a random half is altered, the others stay, so both labels are equally frequent,
and no sentence is there in both forms. A made sentence stands in the part of its original.

Pitfalls. Words keep their letters, but a capital at the beginning of a clause would give it
away, so the first word of a sentence is never shifted, and clauses exchange their capital.
Altered sentences have no annotation but their label, so no other task learns from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...annotations.sentence import AnnotatedSentence, Word
from .task import Labelled, probe_task

ALTERED = "altered"
"""The comment of a made sentence: the id of its original."""
SHIFT = "bigram_shift"
INVERSION = "coordination_inversion"


@probe_task("bigram_shift", "sentence", "sentence")
def bigram_shift(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Whether two neighbouring words have changed places."""
    return _label(sentence, SHIFT)


@probe_task("coordination_inversion", "sentence", "sentence")
def coordination_inversion(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Whether two coordinated clauses have changed places."""
    return _label(sentence, INVERSION)


def _label(sentence: AnnotatedSentence, name: str) -> Iterator[Labelled]:
    if label := sentence.comment(name):
        yield Labelled(0, label)


def altered(
    sentences: Sequence[AnnotatedSentence], generator: np.random.Generator, most: int
) -> tuple[list[AnnotatedSentence], list[AnnotatedSentence], list[int]]:
    """Make the sentences of both tasks.

    Args:
        sentences: the originals.
        generator: says which are altered, and where.
        most: at most so many originals a task, chosen at random.

    Returns:
        the originals, labelled where they stay as they are; the altered sentences; and the
        number of the original of each  # [altered]
    """
    kept, made, origins = list(sentences), [], []
    ways: dict[str, Alter] = {SHIFT: shifted, INVERSION: inverted}
    for name, alter in ways.items():
        taken = 0
        for number in generator.permutation(len(sentences)).tolist():
            if taken == most:
                break
            changed = alter(sentences[number], generator)
            if changed is None:
                continue
            if taken % 2:
                comments = ((ALTERED, sentences[number].id), (name, "changed"))
                identity = f"{sentences[number].id} {name}"
                made.append(replace(changed, id=identity, comments=comments))
                origins.append(number)
            else:
                as_it_is = (*kept[number].comments, (name, "kept"))
                kept[number] = replace(kept[number], comments=as_it_is)
            taken += 1
    return kept, made, origins


Alter = Callable[[AnnotatedSentence, np.random.Generator], AnnotatedSentence | None]


def shifted(
    sentence: AnnotatedSentence, generator: np.random.Generator
) -> AnnotatedSentence | None:
    """Exchange two neighbouring words; None where no two words can be exchanged."""
    words = sentence.words
    once = [sentence.spans.count(word.span) == 1 for word in words]  # not `zu` and `dem` of `zum`
    places = [
        index
        for index in range(1, len(words) - 1)
        if once[index]
        and once[index + 1]
        and _apart(words[index], words[index + 1])
        and words[index].form.lower() != words[index + 1].form.lower()
    ]
    if not places:
        return None
    at = places[int(generator.integers(len(places)))]
    order = [[*words[:at]], [words[at + 1]], [words[at]], [*words[at + 2 :]]]
    first, second = words[at], words[at + 1]
    edges = (0, first.start, first.end, second.start, second.end, len(sentence.text))
    head, one, gap, two, tail = (sentence.text[a:b] for a, b in pairwise(edges))
    starts = (0, len(head), len(head + two + gap), len(head + two + gap + one))
    moved = [
        replace(_bare(word), start=word.start + start - before, end=word.end + start - before)
        for group, start, before in zip(
            order, starts, (0, second.start, first.start, second.end), strict=True
        )
        for word in group
    ]
    return _made(sentence, head + two + gap + one + tail, moved)


def _apart(one: Word, other: Word) -> bool:
    """Tell whether two words stand in the text one after the other and are no punctuation."""
    inside = one.located and other.located and one.end <= other.start
    return inside and "PUNCT" not in (one.upos, other.upos)


def inverted(
    sentence: AnnotatedSentence, generator: np.random.Generator
) -> AnnotatedSentence | None:
    """Exchange the two clauses of `clause conjunction clause .`; None for other sentences."""
    found = clauses(sentence)
    if found is None:
        return None
    words, (middle, begin, end) = sentence.words, found
    if not all(word.located for word in words):
        return None
    one, two = words[:middle], words[begin:end]
    text = sentence.text
    cuts = (one[-1].end, two[0].start, two[-1].end)
    before, between = text[one[0].start : cuts[0]], text[cuts[0] : cuts[1]]
    after, rest = text[cuts[1] : cuts[2]], text[cuts[2] :]
    if not (one[0].upos == "PROPN" or one[0].form == "I"):  # these have a capital anywhere
        before = before[:1].lower() + before[1:]
    changed = after[:1].upper() + after[1:] + between + before + rest
    lead = len(after) + len(between)
    shifts = [(two, -cuts[1]), (words[middle:begin], len(after) - cuts[0])]
    shifts += [(one, lead - one[0].start), (words[end:], -one[0].start)]
    moved = [
        replace(_bare(word), start=word.start + shift, end=word.end + shift)
        for group, shift in shifts
        for word in group
    ]
    return _made(sentence, changed, moved)


def clauses(sentence: AnnotatedSentence) -> tuple[int, int, int] | None:
    """Find `clause conjunction clause` with at most punctuation behind.

    Returns:
        where the first clause ends, and where the second begins and ends, in words.
    """
    if not sentence.has_tree:
        return None
    words = sentence.words
    for index, word in enumerate(words):
        top = word.relation.partition(":")[0] == "conj" and words[word.head].relation == "root"
        if not (top and _is_clause(sentence, index) and _is_clause(sentence, word.head)):
            continue
        own = {other for other in range(len(words)) if _below(sentence, other, index)}
        marks = {it for it in own if words[it].relation in ("cc", "punct") and it < index}
        marks = {it for it in marks if words[it].head == index}
        inside = sorted(own - marks)
        begin, end = inside[0], inside[-1] + 1
        middle = min(marks, default=begin)
        closed = all(it.upos == "PUNCT" for it in words[end:])
        has_conjunction = any(words[it].relation == "cc" for it in marks)
        whole = inside == list(range(begin, end)) and marks == set(range(middle, begin))
        if middle > 0 and closed and has_conjunction and whole:
            return middle, begin, end
    return None


def _is_clause(sentence: AnnotatedSentence, index: int) -> bool:
    """Tell whether a word has a subject of its own."""
    return any(
        word.head == index and word.relation.startswith(("nsubj", "csubj"))
        for word in sentence.words
    )


def _below(sentence: AnnotatedSentence, word: int, top: int) -> bool:
    while word not in (top, -1):
        word = sentence.words[word].head
    return word == top


def _bare(word: Word) -> Word:
    """Return the word without annotation."""
    return Word(word.form, word.start, word.end)


def _made(sentence: AnnotatedSentence, text: str, words: Sequence[Word]) -> AnnotatedSentence:
    return AnnotatedSentence(sentence.id, text, tuple(words), sentence.document)
