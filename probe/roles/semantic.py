"""Semantic heads: heads that join words by what they mean.

| kind | direction | who asks, and what is right |
| --- | --- | --- |
| supersense | word->same class | a word; another word of its supersense |
| role | argument->predicate | an argument; a predicate that it has a role of |
| role | predicate->argument | a predicate; any of its arguments |
| agent, patient, ... | argument->predicate | the same, role by role |
| pronoun | word->what decides it | a pronoun; its antecedent |
| sense | word->what decides it | an ambiguous word; the word that tells its sense |

The last two are asked where sentences name a focus and its cue, as those of the built-in
corpus do; the kind is the part of speech of the focus: PRON is a pronoun, an ambiguous word is
a noun or an adjective, a verb is asked for its subject (agreement).

Pitfall: roles follow syntax. Most agents are subjects of verbs, so a head for nsubj has the
role of agents as well; where both are found, look at passives.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..annotations.miniature import focus_of
from ..annotations.pieces import NO_UNIT, WordPieces
from ..annotations.sentence import AnnotatedSentence
from .questions import Arc, Question

TO_CLASS, TO_PREDICATE, TO_ARGUMENT, TO_CUE = (
    "word->same class",
    "argument->predicate",
    "predicate->argument",
    "word->what decides it",
)
FOCI = {"PRON": "pronoun", "DET": "pronoun", "NOUN": "sense", "ADJ": "sense"}
"""What is asked of a focus, by its part of speech; a verb's cue is its subject."""


def semantic_questions(
    sentence: AnnotatedSentence, pieces: WordPieces, *, causal: bool
) -> tuple[list[Question], int]:
    """Return the questions that the meaning of a sentence asks.

    Args:
        sentence: with supersenses, roles or a focus; layers that it lacks ask nothing.
        pieces: of its words.
        causal: whether only partners before the word can be seen.

    Returns:
        the questions, and how many joined words cannot be seen.
    """
    partners: dict[tuple[Arc, int], set[int]] = {}
    unseen = 0
    for arc, word, partner in _joined(sentence):
        query, key = pieces.unit[word], pieces.unit[partner]
        if NO_UNIT in (query, key) or query == key:
            unseen += 1
        elif not causal or key < query:
            partners.setdefault((arc, query), set()).add(key)
    asked = [Question(arc, query, frozenset(keys)) for (arc, query), keys in partners.items()]
    return asked, unseen


def _joined(sentence: AnnotatedSentence) -> Iterator[tuple[Arc, int, int]]:
    """Yield a kind, the word that asks, and a word that is right."""
    for role in sentence.roles or ():
        yield Arc("role", TO_PREDICATE), role.argument, role.predicate
        yield Arc("role", TO_ARGUMENT), role.predicate, role.argument
        yield Arc(role.label, TO_PREDICATE), role.argument, role.predicate
    classes: dict[str, list[int]] = {}
    for each in sentence.supersenses or ():
        if each.classified:
            classes.setdefault(each.label, []).append(each.words[0])
    for words in classes.values():
        for word in words:
            for other in words:
                if other != word:
                    yield Arc("supersense", TO_CLASS), word, other
    focus = focus_of(sentence)
    if focus is not None:
        kind = FOCI.get(sentence.words[focus[0]].upos, "agreement")
        yield Arc(kind, TO_CUE), *focus
