"""Noun phrases on both sides from one description.

`NounPhrase(dog, determiner="the", adjectives=(old,))` in the accusative becomes "the old dog" |
"den alten Hund", with features, links, constituents and everything below it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from ..words import english, german
from ..words.lexicon import Adjective, Noun
from .tree import Features, Pair, Phrase, Token, link

# name -> English singular, English plural, German lemma
DETERMINERS = {
    "the": ("the", "the", "der"),
    "a": ("a", "", "ein"),
    "bare": ("", "", ""),
    "hidden": ("", "", "der"),  # on Monday | am Montag
    "no": ("no", "no", "kein"),
    "this": ("this", "these", "dieser"),
    "every": ("every", "", "jeder"),
    "two": ("", "two", "zwei"),
    "three": ("", "three", "drei"),
    "four": ("", "four", "vier"),
    "many": ("", "many", "viele"),
    "some": ("", "some", "einige"),
    "all": ("", "all", "alle"),
    "my": ("my", "my", "mein"),
    "our": ("our", "our", "unser"),
    "his": ("his", "his", "sein"),
    "her": ("her", "her", "ihr"),
    "their": ("their", "their", "ihr"),
    "its m": ("its", "its", "sein"),
    "its n": ("its", "its", "sein"),
    "its f": ("its", "its", "ihr"),
}
POSSESSIVES = {"my", "our", "his", "her", "their", "its m", "its n", "its f"}
Parts = list[Token | Phrase]
_POSITIVE: Features = (("Degree", "Pos"),)
INDEFINITE = {"a", "bare", "no", "two", "three", "four", "many", "some"}


class Modifier(Protocol):
    """Anything that follows its noun: a prepositional phrase, a genitive, a relative clause."""

    def attach(self, english_noun: Token, german_noun: Token) -> Pair:
        """Return both sides, attached to the noun."""


@cache
def english_noun_feats(plural: bool) -> Features:
    """Return the features of an English noun."""
    return (("Number", "Plur" if plural else "Sing"),)


@cache
def german_feats(case: str, gender: str, plural: bool, more: Features = ()) -> Features:
    """Return case, gender and number with some features more."""
    number = "Plur" if plural else "Sing"
    own = (("Case", german.UD_CASE[case]), ("Number", number))
    return tuple(
        sorted((*own, *((("Gender", german.UD_GENDER[gender]),) if gender else ()), *more))
    )


@dataclass(slots=True, eq=False)
class NounPhrase:
    """A noun with determiner, adjectives and modifiers.

    Args:
        noun: the noun or name
        plural: number
        determiner: a key of `DETERMINERS`; ignored for names
        adjectives: attributive, in order
        after: what follows the noun
        owner: a name in the genitive instead of the determiner (Anna's dog | Annas Hund)
        negated: say `kein` for `ein` or nothing: the negation of the clause stands here
    """

    noun: Noun
    plural: bool = False
    determiner: str = "the"
    adjectives: tuple[Adjective, ...] = ()
    after: tuple[Modifier, ...] = ()
    owner: Noun | None = None
    negated: bool = False
    words: tuple[Token, Token] | None = field(default=None, init=False)
    article: Token | None = field(default=None, init=False)  # the German determiner, once built
    adjective_words: tuple[Token, Token] | None = field(default=None, init=False)

    @property
    def person(self) -> str:
        """Nouns are third person."""
        return "3"

    @property
    def kind(self) -> str:
        """Return definite or indefinite: it decides German word order and `kein`."""
        if self.owner is None and not self.noun.name and self.determiner in INDEFINITE:
            return "indefinite"
        return "definite"

    def build(self, case: str, subject: bool = False) -> Pair:
        """Return both sides in a case."""
        nouns = self._nouns(case)
        self.words = nouns
        own: Parts = []
        other: Parts = []
        if self.owner is not None:
            self._add_owner(self.owner, nouns, own, other)
        elif not self.noun.name:
            self._add_determiner(case, nouns, own, other)
        for word in self.adjectives:
            self._add_adjective(word, case, nouns, own, other)
        own.append(nouns[0])
        other.append(nouns[1])
        for modifier in self.after:
            pair = modifier.attach(*nouns)
            own.append(pair[0])
            other.append(pair[1])
        return Phrase(nouns[0], own, "NP"), Phrase(nouns[1], other, "NP")

    def _nouns(self, case: str) -> tuple[Token, Token]:
        noun, plural = self.noun, self.plural
        upos = "PROPN" if noun.name else "NOUN"
        own = Token(
            english.noun(noun, plural),
            noun.english,
            upos,
            english_noun_feats(plural),
            noun.supersense,
        )
        other = Token(
            german.noun(noun, case, plural),
            noun.german,
            upos,
            german_feats(case, noun.gender, plural),
            noun.supersense,
        )
        for token in (own, other):
            token.entity, token.sense, token.animacy = noun.entity, noun.sense, noun.animacy
        link(own, other)
        return own, other

    def _add_owner(self, owner: Noun, nouns: tuple[Token, Token], own: Parts, other: Parts) -> None:
        name, genitive = NounPhrase(owner)._nouns("gen")
        mark = Token("'s", "'s", "PART").under(name, "case")
        mark.attached = True
        link(mark, genitive)
        name.under(nouns[0], "nmod:poss")
        genitive.under(nouns[1], "nmod:poss")
        own += [name, mark]
        other.append(genitive)

    def _add_determiner(
        self, case: str, nouns: tuple[Token, Token], own: Parts, other: Parts
    ) -> None:
        singular, plural, lemma = DETERMINERS[self.determiner]
        surface = plural if self.plural else singular
        if self.determiner == "a" and (self.plural or self.noun.mass):
            surface = lemma = ""
        if self.negated and lemma in ("", "ein"):
            lemma = "kein"
        first = self.adjectives[0].english if self.adjectives else nouns[0].form
        self.article = None
        if lemma:
            form = german.determiner(lemma, case, self.noun.gender, self.plural)
            self.article = _german_determiner(form, lemma, case, self.noun.gender, self.plural)
            other.append(self.article.under(nouns[1], _relation(self.determiner, True)))
        if surface:
            word = _english_determiner(surface, self.determiner, first)
            own.append(word.under(nouns[0], _relation(self.determiner, False)))
            if self.article:
                link(word, self.article)

    def _add_adjective(
        self,
        word: Adjective,
        case: str,
        nouns: tuple[Token, Token],
        own: Parts,
        other: Parts,
    ) -> None:
        lemma = self.article.lemma if self.article else ""
        gender, plural = self.noun.gender, self.plural
        english_word = Token(word.english, word.english, "ADJ", _POSITIVE, "adj.all")
        form = german.adjective(word.stem, lemma, case, gender, plural)
        feats = german_feats(case, gender, plural, _POSITIVE)
        german_word = Token(form, word.german, "ADJ", feats, "adj.all")
        english_word.sense = german_word.sense = word.sense
        link(english_word, german_word)
        self.adjective_words = english_word, german_word
        own.append(english_word.under(nouns[0], "amod"))
        other.append(german_word.under(nouns[1], "amod"))


def _relation(determiner: str, is_german: bool) -> str:
    if determiner in ("two", "three", "four"):
        return "nummod"
    if determiner in ("many",) and not is_german:
        return "amod"
    if determiner in POSSESSIVES:
        return "det:poss" if is_german else "nmod:poss"
    return "det"


_GERMAN_DETERMINER_FEATS: dict[str, Features] = {
    "der": (("Definite", "Def"), ("PronType", "Art")),
    "ein": (("Definite", "Ind"), ("PronType", "Art")),
    "kein": (("PronType", "Neg"),),
    "dieser": (("PronType", "Dem"),),
    "jeder": (("PronType", "Tot"),),
    "alle": (("PronType", "Tot"),),
}


def _english_determiner(surface: str, key: str, following: str) -> Token:
    if key in ("two", "three", "four"):
        return Token(surface, surface, "NUM", (("NumType", "Card"),))
    if key == "many":
        return Token(surface, surface, "ADJ", (("Degree", "Pos"),))
    if key in POSSESSIVES:
        return Token(surface, surface, "PRON", (("Poss", "Yes"), ("PronType", "Prs")))
    if key == "this":
        number = "Sing" if surface == "this" else "Plur"
        return Token(surface, "this", "DET", (("Number", number), ("PronType", "Dem")))
    if key in ("the", "a"):
        definite = "Def" if key == "the" else "Ind"
        form = surface if key == "the" else english.article(following)
        return Token(form, surface, "DET", (("Definite", definite), ("PronType", "Art")))
    kind = {"no": "Neg", "some": "Ind"}.get(key, "Tot")
    return Token(surface, surface, "DET", (("PronType", kind),))


def _german_determiner(form: str, lemma: str, case: str, gender: str, plural: bool) -> Token:
    if lemma in german.NUMERALS:
        return Token(form, lemma, "NUM", (("NumType", "Card"),))
    more = _GERMAN_DETERMINER_FEATS.get(lemma)
    if more is None:
        possessive = lemma in german.EIN_WORDS
        more = (("Poss", "Yes"), ("PronType", "Prs")) if possessive else (("PronType", "Ind"),)
    return Token(form, lemma, "DET", german_feats(case, gender, plural, more))
