"""Morphology: features of the word that its form may or may not show."""

from __future__ import annotations

from collections.abc import Iterator

from ...annotations.sentence import AnnotatedSentence
from .task import Labelled, probe_task


def _feature(sentence: AnnotatedSentence, name: str) -> Iterator[Labelled]:
    for index, word in enumerate(sentence.words):
        if value := word.feature(name):
            yield Labelled(index, value)


@probe_task("number", "morphology")
def number(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Number of words that have one."""
    return _feature(sentence, "Number")


@probe_task("tense", "morphology")
def tense(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Tense of words that have one."""
    return _feature(sentence, "Tense")


@probe_task("gender", "morphology")
def gender(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Grammatical gender of words that have one."""
    return _feature(sentence, "Gender")


@probe_task("case", "morphology")
def case(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Case of words that have one."""
    return _feature(sentence, "Case")
