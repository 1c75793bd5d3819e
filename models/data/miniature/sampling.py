"""Drawing the parts of a clause at random, so that they make sense together.

Everything is drawn from one `random.Random`: the verb by frequency, its arguments by the tags
it asks for, then determiners, adjectives, tense and adverbials that go with them.
"""

from __future__ import annotations

from random import Random

from .descriptions import Adverb, Adverbial, Clause
from .lexicon import Noun, Verb, Weighted, lexicon, zipf
from .noun_phrases import Coordination, Nominal, NounPhrase, Prepositional, Pronoun
from .verb_chains import PAST, PRESENT, Tense

MANNERS = {
    "speech": (("loudly", "laut"), ("quietly", "leise"), ("happily", "fröhlich")),
    "contact": (("carefully", "vorsichtig"), ("slowly", "langsam"), ("quickly", "schnell")),
    "social": (("politely", "höflich"), ("warmly", "herzlich"), ("briefly", "kurz")),
}
_SPEECH = {"sing", "laugh", "talk", "cry", "bark", "snore", "read"}
_SOCIAL = {"greet", "answer", "smile", "punish", "listen"}
FREQUENCIES = (("often", "oft"), ("always", "immer"), ("never", "nie"), ("sometimes", "manchmal"))
FREQUENCIES += (("rarely", "selten"), ("usually", "gewöhnlich"))
TIME_ADVERBS = {
    "past": (("yesterday", "gestern"), ("recently", "kürzlich")),
    "progressive": (("now", "jetzt"), ("today", "heute")),
    "present": (("today", "heute"), ("every day", "")),
    "future": (("tomorrow", "morgen"), ("soon", "bald"), ("today", "heute")),
}
_TIME_NOUNS = (
    # English preposition, determiner, noun, plural, German noun, gender, German preposition
    ("in", "the", "morning", "Morgen", "m", "an"),
    ("in", "the", "evening", "Abend", "m", "an"),
    ("on", "hidden", "Monday", "Montag", "m", "an"),
    ("on", "hidden", "Sunday", "Sonntag", "m", "an"),
    ("at", "hidden", "night", "Nacht", "f", "in"),
    ("in", "hidden", "summer", "Sommer", "m", "in"),
    ("on", "hidden", "Friday", "Freitag", "m", "an"),
    ("in", "hidden", "winter", "Winter", "m", "in"),
    ("in", "the", "afternoon", "Nachmittag", "m", "an"),
    ("on", "hidden", "Saturday", "Samstag", "m", "an"),
    ("in", "hidden", "May", "Mai", "m", "in"),
    ("in", "hidden", "autumn", "Herbst", "m", "in"),
    ("on", "hidden", "Tuesday", "Dienstag", "m", "an"),
    ("in", "hidden", "October", "Oktober", "m", "in"),
    ("on", "hidden", "Wednesday", "Mittwoch", "m", "an"),
    ("in", "hidden", "January", "Januar", "m", "in"),
    ("on", "hidden", "Thursday", "Donnerstag", "m", "an"),
    ("in", "hidden", "August", "August", "m", "in"),
)
_DATES = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
_DATES |= {"May", "October", "January", "August"}


def _time_noun(english: str, german: str, gender: str) -> Noun:
    entity = "DATE" if english in _DATES else ""
    tags = frozenset(["time", english])
    return Noun(english, "", german, gender, "", tags, "noun.time", mass=True, entity=entity)


TIMES = Weighted(
    [
        (preposition, determiner, _time_noun(english, german, gender), german_preposition)
        for preposition, determiner, english, german, gender, german_preposition in _TIME_NOUNS
    ],
    (zipf(rank) for rank in range(len(_TIME_NOUNS))),
)
_FAR = "region,island,mountain,lake,beach,harbour,airport,station,castle,desert,university"
_INSIDE = "place&!market&!beach&!waters&!city&!village&!desert,room,house,river,tower"
RELATIONAL = (("behind", "hinter"), ("in front of", "vor"), ("next to", "neben"))
OWNED = "related,animal&!wild,food,drink,readable,vehicle,movable,furniture,device,music,room,house"
OWNED += ",garden,school,idea,plan,answer,mistake,decision,proposal,secret,song,farm,shop,tree"
_MOMENTARY = {"see", "find", "discover", "lose", "forget", "trust", "arrive", "understand", "hear"}
_CLAUSE_FRAMES = ("that", "to", "cue")
_COUNTS = ("two", "three", "four")


