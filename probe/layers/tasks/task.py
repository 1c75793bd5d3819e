"""The `probe task` family: what a task asks of an annotated sentence.

A task reads one sentence and yields its labelled examples, or nothing where the sentence
lacks the layer of annotation that it needs: a sentence that nobody annotated with entities is
no sentence without entities. Where the labels come from is not its business, so a task works
alike on the built-in corpus and on any treebank that has the layer.

The FAMILY says what the task is evidence of. Only `syntax` and `semantics` take part in the
verdict; `morphology`, `sentence` and `translation` stand beside them.

Decoder. The state at target word i has read words 1 ... i and is on its way to predict i + 1. So
there are three questions, which are kept apart because mixing them would leak: the label of
the word just read (`current`), of the word to come (`next`), and of the aligned source word
(`aligned`). The encoder is asked what its words were translated by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ....models.errors import DataError
from ....models.registry import Registry
from ...annotations.sentence import AnnotatedSentence
from ...annotations.treebank import AlignedPair
from ..examples import Examples, Numbers, Unit
from ..store import StateStore

Family = Literal["syntax", "semantics", "morphology", "sentence", "translation"]
NONE = -1
"""In place of a second word."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One example: a word, perhaps a second one, and the label.

    Args:
        word: index in the sentence; 0 for a whole sentence.
        label: what the probe should say.
        partner: second word of a pair, -1 without.
    """

    word: int
    label: str
    partner: int = NONE


Read = Callable[[AnnotatedSentence], Iterable[Labelled]]


@dataclass(frozen=True)
class ProbeTask:
    """A member of the family.

    Args:
        name: as in tables.
        family: what it is evidence of.
        unit: whether its examples are words, pairs of words or sentences.
        summary: what it asks, in one line.
        read: yields the examples of a sentence.
    """

    name: str
    family: Family
    unit: Unit
    summary: str
    read: Read


task: Registry[ProbeTask] = Registry("probe task")


def probe_task(name: str, family: Family, unit: Unit = "word") -> Callable[[Read], Read]:
    """Let a function join the family under `name`; its docstring says what it asks."""

    def join(read: Read) -> Read:
        summary = (read.__doc__ or "").strip().splitlines()[0]
        task(name)(ProbeTask(name, family, unit, summary, read))
        return read

    return join


@dataclass(frozen=True)
class Words:
    """The words of a store, as the tasks need them.

    Args:
        starts: row of the first word of every sentence  # [sentence]
        aligned: whether a word has a vector  # [word]
        types: word type of every word  # [word]
    """

    starts: Numbers
    aligned: np.ndarray[tuple[int], np.dtype[np.bool_]]
    types: Numbers

    @classmethod
    def of(cls, store: StateStore, sentences: Sequence[AnnotatedSentence]) -> Words:
        """Join a store with the sentences it was captured from.

        Raises:
            DataError: they have different words.
        """
        forms = [word.form.lower() for sentence in sentences for word in sentence.words]
        if len(forms) != len(store.sentences):
            raise DataError(f"{len(forms)} annotated words but states of {len(store.sentences)}")
        _, types = np.unique(np.array(forms), return_inverse=True)
        return cls(store.starts, store.aligned, types.astype(np.int64))


def examples_of(
    member: ProbeTask,
    sentences: Sequence[AnnotatedSentence],
    words: Words,
    at: Literal["current", "next"] = "current",
) -> Examples:
    """Return the examples of a task; words without a vector are left out.

    Args:
        at: `next` reads the label of a word from the state of the word before it.

    Raises:
        DataError: no sentence has what the task needs.
    """
    shift = 1 if at == "next" else 0
    if shift and member.unit != "word":
        raise DataError(f"task '{member.name}' has no next word: its examples are {member.unit}s")
    found = (
        (number, it.word - shift, it.partner, it.label)
        for number, sentence in enumerate(sentences)
        for it in member.read(sentence)
        if it.word >= shift
    )
    name = member.name if at == "current" else f"{member.name} of the next word"
    return _examples(name, member.unit, found, words)


def aligned_examples(member: ProbeTask, pairs: Sequence[AlignedPair], words: Words) -> Examples:
    """Return the labels of source words as examples of the target words aligned to them.

    Only target words with exactly one sure link count.

    Args:
        member: a task about words.
        pairs: the sentence pairs.
        words: of the target side.
    """

    def found() -> Iterator[tuple[int, int, int, str]]:
        for number, pair in enumerate(pairs):
            labels = {it.word: it.label for it in member.read(pair.source)}
            links: dict[int, list[int]] = {}
            for source, target in pair.sure:
                links.setdefault(target, []).append(source)
            for target, sources in sorted(links.items()):
                if len(sources) == 1 and sources[0] in labels:
                    yield number, target, NONE, labels[sources[0]]

    return _examples(f"{member.name} of the aligned source word", "word", found(), words)


TRANSLATIONS = 50
"""Target word types that a probe has to tell apart; every further one costs a column."""


def translation_examples(pairs: Sequence[AlignedPair], words: Words) -> Examples:
    """Return the target words that source words were translated by, the most frequent of them.

    Only source words with exactly one sure link count, and only the lower-cased target words
    that are translations most often. What needs no context is told by the most frequent
    translation of the word type.

    Args:
        pairs: the sentence pairs, their links sure.
        words: of the source side.
    """
    found = []
    for number, pair in enumerate(pairs):
        links: dict[int, list[int]] = {}
        for source, target in pair.sure:
            links.setdefault(source, []).append(target)
        for source, targets in sorted(links.items()):
            if len(targets) == 1:
                label = pair.target.words[targets[0]].form.lower()
                found.append((number, source, NONE, label))
    counts = Counter(label for *_, label in found)
    # Of equally frequent words the first in the alphabet, so that any order gives the same.
    most = sorted(counts, key=lambda label: (-counts[label], label))[:TRANSLATIONS]
    chosen = (it for it in found if it[3] in most)
    return _examples("aligned target word", "word", chosen, words)


def _examples(
    name: str, unit: Unit, found: Iterable[tuple[int, int, int, str]], words: Words
) -> Examples:
    """Turn (sentence, word, partner, label) into examples."""
    sentences, rows, partners, labels = [], [], [], []
    for sentence, word, partner, label in found:
        row = int(words.starts[sentence]) + word
        other = int(words.starts[sentence]) + partner if partner != NONE else row
        if unit != "sentence" and not (words.aligned[row] and words.aligned[other]):
            continue
        sentences.append(sentence)
        rows.append(sentence if unit == "sentence" else row)
        partners.append(other)
        labels.append(label)
    if not labels:
        raise DataError(f"task '{name}': no sentence has the annotation that it needs")
    classes, numbers = np.unique(np.array(labels), return_inverse=True)
    at = np.array(rows, dtype=np.int64)  # [example]
    return Examples(
        task=name,
        unit=unit,
        classes=tuple(str(it) for it in classes),
        rows=at,
        partners=np.array(partners, dtype=np.int64) if unit == "pair" else None,
        labels=numbers.astype(np.int64),
        sentences=np.array(sentences, dtype=np.int64),
        types=np.full(len(at), NONE) if unit == "sentence" else words.types[at],
    )
