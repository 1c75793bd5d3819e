"""Noun phrases on both sides from one description.

`NounPhrase(dog, determiner="the", adjectives=(old,))` in the accusative becomes "the old dog" |
"den alten Hund", with features, links, constituents and everything below it. Pronouns, gaps of
relative clauses, question words and coordinations answer to the same three questions: which
person, which number, and how is it said in this case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from . import english, german
from .lexicon import Adjective, Noun
from .tree import Features, Pair, Phrase, Token, comma, link

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
INDEFINITE = {"a", "bare", "no", "two", "three", "four", "many", "some"}


class Nominal(Protocol):
    """Anything that fills a place for a noun phrase."""

    words: tuple[Token, Token] | None  # the head words, once built

    @property
    def person(self) -> str: ...
    @property
    def plural(self) -> bool: ...
    @property
    def kind(self) -> str: ...  # definite, indefinite, pronoun, relative or question
    def build(self, case: str, subject: bool = False) -> Pair: ...


class Modifier(Protocol):
    """Anything that follows its noun: a prepositional phrase, a genitive, a relative clause."""

    def attach(self, english_noun: Token, german_noun: Token) -> Pair: ...


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
        parts: list[tuple[list[Token], list[Token]]] = []
        if self.owner is not None:
            parts.append(self._owner(nouns, self.owner))
        elif not self.noun.name:
            parts.append(self._determiner(case, nouns))
        parts += [self._adjective(word, case, nouns) for word in self.adjectives]
        before = [token for part in parts for token in part[0]], [t for p in parts for t in p[1]]
        after = [modifier.attach(*nouns) for modifier in self.after]
        return (
            Phrase(nouns[0], [*before[0], nouns[0], *(pair[0] for pair in after)], "NP"),
            Phrase(nouns[1], [*before[1], nouns[1], *(pair[1] for pair in after)], "NP"),
        )

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

    def _owner(self, nouns: tuple[Token, Token], owner: Noun) -> tuple[list[Token], list[Token]]:
        name, genitive = NounPhrase(owner)._nouns("gen")
        mark = Token("'s", "'s", "PART").under(name, "case")
        mark.attached = True
        link(mark, genitive)
        name.under(nouns[0], "nmod:poss")
        genitive.under(nouns[1], "nmod:poss")
        return [name, mark], [genitive]

    def _determiner(self, case: str, nouns: tuple[Token, Token]) -> tuple[list[Token], list[Token]]:
        singular, plural, lemma = DETERMINERS[self.determiner]
        surface = plural if self.plural else singular
        if self.determiner == "a" and (self.plural or self.noun.mass):
            surface = lemma = ""
        if self.negated and lemma in ("", "ein"):
            lemma = "kein"
        first = self.adjectives[0].english if self.adjectives else nouns[0].form
        own = other = None
        if surface:
            own = _english_determiner(surface, self.determiner, first).under(
                nouns[0], _relation(self.determiner, False)
            )
        if lemma:
            form = german.determiner(lemma, case, self.noun.gender, self.plural)
            other = _german_determiner(form, lemma, case, self.noun.gender, self.plural)
            other.under(nouns[1], _relation(self.determiner, True))
        if own and other:
            link(own, other)
        self.article = other
        return [own] if own else [], [other] if other else []

    def _adjective(
        self, word: Adjective, case: str, nouns: tuple[Token, Token]
    ) -> tuple[list[Token], list[Token]]:
        lemma = self.article.lemma if self.article else ""
        gender, plural = self.noun.gender, self.plural
        own = Token(word.english, word.english, "ADJ", (("Degree", "Pos"),), "adj.all")
        form = german.adjective(word.stem, lemma, case, gender, plural)
        feats = german_feats(case, gender, plural, (("Degree", "Pos"),))
        other = Token(form, word.german, "ADJ", feats, "adj.all")
        own.sense = other.sense = word.sense
        link(own, other)
        self.adjective_words = own, other
        return [own.under(nouns[0], "amod")], [other.under(nouns[1], "amod")]


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


def closing_comma(clause: Phrase) -> Token:
    """Return the comma that ends a German clause inside a sentence."""
    return comma(clause.head)
