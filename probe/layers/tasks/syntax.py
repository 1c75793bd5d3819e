"""Syntax: what a word is and where it stands in the tree."""

from __future__ import annotations

from collections.abc import Iterator

from ...annotations.sentence import ROOT, AnnotatedSentence
from .task import Labelled, probe_task


@probe_task("upos", "syntax")
def upos(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Universal part of speech of the word."""
    for index, word in enumerate(sentence.words):
        if word.upos:
            yield Labelled(index, word.upos)


@probe_task("xpos", "syntax")
def xpos(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Part of speech in the treebank's own tags."""
    for index, word in enumerate(sentence.words):
        if word.xpos:
            yield Labelled(index, word.xpos)


@probe_task("relation", "syntax", "pair")
def relation(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Dependency relation between a word and its head, both given; without subtypes."""
    if sentence.has_tree:
        for index, word in enumerate(sentence.words):
            if word.head != ROOT:
                yield Labelled(index, word.relation.partition(":")[0], word.head)


@probe_task("head_distance", "syntax")
def head_distance(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Where the head of the word stands: how many words to the left (-) or right (+).

    Distances of 3 to 5 and of 6 and more are one class each; roots have none.
    """
    if sentence.has_tree:
        for index, word in enumerate(sentence.words):
            if word.head != ROOT:
                yield Labelled(index, _distance(word.head - index))


def _distance(words: int) -> str:
    size = abs(words)
    name = str(size) if size < 3 else "3-5" if size < 6 else "6"
    return ("-" if words < 0 else "+") + name


@probe_task("depth", "syntax")
def depth(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Dependency arcs between the word and the root: 0, 1, ..., 4, 5 and more."""
    if sentence.has_tree:
        for index, arcs in enumerate(sentence.depths):
            yield Labelled(index, str(min(arcs, 5)))


@probe_task("constituent", "syntax")
def constituent(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Label of the smallest phrase around the word (Blevins et al. 2018)."""
    for index in range(len(sentence)):
        around = [it for it in sentence.constituents or () if it.start <= index < it.end]
        if around:
            yield Labelled(index, min(around, key=lambda it: it.end - it.start).label)


@probe_task("higher_constituent", "syntax")
def higher_constituent(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Label of the second smallest phrase around the word (Blevins et al. 2018)."""
    for index in range(len(sentence)):
        around = [it for it in sentence.constituents or () if it.start <= index < it.end]
        if len(around) > 1:
            yield Labelled(index, sorted(around, key=lambda it: it.end - it.start)[1].label)
