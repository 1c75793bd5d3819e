"""What sentences show: the family of phenomena, and what they draw from.

A phenomenon is a function that draws a description and returns it built on both sides, or None
when the draw does not fit. The members live in `main_clauses`, `complex_sentences`, `context` and
`senses`. Where a phenomenon is about one word that another decides (a pronoun by its antecedent,
a verb by its subject), the draft names both, and how the target looks if the model is fooled.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ....registry import Registry
from ..grammar.descriptions import Clause
from ..grammar.nominals import Nominal, Pronoun
from ..grammar.noun_phrases import NounPhrase
from ..grammar.verb_chains import COPULA, Tense
from .drafts import Draft
from .relatives import RelativeSampler
from .sampling import Sampler


class Grammar:
    """Everything a phenomenon draws from.

    Args:
        rng: the only source of randomness
        distance: how far apart a word and what decides it should stand: the number of
            modifiers between them, None to draw it
    """

    def __init__(self, rng: Random, distance: int | None = None) -> None:
        self.rng = rng
        self.sampler = Sampler(rng)
        self.relatives = RelativeSampler(self.sampler)
        self.distance = distance

    def modifiers(self) -> int:
        """Draw how many modifiers stand between a word and what decides it."""
        if self.distance is not None:
            return self.distance
        return self.rng.choices((0, 1, 2, 3), (25, 45, 22, 8))[0]


Phenomenon = Callable[[Grammar], Draft | None]
phenomenon: Registry[Phenomenon] = Registry("phenomenon")

WEIGHTS = {
    "statement": 14,
    "fronting": 6,
    "question": 7,
    "negation": 8,
    "perfect": 8,
    "future": 3,
    "modal": 7,
    "passive": 7,
    "copula": 3,
    "motion": 6,
    "relative": 8,
    "coordination": 7,
    "complement": 7,
    "subordinate": 8,
    "infinitive": 5,
    "pronoun": 9,
    "possessive": 3,
    "agreement": 8,
    "sense": 10,
    "sense_adjective": 3,
}


def predication(grammar: Grammar, phrase: NounPhrase, when: Tense) -> Clause | None:
    """Say of a noun phrase what it is like; None if no adjective suits it."""
    choice = grammar.sampler.words.adjectives_of(phrase.noun)
    if not len(choice):
        return None
    adjective = choice.draw(grammar.rng)
    phrase.adjectives = ()
    if phrase.determiner in ("bare", "no", "every", "a"):
        phrase.determiner = "the"
    return Clause(COPULA, phrase, predicate=adjective, when=when)


def same_again(subject: Nominal | None) -> Pronoun | None:
    """Return the pronoun that takes a human subject up again."""
    if isinstance(subject, Pronoun):
        return Pronoun(subject.person, subject.plural, subject.gender)
    if not isinstance(subject, NounPhrase) or subject.noun.supersense != "noun.person":
        return None
    if subject.determiner in ("no", "every"):
        return None
    if subject.plural:
        return Pronoun("3", True)
    for tag, gender in (("male", "m"), ("female", "f")):
        if tag in subject.noun.tags:
            return Pronoun("3", False, gender)
    return None


def unclear(clause: Clause) -> bool:
    """Tell whether the tense of the clause could be read two ways."""
    subject = clause.subject
    plain = not (clause.when.perfect or clause.when.progressive or clause.when.modal)
    third = subject is not None and subject.person == "3" and not subject.plural
    progressive = clause.when.progressive
    return progressive or (plain and clause.verb.same_past and not third)
