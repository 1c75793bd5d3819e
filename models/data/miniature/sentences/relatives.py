"""Relative clauses, such as: the dog that the man sees | der Hund, den der Mann sieht."""

from __future__ import annotations

from dataclasses import dataclass

from ..grammar import clauses
from ..grammar.descriptions import Clause
from ..grammar.nominals import Prepositional, RelativeGap
from ..grammar.noun_phrases import NounPhrase
from ..grammar.tree import Pair, Phrase, Token, comma
from ..grammar.verb_chains import COPULA, PAST, PRESENT, Tense
from ..words.lexicon import Noun, Verb, Weighted, zipf
from .sampling import Sampler


@dataclass(slots=True, eq=False)
class RelativeClause:
    """A clause with a gap, as modifier of the gap's antecedent."""

    clause: Clause

    def attach(self, english_noun: Token, german_noun: Token) -> Pair:
        """Return both sides; German sets the clause between commas."""
        own, other = clauses.build(self.clause, "final")
        own.under(english_noun, "acl:relcl")
        other.under(german_noun, "acl:relcl")
        commas = comma(other.head), comma(other.head)
        return own, Phrase(other.head, [commas[0], other, commas[1]])


class RelativeSampler:
    """Draws relative clauses that suit their antecedent."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self._as_subject: dict[Noun, Weighted[Verb]] = {}
        self._as_object: dict[Noun, Weighted[Verb]] = {}

    def verbs_of(self, noun: Noun, as_object: bool) -> Weighted[Verb]:
        """Return the verbs that accept a noun as their object or subject."""
        cache = self._as_object if as_object else self._as_subject
        if noun not in cache:
            source = self.sampler.transitive if as_object else self.sampler.verbs
            words = self.sampler.words
            found = [
                (verb, zipf(rank, 6.0))
                for rank, verb in enumerate(source.items)
                if words.matches(noun, verb.object if as_object else verb.subject)
                and (not as_object or self._has_person(verb))
            ]
            cache[noun] = Weighted([pair[0] for pair in found], [pair[1] for pair in found])
        return cache[noun]

    def _has_person(self, verb: Verb) -> bool:
        return "person" in verb.subject.split(",")

    def add(
        self,
        phrase: NounPhrase,
        kind: str = "",
        *,
        plural: bool | None = None,
        main: Clause | None = None,
    ) -> bool:
        """Give a noun phrase a relative clause; return False where none suits.

        Args:
            phrase: the antecedent
            kind: subject, object, predicate or place; empty to draw it
            plural: number of the clause's own subject (a distractor), None to draw it
            main: the clause around it, which it should not repeat
        """
        rng = self.sampler.rng
        kind = kind or rng.choices(("subject", "object", "predicate", "place"), (4, 4, 2, 1))[0]
        gap = RelativeGap(phrase)
        past = main is not None and main.when.tense == "past"
        when = PAST if past or self.sampler.chance(0.5) else PRESENT
        clause = self._clause(phrase, gap, kind, when, plural)
        if clause is None or (main is not None and clause.verb is main.verb):
            return False
        if isinstance(phrase.determiner, str) and phrase.determiner in ("my", "our", "bare"):
            phrase.determiner = "the"
        phrase.after = (*phrase.after, RelativeClause(clause))
        return True

    def _clause(
        self, phrase: NounPhrase, gap: RelativeGap, kind: str, when: Tense, plural: bool | None
    ) -> Clause | None:
        sampler, noun = self.sampler, phrase.noun
        if kind == "predicate":
            adjectives = sampler.words.adjectives_of(noun)
            if not len(adjectives):
                return None
            adjective = adjectives.draw(sampler.rng)
            phrase.adjectives = ()  # not: the big beach that is small
            return Clause(COPULA, gap, predicate=adjective, when=when)
        if kind == "subject":
            verbs = self.verbs_of(noun, False)
            if not len(verbs):
                return None
            verb = verbs.draw(sampler.rng)
            if verb.same_past and phrase.plural:
                when = PRESENT
            return sampler.clause(verb, gap, when=when, adjectives=0.1, extras=0.3)
        if kind == "object":
            verbs = self.verbs_of(noun, True)
            if not len(verbs):
                return None
            verb = verbs.draw(sampler.rng)
            subject = self._subject(plural, noun)
            if verb.same_past and (subject.plural or subject.person == "1"):
                when = PRESENT
            return Clause(verb, subject, direct=gap, when=when)
        return self._place(phrase, when)

    def _subject(self, plural: bool | None, noun: Noun) -> NounPhrase:
        sampler = self.sampler
        if plural is None and sampler.chance(0.2):
            return sampler.name("PERSON")
        share = 0.2 if plural is None else float(plural)
        human = "person&worker,person&male,person&female"
        avoid = frozenset([noun])
        return sampler.noun_phrase(
            human, plural=share, adjectives=0.1, determiner="the", avoid=avoid
        )

    def _place(self, phrase: NounPhrase, when: Tense) -> Clause | None:
        """The house in which the man lives."""
        sampler = self.sampler
        if not sampler.words.matches(phrase.noun, "building,room,place"):
            return None
        dwelling = sampler.words.matches(phrase.noun, "dwelling")
        names = ("live", "work", "sleep") if dwelling else ("work", "sleep", "dance")
        verb = sampler.rng.choice([v for v in sampler.verbs.items if v.english in names])
        english, german = phrase.noun.place
        subject = self._subject(None, phrase.noun)
        place = Prepositional(english, german, "dat", RelativeGap(phrase, True))
        return Clause(verb, subject, when=when, adverbials=[place])
