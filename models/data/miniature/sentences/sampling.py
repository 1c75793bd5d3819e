"""Drawing whole clauses, so that their parts make sense together.

Everything is drawn from one `random.Random`: the verb by frequency, its arguments by the tags
it asks for, then determiners, adjectives, tense and adverbials that go with them.
"""

from __future__ import annotations

from ..grammar.descriptions import Adverbial, Clause
from ..grammar.nominals import Nominal, Prepositional, Pronoun
from ..grammar.noun_phrases import NounPhrase
from ..grammar.verb_chains import PAST, PRESENT, Tense
from ..words.lexicon import Verb
from .adverbial_sampling import AdverbialSampler

_FOR = {"buy", "build", "cook", "bake", "write", "sing", "draw", "find", "repair", "prepare"}
_MOMENTARY = {"see", "find", "discover", "lose", "forget", "trust", "arrive", "understand", "hear"}


class Sampler(AdverbialSampler):
    """Draws of words, phrases and clauses."""

    def tense(self, verb: Verb, subject: Nominal | None) -> Tense:
        """Draw present, past or progressive; never one that English leaves open."""
        roll = self.rng.random()
        ambiguous = verb.same_past and not (
            subject is not None and subject.person == "3" and not subject.plural
        )
        if roll < 0.45 or (ambiguous and roll < 0.9):
            return PRESENT
        if roll < 0.9 or verb.stative or verb.english in _MOMENTARY:
            return PAST if not ambiguous else PRESENT
        return Tense(progressive=True)

    def clause(
        self,
        verb: Verb | None = None,
        subject: Nominal | None = None,
        *,
        when: Tense | None = None,
        adjectives: float = 0.28,
        extras: float = 1.0,
    ) -> Clause:
        """Draw a clause with everything its verb needs, and now and then something more.

        Args:
            verb, subject, when: fixed, instead of drawn
            adjectives: probability of an adjective in each noun phrase
            extras: factor on the probabilities of optional adverbials; 0 for none
        """
        verb = verb or self.verbs.draw(self.rng)
        subject = subject or self.subject(verb, adjectives)
        clause = Clause(verb, subject, when=when or self.tense(verb, subject))
        self.fill(clause, adjectives)
        if extras:
            self.add_extras(clause, extras)
        return clause

    def fill(self, clause: Clause, adjectives: float = 0.28) -> None:
        """Draw the arguments that the verb's frame asks for."""
        verb, subject = clause.verb, clause.subject
        frame = verb.frame
        if frame in ("t", "d"):
            clause.direct = self.object(verb.object, subject, adjectives=adjectives)
        elif frame in ("dt", "dto"):
            clause.direct = self.noun_phrase(verb.object, adjectives=adjectives)
            if clause.direct.determiner in ("every", "all"):
                clause.direct.determiner = "the"
            clause.indirect = self.object("person", subject, adjectives=0.1)
        elif frame == "p":
            english, german, case = verb.extras["prep"].split(":")
            phrase = self.object(verb.object, subject, adjectives=adjectives)
            clause.adverbials.append(Prepositional(english, german, case, phrase, "object"))
        elif frame == "put":
            clause.direct = self.noun_phrase(verb.object, adjectives=adjectives)
            into = "into" in verb.extras
            clause.adverbials.append(
                self.direction(inside=True) if into else self.spot("acc", "direction")
            )
        elif frame == "loc":
            things = "movable" in verb.subject
            if things or ("surface" in verb.extras and self.chance(0.7)):
                where = self.spot("dat", "location", inside=things)
            else:
                where = self.place(verb.extras.get("where", "building,place,room"))
            clause.adverbials.append(where)
        elif frame in ("dir", "city"):
            if verb.english == "go" or frame == "city" or self.chance(0.6):
                clause.adverbials.append(self.direction(names=frame == "city"))
            else:
                clause.adverbials.append(self.place("place,building&!tower", 0.05))

    def add_extras(self, clause: Clause, factor: float = 1.0) -> None:
        """Add optional adverbials, at most two and one of each role."""
        verb = clause.verb
        roles = {adverbial.role for adverbial in clause.adverbials}
        budget = 1 if roles or clause.indirect else 2
        found: list[Adverbial] = []
        human = not (
            isinstance(clause.subject, NounPhrase)
            and clause.subject.noun.supersense == "noun.animal"
        )
        if human and "with" in verb.extras and self.chance(0.3 * factor):
            tool = self.noun_phrase(verb.extras["with"], plural=0.0, adjectives=0.15)
            if tool.determiner not in ("the", "a"):
                tool.determiner = "the"
            found.append(Prepositional("with", "mit", "dat", tool, "instrument"))
        if human and verb.english in _FOR and self.chance(0.2 * factor):
            whom = self.noun_phrase("related,group", plural=0.15, adjectives=0.1)
            whom.determiner = self.possessive(clause.subject) or "the"
            found.append(Prepositional("for", "für", "acc", whom, "beneficiary"))
        if human and verb.frame in ("i", "dir", "city") and "person" in verb.subject:
            found += self._company(clause, 0.12 * factor)
        if "manner" in verb.extras and self.chance(0.15 * factor):
            found.append(self.manner(verb))
        if "loc" in verb.extras and "location" not in roles and self.chance(0.2 * factor):
            found.append(self.place())
        found += self._when(clause, factor)
        clause.adverbials += found[:budget]

    def _company(self, clause: Clause, share: float) -> list[Adverbial]:
        """Draw with whom something is done, or without."""
        subject = clause.subject
        if not self.chance(share) or not isinstance(subject, NounPhrase | Pronoun):
            return []
        if isinstance(subject, NounPhrase) and subject.noun.supersense != "noun.person":
            return []
        whom = self.noun_phrase("related,pet", plural=0.2, adjectives=0.1)
        whom.determiner = self.possessive(subject) or "the"
        words = ("without", "ohne", "acc") if self.chance(0.3) else ("with", "mit", "dat")
        return [Prepositional(*words, whom, "company")]

    def _when(self, clause: Clause, factor: float) -> list[Adverbial]:
        """Draw a time that goes with the tense, or how often."""
        when = clause.when
        if when.perfect or clause.verb.stative:
            return []
        if when.modal or when.future:
            return [self.time("future")] if self.chance(0.2 * factor) else []
        if when.progressive:
            return [self.time("progressive")] if self.chance(0.4 * factor) else []
        if when.tense == "past":
            return [self.time("past")] if self.chance(0.2 * factor) else []
        if self.chance(0.15 * factor):
            return [self.time("present")]
        return [self.frequency()] if self.chance(0.15 * factor) and not clause.negated else []
