"""Clauses on both sides from one abstract description.

`build` says a `Clause` in English and in German at once, in one of four orders:

| order | English | German |
| --- | --- | --- |
| main | The man reads the book today. | Der Mann liest das Buch heute. (verb second) |
| final | that the man reads the book | dass der Mann das Buch liest (verb last) |
| question | Does the man read the book? | Liest der Mann das Buch? (verb first or second) |
| to | to read the book | das Buch zu lesen |

Here the parts are built and attached to their heads; `word_order` puts them in line.
"""

from __future__ import annotations

from ..words.lexicon import Adjective
from . import verb_chains, word_order
from .descriptions import Clause, Parts, Subordinate
from .noun_phrases import NounPhrase
from .tree import Pair, Phrase, Token, link
from .verb_chains import Chain

ROLES = {  # of subject and direct object, by the verb's supersense
    "verb.perception": ("experiencer", "stimulus"),
    "verb.emotion": ("experiencer", "stimulus"),
    "verb.cognition": ("experiencer", "theme"),
    "verb.stative": ("theme", "theme"),
    "verb.possession": ("agent", "theme"),
    "verb.communication": ("agent", "topic"),
    "verb.creation": ("agent", "result"),
    "verb.weather": ("theme", ""),
    "": ("theme", ""),  # the copula
}


def build(clause: Clause, order: str = "main") -> Pair:
    """Return both sides of a clause, in one of the orders above.

    Attached are everything below the clause's head; its own head is left to the caller.
    """
    parts = _build_parts(clause, order)
    own = word_order.english(clause, parts, order)
    other = word_order.german(clause, parts, order)
    return own, other


def _build_parts(clause: Clause, order: str) -> Parts:
    subject = clause.subject.build("nom", True) if clause.subject and not clause.elided else None
    kein = clause.negated and isinstance(clause.direct, NounPhrase) and _takes_kein(clause)
    if kein and isinstance(clause.direct, NounPhrase):
        clause.direct.negated = True
    wh_subject = clause.subject is not None and clause.subject.kind == "question"
    chain = verb_chains.build(
        clause.verb,
        clause.when,
        clause.passive,
        clause.subject.person if clause.subject else "3",
        clause.subject.plural if clause.subject else False,
        support=clause.negated or (order == "question" and not wh_subject),
        split=order in ("main", "question"),
        infinitive=order == "to",
    )
    predicate = _predicate(clause.predicate) if clause.predicate else None
    heads = (chain.english_main, chain.german_main)
    if predicate:
        heads = (predicate[0].head, predicate[1].head)
        _make_copula(chain, heads)
    clause.heads = heads
    clause.finite = (chain.english[0], chain.finite or chain.german_main)
    case = "dat" if clause.verb.frame == "d" else "acc"
    direct = clause.direct.build(case) if clause.direct else None
    parts = Parts(
        chain,
        heads,
        subject,
        direct,
        clause.indirect.build("dat") if clause.indirect else None,
        predicate,
        [(adverbial, adverbial.build()) for adverbial in clause.adverbials],
        (None, None),
        _subordinate(clause.before, heads) if clause.before else None,
        [_subordinate(after, heads) for after in clause.after],
    )
    _attach(clause, parts)
    if clause.negated:
        parts.negations = _negate(clause, parts, kein)
    return parts


def _takes_kein(clause: Clause) -> bool:
    direct = clause.direct
    return (
        isinstance(direct, NounPhrase)
        and direct.owner is None
        and not direct.noun.name
        and direct.determiner in ("a", "bare")
    )


def _predicate(adjective: Adjective) -> Pair:
    own = Token(adjective.english, adjective.english, "ADJ", (("Degree", "Pos"),), "adj.all")
    other = Token(adjective.german, adjective.german, "ADJ", (("Degree", "Pos"),), "adj.all")
    own.sense = other.sense = adjective.sense
    link(own, other)
    return Phrase(own, [own], "ADJP"), Phrase(other, [other], "ADJP")


def _make_copula(chain: Chain, heads: tuple[Token, Token]) -> None:
    """Hang the verbs of a copular clause under its predicate, as UD does."""
    sides = (chain.english, [*chain.rest, *([chain.finite] if chain.finite else [])])
    mains = (chain.english_main, chain.german_main)
    for tokens, main, head in zip(sides, mains, heads, strict=True):
        for token in tokens:
            token.under(head, "cop" if token is main else token.relation)


def _attach(clause: Clause, parts: Parts) -> None:
    """Give every argument its head, relation and semantic role on both sides."""
    verb = clause.verb
    agent, patient = ROLES.get(verb.supersense, ("agent", "patient"))
    if verb.supersense == "verb.change" and verb.frame == "i":
        agent = "patient"
    particle = verb.extras.get("en")
    is_dative = verb.frame == "d"
    if verb.frame == "d" and verb.supersense in ("verb.social", "verb.communication"):
        patient = "recipient"
    for side in (0, 1):
        head = parts.heads[side]
        role_of = []
        if parts.subject:
            relation = "nsubj:pass" if clause.passive else "nsubj"
            role_of.append((parts.subject, relation, patient if clause.passive else agent))
        if parts.direct:
            relation = "obl:arg" if is_dative and side == 1 else "obj"
            if particle and side == 0:
                relation = "obl"
            role_of.append((parts.direct, relation, patient))
        if parts.indirect:
            to = verb.frame == "dto" and side == 0
            role_of.append(
                (parts.indirect, "obl" if to else "iobj" if side == 0 else "obl:arg", "recipient")
            )
        for pair, relation, role in role_of:
            _hang(pair[side], head, relation, role)
        for adverbial, pair in parts.adverbials:
            role = adverbial.role
            role = patient if role == "object" else agent if role == "agent" else role
            _hang(pair[side], head, adverbial.relation, role)


def _hang(phrase: Phrase, head: Token, relation: str, role: str) -> None:
    phrase.under(head, relation)
    if role:
        phrase.head.roles = (*phrase.head.roles, (role, head))


def _negate(clause: Clause, parts: Parts, kein: bool) -> tuple[Token, Token | None]:
    own = Token("not", "not", "PART", (("Polarity", "Neg"),)).under(parts.heads[0], "advmod")
    own.attached = parts.chain.english[0].form == "can"  # cannot
    if kein and isinstance(clause.direct, NounPhrase) and clause.direct.article:
        link(own, clause.direct.article)
        return own, None
    other = Token("nicht", "nicht", "PART", (("Polarity", "Neg"),)).under(parts.heads[1], "advmod")
    link(own, other)
    return own, other


def _subordinate(subordinate: Subordinate, heads: tuple[Token, Token]) -> Pair:
    """Build a subordinate clause and attach it, without the commas around it."""
    own, other = build(subordinate.clause, subordinate.order)
    if subordinate.english:
        marks = (
            Token(subordinate.english, subordinate.english, "SCONJ"),
            Token(subordinate.german, subordinate.german, "SCONJ"),
        )
        link(*marks)
        own = Phrase(own.head, [marks[0].under(own.head, "mark"), own], "SBAR")
        other = Phrase(other.head, [marks[1].under(other.head, "mark"), other], "SBAR")
    relation = subordinate.relation
    return own.under(heads[0], relation), other.under(heads[1], relation)
