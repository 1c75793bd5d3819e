"""What else fills the place of a noun phrase: pronouns, gaps, question words, coordinations.

All of them answer to the same questions as `NounPhrase`: which person, which number, and how is
it said in this case (`Nominal`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from ..words import english, german
from .noun_phrases import NounPhrase, german_feats
from .tree import Pair, Phrase, Token, link


class Nominal(Protocol):
    """Anything that fills a place for a noun phrase."""

    words: tuple[Token, Token] | None  # the head words, once built

    @property
    def person(self) -> str:
        """Return "1" or "3"."""

    @property
    def plural(self) -> bool:
        """Tell the number."""

    @property
    def kind(self) -> str:
        """Return definite, indefinite, pronoun, relative or question."""

    def build(self, case: str, subject: bool = False) -> Pair:
        """Return both sides in a German case; `subject` chooses the English one."""


@dataclass(slots=True, eq=False)
class Pronoun:
    """A personal pronoun; `gender` is the English one, `german_gender` the antecedent's."""

    person: str
    plural: bool
    gender: str = ""
    german_gender: str = ""
    animacy: str = "human"
    words: tuple[Token, Token] | None = field(default=None, init=False)

    @property
    def kind(self) -> str:
        """Return pronoun."""
        return "pronoun"

    def build(self, case: str, subject: bool = False) -> Pair:
        """Return both sides in a case."""
        form = english.personal_pronoun(self.person, self.plural, self.gender, subject)
        number = "Plur" if self.plural else "Sing"
        feats = (("Number", number), ("Person", self.person), ("PronType", "Prs"))
        base = english.personal_pronoun(self.person, self.plural, self.gender, True)
        own = Token(form, base, "PRON", (("Case", "Nom" if subject else "Acc"), *feats))
        gender = self.german_gender or self.gender
        word = german.personal_pronoun(self.person, self.plural, gender, case)
        more = (("Person", self.person), ("PronType", "Prs"))
        lemma = german.personal_pronoun(self.person, self.plural, gender, "nom")
        has_gender = gender if self.person == "3" and not self.plural else ""
        other = Token(word, lemma, "PRON", german_feats(case, has_gender, self.plural, more))
        own.animacy = other.animacy = self.animacy
        link(own, other)
        self.words = own, other
        return Phrase(own, [own], "NP"), Phrase(other, [other], "NP")


@dataclass(slots=True, eq=False)
class RelativeGap:
    """The place of a relative clause that its pronoun fills: who, whom, that, which."""

    antecedent: NounPhrase
    after_preposition: bool = False
    words: tuple[Token, Token] | None = field(default=None, init=False)

    @property
    def person(self) -> str:
        """Antecedents are third person."""
        return "3"

    @property
    def plural(self) -> bool:
        """The number is the antecedent's."""
        return self.antecedent.plural

    @property
    def kind(self) -> str:
        """Return relative."""
        return "relative"

    def build(self, case: str, subject: bool = False) -> Pair:
        """Return the relative pronouns."""
        noun = self.antecedent.noun
        human = noun.supersense == "noun.person"
        form = ("who" if subject else "whom") if human else "that"
        if self.after_preposition:
            form = "whom" if human else "which"
        lemma = "who" if human else form
        own = Token(form, lemma, "PRON", (("PronType", "Rel"),))
        word = german.relative_pronoun(case, noun.gender, self.plural)
        feats = german_feats(case, noun.gender, self.plural, (("PronType", "Rel"),))
        other = Token(word, "der", "PRON", feats)
        own.animacy = other.animacy = noun.animacy
        link(own, other)
        self.words = own, other
        return Phrase(own, [own], "NP"), Phrase(other, [other], "NP")


@dataclass(slots=True, eq=False)
class Question:
    """A question word: who or what."""

    human: bool
    words: tuple[Token, Token] | None = field(default=None, init=False)
    person: str = field(default="3", init=False)
    plural: bool = field(default=False, init=False)

    @property
    def kind(self) -> str:
        """Return question."""
        return "question"

    def build(self, case: str, subject: bool = False) -> Pair:
        """Return the question words: who | wer, wen, wem; what | was."""
        feats = (("PronType", "Int"),)
        who = "who" if subject else "whom"
        own = Token(who if self.human else "what", "who" if self.human else "what", "PRON", feats)
        form = {"nom": "wer", "acc": "wen", "dat": "wem"}[case] if self.human else "was"
        cased = (("Case", german.UD_CASE[case]), ("PronType", "Int"))
        other = Token(form, "wer" if self.human else "was", "PRON", cased)
        own.animacy = other.animacy = "human" if self.human else "inanimate"
        link(own, other)
        self.words = own, other
        return Phrase(own, [own], "NP"), Phrase(other, [other], "NP")


@dataclass(slots=True, eq=False)
class Coordination:
    """Two noun phrases joined by `and`; the first one is the head, the whole is plural."""

    first: NounPhrase
    second: NounPhrase
    words: tuple[Token, Token] | None = field(default=None, init=False)
    person: str = field(default="3", init=False)
    plural: bool = field(default=True, init=False)

    @property
    def kind(self) -> str:
        """Return indefinite if the first part is."""
        return self.first.kind

    def build(self, case: str, subject: bool = False) -> Pair:
        """Return both sides in a case."""
        first, second = self.first.build(case), self.second.build(case)
        cc = Token("and", "and", "CCONJ"), Token("und", "und", "CCONJ")
        link(*cc)
        sides = []
        for side in (0, 1):
            head = first[side].head
            second[side].under(head, "conj")
            cc[side].under(second[side].head, "cc")
            sides.append(Phrase(head, [first[side], cc[side], second[side]], "NP"))
        self.words = sides[0].head, sides[1].head
        return sides[0], sides[1]


@dataclass(slots=True, eq=False)
class Prepositional:
    """A preposition with its noun phrase, as modifier of a noun or of a verb.

    Args:
        english, german: prepositions; an English one may have several words (in front of)
        case: the case that the German preposition asks for here
        nominal: what it governs; `german` empty makes a bare German noun phrase in that case
        role: its semantic role as an argument of a verb
    """

    english: str
    german: str
    case: str
    nominal: Nominal
    role: str = "location"
    relation: str = "obl"

    def build(self) -> Pair:
        """Return both sides; the noun is the head, the preposition its `case`."""
        own, other = self.nominal.build(self.case)
        english_words = [Token(form, form, "ADP") for form in self.english.split()]
        german_words = [Token(form, form, "ADP") for form in self.german.split()]
        for words, phrase in ((english_words, own), (german_words, other)):
            for index, token in enumerate(words):
                if index == 0:
                    token.under(phrase.head, "case")
                else:
                    token.under(words[0], "fixed")
        for token in english_words:
            for partner in german_words or [other.head]:
                link(token, partner)
        return (
            Phrase(own.head, [*english_words, own], "PP" if english_words else ""),
            Phrase(other.head, [*german_words, other], "PP" if german_words else ""),
        )

    def attach(self, english_noun: Token, german_noun: Token) -> Pair:
        """Return both sides as modifiers of a noun."""
        own, other = self.build()
        return own.under(english_noun, "nmod"), other.under(german_noun, "nmod")
