"""Drawing adverbials: where, whither, when, how and how often."""

from __future__ import annotations

from ..grammar.descriptions import Adverb, Adverbial
from ..grammar.nominals import Prepositional
from ..grammar.noun_phrases import NounPhrase
from ..words.lexicon import Noun, Verb, Weighted, zipf
from .noun_sampling import NounSampler

MANNERS = {
    "speech": (("loudly", "laut"), ("quietly", "leise"), ("happily", "fröhlich")),
    "contact": (("carefully", "vorsichtig"), ("slowly", "langsam"), ("quickly", "schnell")),
    "social": (("politely", "höflich"), ("warmly", "herzlich"), ("briefly", "kurz")),
}
_SPEECH = {"sing", "laugh", "talk", "cry", "bark", "snore", "read"}
_SOCIAL = {"greet", "answer", "smile", "punish", "listen"}
FREQUENCIES = (
    ("often", "oft"),
    ("always", "immer"),
    ("never", "nie"),
    ("sometimes", "manchmal"),
    ("rarely", "selten"),
    ("usually", "gewöhnlich"),
)
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


class AdverbialSampler(NounSampler):
    """Draws of adverbials."""

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

    def spot(self, case: str, role: str, inside: bool = True) -> Prepositional:
        """Draw a place on, under, in or beside furniture; the case tells rest from motion.

        Args:
            case: acc for motion, dat for rest
            role: location or direction
            inside: things may be in boxes
        """
        english, german, tags = self.rng.choices(
            (
                ("on", "auf", "surface&!desk&!shelf" if not inside else "surface"),
                ("under", "unter", "surface&!carpet&!shelf"),
                ("into" if case == "acc" else "in", "in", "box"),
                ("behind", "hinter", "furniture,door,curtain"),
                ("next to", "neben", "furniture,device,opening"),
            ),
            (5, 2, 3 if inside else 0, 1, 1),
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
