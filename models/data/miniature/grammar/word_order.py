"""The order of words: English by position, German by field.

A German clause is a frame of two verbs. What stands before the finite verb is the forefield
(one constituent), what stands between the verbs the middle field, and clauses follow the frame:

    Gestern | hat | der Mann das Buch nicht | gelesen |, weil er krank war.

The middle field is a sort by rank: subject, pronouns, dative, definite accusative,
time, the negation, manner, place, indefinite accusative, instrument, prepositional object,
direction. A pronoun whose form shows that it is no subject (mich, ihn, ihm) goes before a noun
subject: Gestern sah ihn der Mann. In a subordinate clause the finite verb joins the others at
the end.
"""

from __future__ import annotations

from .descriptions import Adverb, Adverbial, Clause, Parts
from .nominals import Nominal, RelativeGap
from .tree import Phrase, Token, comma, link

_RANKS = {
    "time": 5.0,
    "frequency": 5.5,
    "agent": 7.5,
    "manner": 8.0,
    "location": 9.0,
    "instrument": 11.0,
    "company": 8.5,
    "beneficiary": 11.5,
    "object": 12.0,
    "direction": 13.0,
}
_NOT_RANK, _PREDICATE_RANK = 7.0, 14.0
_CLEAR_PRONOUNS = {"mich", "mir", "ihn", "ihm", "uns", "ihnen"}  # never a subject
_ENGLISH_ROLES = (
    "object",
    "manner",
    "instrument",
    "company",
    "beneficiary",
    "agent",
    "direction",
    "location",
    "time",
)


def _is_front(nominal: Nominal | None) -> bool:
    return nominal is not None and nominal.kind in ("relative", "question")


def _in_front(clause: Clause, adverbial: Adverbial) -> bool:
    """Tell whether an adverbial stands first: by choice, as `where`, or with a relative pronoun."""
    if adverbial is clause.front:
        return True
    if isinstance(adverbial, Adverb):
        return adverbial.role == "location"
    return isinstance(adverbial.nominal, RelativeGap)


def english(clause: Clause, parts: Parts, order: str) -> Phrase:
    """Put the English parts in line."""
    head = parts.heads[0]
    front: list[Phrase | Token] = []
    if parts.before:
        front += [parts.before[0], comma(parts.before[0].head)]
    front += [pair[0] for adverbial, pair in parts.adverbials if _in_front(clause, adverbial)]
    if parts.direct and _is_front(clause.direct):
        front.append(parts.direct[0])
    subject = [parts.subject[0]] if parts.subject else []
    verbs = _english_verbs(parts)
    tail = _english_tail(clause, parts)
    if order == "question" and not _is_front(clause.subject):
        return Phrase(head, [*front, verbs[0], *subject, *verbs[1:], *tail], "S")
    inner = Phrase(head, [*verbs, *tail], "VP")
    return Phrase(head, [*front, *subject, inner], _label(clause, order))


def _label(clause: Clause, order: str) -> str:
    relative = any(
        isinstance(adverbial, Adverb) is False and _in_front(clause, adverbial)
        for adverbial in clause.adverbials
        if adverbial is not clause.front
    )
    if relative or any(
        isinstance(nominal, RelativeGap) for nominal in (clause.subject, clause.direct)
    ):
        return "SBAR"
    return "" if order == "to" else "S"


def _english_verbs(parts: Parts) -> list[Phrase | Token]:
    """Return the verbs with `not` and the adverb of frequency after the first auxiliary."""
    verbs: list[Phrase | Token] = list(parts.chain.english)
    middle: list[Phrase | Token] = [parts.negations[0]] if parts.negations[0] else []
    middle += [pair[0] for adverbial, pair in parts.adverbials if adverbial.role == "frequency"]
    if len(verbs) > 1 or parts.predicate is not None:
        return [verbs[0], *middle, *verbs[1:]]
    return [*middle, *verbs]


