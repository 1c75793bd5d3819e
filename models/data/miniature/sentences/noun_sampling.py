"""Drawing noun phrases: a noun that fits, its number, determiner and adjectives."""

from __future__ import annotations

from random import Random

from ..grammar.nominals import Coordination, Nominal, Pronoun
from ..grammar.noun_phrases import NounPhrase
from ..words.lexicon import Noun, Verb, Weighted, lexicon, zipf

OWNED = "related,animal&!wild,food,drink,readable,vehicle,movable,furniture,device,music,room,house"
OWNED += ",garden,school,idea,plan,answer,mistake,decision,proposal,secret,song,farm,shop,tree"
CLAUSE_FRAMES = ("that", "to", "cue")
_COUNTS = ("two", "three", "four")
# Cumulated shares; the last share of the plural goes to numerals.
_PLURAL_DETERMINERS = (
    (0.52, "the"),
    (0.66, "bare"),
    (0.72, "many"),
    (0.78, "some"),
    (0.83, "all"),
    (0.89, "this"),
    (0.93, "my"),
    (0.96, "our"),
    (1.0, ""),
)
_SINGULAR_DETERMINERS = (
    (0.57, "the"),
    (0.83, "a"),
    (0.89, "this"),
    (0.94, "my"),
    (0.97, "our"),
    (1.0, "every"),
)
_PRONOUNS = (
    ("3", False, "m"),
    ("3", False, "f"),
    ("1", False, ""),
    ("3", True, ""),
    ("1", True, ""),
)