class Sampler:
    """Draws of words and phrases.

    Args:
        rng: the only source of randomness
        plain: the share of everything optional is multiplied by this (1 = as usual); smaller
            makes shorter sentences
    """

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.words = lexicon()
        ordinary = [v for v in self.words.verbs if v.frame not in _CLAUSE_FRAMES]
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

    # Noun phrases

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
        if plural:
            bounds = ((0.52, "the"), (0.66, "bare"), (0.72, "many"), (0.78, "some"), (0.83, "all"))
            bounds += ((0.89, "this"), (0.93, "my"), (0.96, "our"), (2.0, ""))
        else:
            bounds = ((0.57, "the"), (0.83, "a"), (0.89, "this"), (0.94, "my"), (0.97, "our"))
            bounds += ((2.0, "every"),)
        chosen = next(name for bound, name in bounds if roll < bound)
        return chosen or self.rng.choice(_COUNTS)

    def name(self, entity: str) -> NounPhrase:
        """Draw a name."""
        return NounPhrase(self.words.names[entity].draw(self.rng), determiner="the")

    def pronoun(self) -> Pronoun:
        """Draw a personal pronoun for people."""
        choices = (("3", False, "m"), ("3", False, "f"), ("1", False, ""), ("3", True, ""))
        choices += (("1", True, ""),)
        person, plural, gender = self.rng.choices(choices, (5, 5, 3, 3, 2))[0]
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

    # Adverbials

    def place(self, expression: str = "building,place,room", names: float = 0.12) -> Prepositional:
        """Draw where something is: in the garden | im Garten (dative)."""
        if self.chance(names):
            return Prepositional("in", "in", "dat", self.name("LOCATION"))
        phrase = self.noun_phrase(expression, plural=0.04, adjectives=0.2, determiner="")
        if phrase.determiner not in ("the", "a", "this", "my"):
            phrase.determiner = "the"
        if phrase.noun.supersense == "noun.artifact" and self.chance(0.12):
            english, german = self.rng.choice(RELATIONAL)
            return Prepositional(english, german, "dat", phrase)
        english, german = phrase.noun.place
        return Prepositional(english, german, "dat", phrase)

    def direction(self, names: bool = False, inside: bool = False) -> Prepositional:
        """Draw where something goes: into the garden | in den Garten (accusative).

        Args:
            names: far away: cities by name, regions
            inside: into or onto, never to
        """
        if names and self.chance(0.6):
            return Prepositional("to", "nach", "dat", self.name("LOCATION"), "direction")
        tags = _FAR if names else _INSIDE if inside else "building,place,room"
        phrase = self.noun_phrase(tags, plural=0.0, adjectives=0.15)
        if phrase.determiner not in ("the", "a", "this"):
            phrase.determiner = "the"
        english, german = phrase.noun.place
        if english == "in" and not names and (inside or self.chance(0.6)):
            return Prepositional("into", german, "acc", phrase, "direction")
        if english == "on" and german == "auf" and not names and phrase.noun.english != "farm":
            return Prepositional("onto", german, "acc", phrase, "direction")
        return Prepositional("to", "zu", "dat", phrase, "direction")

    def spot(self, case: str, role: str) -> Prepositional:
        """Draw a place for things: on, under, in; the case tells rest from motion."""
        english, german, tags = self.rng.choices(
            (
                ("on", "auf", "surface"),
                ("under", "unter", "surface&!carpet&!shelf"),
                ("into" if case == "acc" else "in", "in", "box"),
                ("behind", "hinter", "furniture,door,curtain"),
                ("next to", "neben", "furniture,device,opening"),
            ),
            (5, 2, 3, 1, 1),
        )[0]
        phrase = self.noun_phrase(tags, plural=0.05, adjectives=0.2)
        if phrase.determiner not in ("the", "a", "this", "my"):
            phrase.determiner = "the"
        return Prepositional(english, german, case, phrase, role)

    def time(self, kind: str) -> Adverbial:
        """Draw when something happens; `kind` is a key of `TIME_ADVERBS`."""
        if kind != "progressive" and self.chance(0.5):
            english, determiner, noun, german = TIMES.draw(self.rng)
            relation = "obl:tmod" if determiner == "hidden" else "obl"
            phrase = NounPhrase(noun, False, determiner)
            return Prepositional(english, german, "dat", phrase, "time", relation)
        if kind == "past" and self.chance(0.25):
            english, german, case = self.rng.choice(
                (("during", "während", "gen"), ("after", "nach", "dat"), ("before", "vor", "dat"))
            )
            phrase = self.noun_phrase("event", plural=0.0, adjectives=0.1, determiner="the")
            return Prepositional(english, german, case, phrase, "time")
        english, german = self.rng.choice(TIME_ADVERBS[kind])
        if not german:
            day = _time_noun("day", "Tag", "m")
            return Prepositional("", "", "acc", NounPhrase(day, False, "every"), "time", "obl:tmod")
        return Adverb(english, german, "time")

    def manner(self, verb: Verb) -> Adverb:
        """Draw how something is done."""
        kind = "speech" if verb.english in _SPEECH else "contact"
        kind = "social" if verb.english in _SOCIAL else kind
        return Adverb(*self.rng.choice(MANNERS[kind]), "manner")

    def frequency(self) -> Adverb:
        """Draw how often something is done."""
        return Adverb(*self.rng.choices(FREQUENCIES, (5, 4, 3, 3, 2, 2))[0], "frequency")

    # Clauses

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
            surface = "surface" in verb.extras and self.chance(0.7)
            things = "movable" in verb.subject
            clause.adverbials.append(
                self.spot("dat", "location") if surface or things else self.place()
            )
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
        if "manner" in verb.extras and self.chance(0.15 * factor):
            found.append(self.manner(verb))
        if "loc" in verb.extras and "location" not in roles and self.chance(0.2 * factor):
            found.append(self.place())
        found += self._when(clause, factor)
        clause.adverbials += found[:budget]

    def _when(self, clause: Clause, factor: float) -> list[Adverbial]:
        """Draw a time that goes with the tense, or how often."""
        when = clause.when
        if when.perfect or (clause.verb.stative and when.tense == "present"):
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


def _nouns(nominal: Nominal | None) -> frozenset[Noun] | None:
    return frozenset([nominal.noun]) if isinstance(nominal, NounPhrase) else None
