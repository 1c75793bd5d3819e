"""Semantics: what a word means, and what its referent does and is."""

from __future__ import annotations

from collections.abc import Iterator

from ...annotations.sentence import AnnotatedSentence, Supersense
from .task import Labelled, probe_task


def _expressions(sentence: AnnotatedSentence) -> Iterator[Supersense]:
    """Yield the expressions that have a class."""
    for each in sentence.supersenses or ():
        if each.classified:
            yield each


@probe_task("supersense", "semantics")
def supersense(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Coarse meaning of nouns and verbs; of an expression of several words, at each of them."""
    for each in _expressions(sentence):
        if not each.label.startswith("p."):
            for word in each.words:
                yield Labelled(word, each.label)


@probe_task("scene_role", "semantics")
def scene_role(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """What the phrase of a preposition is in the event (Schneider et al. 2018)."""
    for each in _expressions(sentence):
        if each.label.startswith("p."):
            yield Labelled(each.words[0], each.label)


@probe_task("preposition_function", "semantics")
def preposition_function(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """What the preposition itself contributes, wherever it is used (Schneider et al. 2018)."""
    for each in _expressions(sentence):
        if each.function:
            yield Labelled(each.words[0], each.function)


@probe_task("entity", "semantics")
def entity(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Type of the named entity that the word is in; words outside are no examples."""
    seen: set[int] = set()
    for span in sorted(sentence.entities or (), key=lambda it: it.end - it.start):
        for word in range(span.start, span.end):
            if word not in seen:  # of nested entities the smallest
                seen.add(word)
                yield Labelled(word, span.label)


@probe_task("role", "semantics", "pair")
def role(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Semantic role of an argument, argument and predicate given."""
    for each in sentence.roles or ():
        yield Labelled(each.argument, each.label, each.predicate)


@probe_task("sense", "semantics")
def sense(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Which sense an ambiguous word has."""
    for index, word in enumerate(sentence.words):
        if label := word.remark("Sense"):
            yield Labelled(index, label)


@probe_task("animacy", "semantics")
def animacy(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Whether the word refers to a human, an animal or a thing."""
    for index, word in enumerate(sentence.words):
        if label := word.remark("Animacy"):
            yield Labelled(index, label)
