"""The verbs of a clause: auxiliaries and main verb of both sides, inflected and linked.

English stacks its verbs from left to right (has been seen); German splits them: the finite verb
is returned apart from the rest, which stands at the end in reverse order (gesehen worden).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ..words import english, german
from ..words.lexicon import Verb
from .tree import Features, Token, link


def _auxiliary(english_parts: str, german_parts: str) -> Verb:
    base, past, done, doing = english_parts.split()
    stem, third, preterite, participle = german_parts.split()
    own = (base, past, done, doing)
    return Verb(*own, "", stem, third, preterite, participle, "haben", "aux", "", "", "", {})


HAVE = _auxiliary("have had had having", "haben hat hatte gehabt")
BE = _auxiliary("be was been being", "sein ist war gewesen")
PASSIVE = _auxiliary("be was been being", "werden wird wurde worden")
FUTURE = _auxiliary("will will will will", "werden wird wurde geworden")
DO = _auxiliary("do did done doing", "tun tut tat getan")
MODALS = {
    "can": _auxiliary("can can can can", "können kann konnte gekonnt"),
    "must": _auxiliary("must must must must", "müssen muss musste gemusst"),
    "should": _auxiliary("should should should should", "sollen sollte sollte gesollt"),
    "may": _auxiliary("may may may may", "dürfen darf durfte gedurft"),
}
COPULA = BE  # as main verb, with a predicate adjective


@dataclass(frozen=True, slots=True)
class Tense:
    """How a clause places its event in time.

    Args:
        tense: present or past, of the finite verb
        perfect: has seen | hat gesehen
        progressive: is seeing | sieht (German has no such form)
        future: will see | wird sehen
        modal: a key of `MODALS`, or empty
    """

    tense: str = "present"
    perfect: bool = False
    progressive: bool = False
    future: bool = False
    modal: str = ""


PRESENT, PAST = Tense(), Tense("past")


@dataclass(slots=True)
class Chain:
    """The verbs of a clause.

    Args:
        english: in surface order, the finite one first (`to` first in an infinitive)
        english_main, german_main: the lexical verbs
        finite: the German finite verb, None in an infinitive
        rest: the other German verbs in verb-final order
        prefix: the separated prefix, if the finite verb is separable
        particle: the English particle (turn on), if any
    """

    english: list[Token]
    english_main: Token
    german_main: Token
    finite: Token | None
    rest: list[Token]
    prefix: Token | None
    particle: Token | None


@cache
def _finite_feats(tense: str, person: str, plural: bool) -> Features:
    return (
        ("Mood", "Ind"),
        ("Number", "Plur" if plural else "Sing"),
        ("Person", person),
        ("Tense", "Past" if tense == "past" else "Pres"),
        ("VerbForm", "Fin"),
    )


_INFINITIVE: Features = (("VerbForm", "Inf"),)
_PARTICIPLE: Features = (("Tense", "Past"), ("VerbForm", "Part"))
_ING: Features = (("Tense", "Pres"), ("VerbForm", "Part"))


def build(
    verb: Verb,
    when: Tense,
    passive: bool,
    person: str,
    plural: bool,
    support: bool,
    split: bool,
    infinitive: bool = False,
) -> Chain:
    """Return the verbs of a clause on both sides.

    Args:
        verb: the main verb
        when: tense, aspect, modal
        passive: is seen | wird gesehen
        person, plural: of the subject
        support: English needs do-support unless it has an auxiliary
        split: the German finite verb stands apart, so that a separable prefix is left behind
        infinitive: to see | zu sehen
    """
    own, own_words = _english(verb, when, passive, person, plural, support, infinitive)
    other, other_words = _german(verb, when, passive, person, plural, infinitive)
    main, german_main = own[-1], other[-1]
    chain = Chain(own, main, german_main, None if infinitive else other[0], other[::-1], None, None)
    if not infinitive:
        chain.rest = other[:0:-1]
    if infinitive:
        to = Token("to", "to", "PART").under(main, "mark")
        chain.english = [to, *own]
        if verb.prefix:
            german_main.form = verb.prefix + "zu" + verb.stem
            link(to, german_main)
        else:
            zu = Token("zu", "zu", "PART").under(german_main, "mark")
            chain.rest = [zu, german_main]
            link(to, zu)
    _link(own, own_words, other, other_words)
    particle = verb.extras.get("particle")
    if particle:
        chain.particle = Token(particle, particle, "ADP").under(main, "compound:prt")
    if verb.prefix and len(other) == 1 and not infinitive:
        if split:
            chain.prefix = Token(verb.prefix, verb.prefix, "ADP").under(german_main, "compound:prt")
        else:
            german_main.form = verb.prefix + german_main.form
    _link_particles(chain)
    return chain


def _link(
    own: list[Token], own_words: list[Verb], other: list[Token], other_words: list[Verb]
) -> None:
    """Link auxiliaries of the same function, and those without a partner to the finite verb."""
    partners = dict(zip(other_words[:-1], other[:-1], strict=True))
    for word, token in zip(own_words[:-1], own[:-1], strict=True):
        link(token, partners.get(word) or (other[0] if word is DO else other[-1]))
    link(own[-1], other[-1])


def _link_particles(chain: Chain) -> None:
    if chain.particle:
        link(chain.particle, chain.prefix or chain.german_main)
    elif chain.prefix:
        link(chain.english_main, chain.prefix)


def _english(
    verb: Verb, when: Tense, passive: bool, person: str, plural: bool, support: bool, bare: bool
) -> tuple[list[Token], list[Verb]]:
    words = [verb]
    if passive:
        words.insert(0, PASSIVE)
    if when.progressive:
        words.insert(0, BE)
    if when.perfect:
        words.insert(0, HAVE)
    if when.modal:
        words.insert(0, MODALS[when.modal])
    elif when.future:
        words.insert(0, FUTURE)
    if len(words) == 1 and support and verb is not COPULA:
        words.insert(0, DO)
    tokens = []
    previous: Verb | None = None
    for word in words:
        if previous is None and not bare:
            form, feats = english_finite(word, when.tense, person, plural)
        elif previous is HAVE or previous is PASSIVE:
            form, feats = english.participle(word), _PARTICIPLE
        elif previous is BE:
            form, feats = english.ing(word), _ING
        else:
            form, feats = word.english, _INFINITIVE
        main = word is verb
        upos = "VERB" if main and verb is not COPULA else "AUX"
        tokens.append(Token(form, word.english, upos, feats, verb.supersense if main else ""))
        previous = word
    for word, token in zip(words[:-1], tokens[:-1], strict=True):
        token.under(tokens[-1], "aux:pass" if word is PASSIVE else "aux")
    return tokens, words


def english_finite(word: Verb, tense: str, person: str, plural: bool) -> tuple[str, Features]:
    """Return a finite English form and its features."""
    if word is FUTURE or word in MODALS.values():
        return word.english, (("VerbForm", "Fin"),)
    feats = _finite_feats(tense, person, plural)
    if word.english == "be":
        return english.BE[tense]["" if plural else person, plural], feats
    if tense == "past":
        return english.past(word), feats
    if person == "3" and not plural:
        return english.third_person(word), feats
    return word.english, feats


def _german(
    verb: Verb, when: Tense, passive: bool, person: str, plural: bool, bare: bool
) -> tuple[list[Token], list[Verb]]:
    words = [verb]
    if passive:
        words.insert(0, PASSIVE)
    perfect = BE if passive or verb.auxiliary == "sein" else HAVE
    if when.perfect:
        words.insert(0, perfect)
    if when.modal:
        words.insert(0, MODALS[when.modal])
    elif when.future:
        words.insert(0, FUTURE)
    tokens = []
    previous: Verb | None = None
    for word in words:
        if previous is None and not bare:
            form = german.finite(word, when.tense, person, plural)
            feats = _finite_feats(when.tense, person, plural)
        elif previous is PASSIVE or (when.perfect and previous is perfect):
            form, feats = german.participle(word), _PARTICIPLE
        else:
            form, feats = german.infinitive(word), _INFINITIVE
        main = word is verb
        upos = "VERB" if main and verb is not COPULA else "AUX"
        tokens.append(Token(form, word.lemma, upos, feats, verb.supersense if main else ""))
        previous = word
    for word, token in zip(words[:-1], tokens[:-1], strict=True):
        token.under(tokens[-1], "aux:pass" if word is PASSIVE else "aux")
    # German `sein` of the perfect is linked to English `have`.
    return tokens, [HAVE if word is BE and word is not verb else word for word in words]