class NounSampler:
    """Draws of verbs by frequency and of noun phrases.

    Args:
        rng: the only source of randomness
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.words = lexicon()
        ordinary = [v for v in self.words.verbs if v.frame not in CLAUSE_FRAMES]
        self.verbs = self._by_rank(ordinary)
        self.that_verbs = self._by_rank([v for v in self.words.verbs if v.frame == "that"])
        self.to_verbs = self._by_rank([v for v in self.words.verbs if v.frame == "to"])
        self.passive_verbs = self._by_rank(
            [v for v in ordinary if v.frame == "t" and not v.stative and "en" not in v.extras]
        )
        self.transitive = self._by_rank([v for v in ordinary if v.frame == "t"])
        self.personal = self._by_rank([v for v in ordinary if self._suits_persons(v)])

    def _by_rank(self, verbs: list[Verb]) -> Weighted[Verb]:
        return Weighted(verbs, (zipf(rank, 6.0, 1.15) for rank in range(len(verbs))))

    def _suits_persons(self, verb: Verb) -> bool:
        return "person" in verb.subject.split(",")

    def chance(self, share: float) -> bool:
        """Return True with a probability."""
        return self.rng.random() < share

    def noun_phrase(
        self,
        expression: str,
        *,
        plural: float = 0.25,
        adjectives: float = 0.3,
        determiner: str = "",
        avoid: frozenset[Noun] | None = None,
    ) -> NounPhrase:
        """Draw a noun phrase whose noun fits a tag expression.

        Args:
            expression: tags of `lexicon.Lexicon.matches`
            plural, adjectives: probabilities
            determiner: fixed, instead of drawn
            avoid: nouns that the sentence has already
        """
        choice = self.words.matching(expression)
        noun = choice.draw(self.rng)
        while avoid and noun in avoid and len(choice) > 1:
            noun = choice.draw(self.rng)
        return self.phrase_of(noun, plural=plural, adjectives=adjectives, determiner=determiner)

    def phrase_of(
        self, noun: Noun, *, plural: float = 0.25, adjectives: float = 0.3, determiner: str = ""
    ) -> NounPhrase:
        """Draw number, determiner and adjectives for a noun."""
        many = not noun.mass and self.chance(plural)
        article = determiner or self._determiner(noun, many)
        if article in ("my", "our") and not self.words.matches(noun, OWNED):
            article = "the"
        phrase = NounPhrase(noun, many, article)
        if noun.german_plural or noun.mass:
            choice = self.words.adjectives_of(noun)
            if len(choice) and self.chance(adjectives):
                phrase.adjectives = (choice.draw(self.rng),)
        return phrase

    def _determiner(self, noun: Noun, plural: bool) -> str:
        roll = self.rng.random()
        if noun.mass:
            if noun.supersense == "noun.food":
                return "the" if roll < 0.6 else "bare" if roll < 0.93 else "my"
            return "the"
        bounds = _PLURAL_DETERMINERS if plural else _SINGULAR_DETERMINERS
        chosen = next(name for bound, name in bounds if roll < bound)
        return chosen or self.rng.choice(_COUNTS)

    def name(self, entity: str) -> NounPhrase:
        """Draw a name."""
        return NounPhrase(self.words.names[entity].draw(self.rng), determiner="the")

    def pronoun(self) -> Pronoun:
        """Draw a personal pronoun for people."""
        person, plural, gender = self.rng.choices(_PRONOUNS, (5, 5, 3, 3, 2))[0]
        return Pronoun(person, plural, gender)

    def subject(self, verb: Verb, adjectives: float = 0.25) -> Nominal:
        """Draw a subject that the verb accepts."""
        roll = self.rng.random()
        if self._suits_persons(verb):
            if roll < 0.2:
                return self.pronoun()
            if roll < 0.32:
                return self.name("PERSON")
            if roll < 0.36 and "group" in verb.subject:
                return self.name("ORGANIZATION")
        phrase = self.noun_phrase(verb.subject, plural=0.22, adjectives=adjectives)
        if self.words.matches(phrase.noun, "related") and self.chance(0.06):
            owner = self.words.names["PERSON"].draw(self.rng)
            phrase.owner, phrase.determiner = owner, "the"
        return phrase

    def possessive(self, subject: Nominal | None) -> str:
        """Return the possessive that refers to the subject, or an empty string."""
        if isinstance(subject, Pronoun):
            if subject.person == "1":
                return "our" if subject.plural else "my"
            return "their" if subject.plural else {"m": "his", "f": "her"}.get(subject.gender, "")
        if isinstance(subject, NounPhrase) and subject.determiner not in ("no", "every"):
            if subject.plural:
                return "their"
            for tag, word in (("male", "his"), ("female", "her")):
                if tag in subject.noun.tags:
                    return word
            if subject.noun.supersense == "noun.animal":
                return "its " + subject.noun.gender
        return ""

    def object(
        self, expression: str, subject: Nominal | None, *, adjectives: float = 0.3
    ) -> Nominal:
        """Draw an object: a noun phrase, now and then a name, a pronoun or two joined nouns."""
        human = "person" in expression.split(",")
        roll = self.rng.random()
        if human and roll < 0.1:
            name = self.name("PERSON")
            if not (isinstance(subject, NounPhrase) and subject.noun is name.noun):
                return name
        if human and roll < 0.2 and isinstance(subject, NounPhrase):
            return self.pronoun()
        phrase = self.noun_phrase(expression, adjectives=adjectives, avoid=_nouns(subject))
        if roll > 0.9:
            if self.words.matches(phrase.noun, OWNED):
                phrase.determiner = self.possessive(subject) or phrase.determiner
        elif roll > 0.87 and not phrase.noun.mass:
            avoid = frozenset([phrase.noun, *(_nouns(subject) or ())])
            second = self.noun_phrase(expression, adjectives=0.1, avoid=avoid)
            if second.noun not in avoid:
                second.determiner = phrase.determiner = self.rng.choice(("the", "a"))
                return Coordination(phrase, second)
        if phrase.determiner in ("my", "our") and isinstance(subject, NounPhrase) and human:
            phrase.determiner = "the"
        return phrase


def _nouns(nominal: Nominal | None) -> frozenset[Noun] | None:
    return frozenset([nominal.noun]) if isinstance(nominal, NounPhrase) else None
