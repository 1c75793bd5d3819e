"""What a dependency tree asks of a head: where is my head, where are my dependents?

For a relation (nsubj, amod, ...) and a direction, every word with a partner along that arc is
a question: is the word that it looks at most its partner?

    dependent->head    each dependent asks for its head
    head->dependent    each head asks for its dependents of that relation; any of them is right

Words are units here, what the model's pieces can tell apart. Arcs between words that no piece
tells apart (`de` and `le` of `du`) and arcs of words without pieces cannot be seen.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ..annotations.pieces import NO_UNIT, WordPieces
from ..annotations.sentence import ROOT, AnnotatedSentence

TO_HEAD, TO_DEPENDENT = "dependent->head", "head->dependent"


class Arc(NamedTuple):
    """A kind of question."""

    relation: str
    direction: str


class Question(NamedTuple):
    """A unit that asks, and the units that are right answers."""

    arc: Arc
    query: int
    partners: frozenset[int]


class Ask(Protocol):
    """What asks questions of a sentence; see `questions`."""

    def __call__(
        self, sentence: AnnotatedSentence, pieces: WordPieces, *, causal: bool
    ) -> tuple[list[Question], int]:
        """Return the questions, and how many cannot be seen."""
        ...


def questions(
    sentence: AnnotatedSentence, pieces: WordPieces, *, causal: bool
) -> tuple[list[Question], int]:
    """Return the questions that a sentence's tree asks.

    Args:
        sentence: with a tree; without one there are no questions.
        pieces: of its words.
        causal: whether only partners before the word can be seen.

    Returns:
        the questions, and how many arcs cannot be seen.
    """
    partners: dict[tuple[Arc, int], set[int]] = {}
    unseen = 0
    for index, word in enumerate(sentence.words if sentence.has_tree else ()):
        if word.head == ROOT:
            continue
        dependent, head = pieces.unit[index], pieces.unit[word.head]
        if NO_UNIT in (dependent, head) or dependent == head:
            unseen += 1
            continue
        relation = word.relation.partition(":")[0]
        for direction, query, key in (
            (TO_HEAD, dependent, head),
            (TO_DEPENDENT, head, dependent),
        ):
            if not causal or key < query:
                partners.setdefault((Arc(relation, direction), query), set()).add(key)
    asked = [Question(arc, query, frozenset(keys)) for (arc, query), keys in partners.items()]
    return asked, unseen