def _english_tail(clause: Clause, parts: Parts) -> list[Phrase | Token]:
    """Return what follows the verbs: objects, adverbials, subordinate clauses."""
    tail: list[Phrase | Token] = []
    particle = parts.chain.particle
    pronoun = clause.direct is not None and clause.direct.kind == "pronoun"
    german_verb = parts.chain.german_main
    if particle and not pronoun:
        tail.append(particle)
    if parts.predicate:
        tail.append(parts.predicate[0])
    if parts.indirect and clause.verb.frame != "dto":
        tail.append(parts.indirect[0])
    preposition = clause.verb.extras.get("en", "")
    if parts.direct and not _is_front(clause.direct):
        tail.append(_with_preposition(parts.direct[0], preposition, german_verb))
    elif parts.direct and preposition:
        tail.append(_preposition(parts.direct[0], preposition, german_verb))
    if particle and pronoun:
        tail.append(particle)
    if parts.indirect and clause.verb.frame == "dto":
        tail.append(_with_preposition(parts.indirect[0], "to", german_verb))
    for role in _ENGLISH_ROLES:
        for adverbial, pair in parts.adverbials:
            if adverbial.role == role and not _in_front(clause, adverbial):
                tail.append(pair[0])
    return [*tail, *(pair[0] for pair in parts.after)]


def _preposition(phrase: Phrase, form: str, german_verb: Token) -> Token:
    token = Token(form, form, "ADP").under(phrase.head, "case")
    link(token, german_verb)
    return token


def _with_preposition(phrase: Phrase, form: str, german_verb: Token) -> Phrase:
    """Put an English preposition before an object that has none in German (looks for)."""
    if not form:
        return phrase
    return Phrase(phrase.head, [_preposition(phrase, form, german_verb), phrase], "PP")


def german(clause: Clause, parts: Parts, order: str) -> Phrase:
    """Put the German parts in line."""
    head, chain = parts.heads[1], parts.chain
    front: list[Phrase | Token] = []
    if parts.before:
        front += [parts.before[1], comma(parts.before[1].head)]
    front += [pair[1] for adverbial, pair in parts.adverbials if _in_front(clause, adverbial)]
    if parts.direct and _is_front(clause.direct):
        front.append(parts.direct[1])
    subject = [parts.subject[1]] if parts.subject else []
    if parts.subject and (_is_front(clause.subject) or (order == "main" and not front)):
        front, subject = [*front, *subject], []
    early, middle = _middle_field(clause, parts, bool(subject))
    before: list[Phrase | Token] = [*early, *subject]
    after: list[Phrase | Token] = []
    for pair in parts.after:
        after += [comma(pair[1].head), pair[1]]
    finite = [chain.finite] if chain.finite else []
    if order in ("main", "question"):
        prefix = [chain.prefix] if chain.prefix else []
        tokens = [*front, *finite, *before, *middle, *chain.rest, *prefix, *after]
        return Phrase(head, tokens, "S")
    inner = Phrase(head, [*middle, *chain.rest, *finite, *after], "VP")
    return Phrase(head, [*front, *before, inner], _label(clause, order))


def _middle_field(
    clause: Clause, parts: Parts, subject: bool
) -> tuple[list[Phrase | Token], list[Phrase | Token]]:
    """Return what stands before and after the subject in the German middle field, in order.

    Args:
        clause, parts: the clause
        subject: the subject stands in the middle field
    """
    ranked: list[tuple[float, Phrase | Token]] = []
    if parts.indirect and clause.indirect:
        ranked.append((2.0 if clause.indirect.kind == "pronoun" else 3.0, parts.indirect[1]))
    if parts.direct and clause.direct and not _is_front(clause.direct):
        rank = {"pronoun": 1.0, "definite": 4.0}.get(clause.direct.kind, 10.0)
        ranked.append((rank, parts.direct[1]))
    if parts.negations[1]:
        ranked.append((_NOT_RANK, parts.negations[1]))
    if parts.predicate:
        ranked.append((_PREDICATE_RANK, parts.predicate[1]))
    for adverbial, pair in parts.adverbials:
        if not _in_front(clause, adverbial):
            ranked.append((_RANKS[adverbial.role], pair[1]))
    ranked.sort(key=lambda item: item[0])
    parts_in_order = [item[1] for item in ranked]
    early = 0
    if subject and clause.subject is not None and clause.subject.kind != "pronoun":
        while early < len(ranked) and _is_clear_pronoun(parts_in_order[early]):
            early += 1
    return parts_in_order[:early], parts_in_order[early:]


def _is_clear_pronoun(part: Phrase | Token) -> bool:
    return isinstance(part, Phrase) and part.head.form in _CLEAR_PRONOUNS
