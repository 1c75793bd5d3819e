"""A sentence pair that is built but not yet frozen, and the ways to put clauses together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..annotation import write
from ..grammar import clauses, verb_chains
from ..grammar.descriptions import Clause
from ..grammar.nominals import Pronoun
from ..grammar.tree import Pair, Phrase, Token, comma, link


@dataclass(slots=True)
class Draft:
    """A sentence pair under construction.

    Args:
        english, german: whole sentences, final mark included
        focus: the word in question on both sides, if any
        cue: what decides it, on both sides
        contrasts: makes the wrong target texts; called only for pairs that are kept
    """

    english: Phrase
    german: Phrase
    focus: tuple[Token, Token] | None = None
    cue: tuple[Token, Token] | None = None
    contrasts: Callable[[], list[str]] = field(default=list)


def sentence(pair: Pair, mark: str = ".") -> Draft:
    """Close a pair of clauses with its final mark."""
    sides = []
    for phrase in pair:
        end = Token(mark, mark, "PUNCT").under(phrase.head, "punct")
        end.attached = True
        whole = Phrase(phrase.head, [phrase, end])
        _drop_commas(whole)
        whole.mark("S", whole.tokens)
        sides.append(whole)
    link(sides[0].tokens[-1], sides[1].tokens[-1])
    return Draft(sides[0], sides[1])


def _drop_commas(phrase: Phrase) -> None:
    """Drop a comma that closes a clause right before another mark."""
    tokens = phrase.tokens
    dropped = {
        token: tokens[index - 1]
        for index, token in enumerate(tokens[:-1])
        if token.form == "," and tokens[index + 1].upos == "PUNCT"
    }
    if not dropped:
        return
    phrase.tokens = [token for token in tokens if token not in dropped]
    phrase.spans = [(label, first, dropped.get(last, last)) for label, first, last in phrase.spans]


def coordinate(first: Pair, second: Pair, english: str, german: str, commas: bool) -> Pair:
    """Join two clauses by a conjunction, with a comma before it or without."""
    marks = Token(english, english, "CCONJ"), Token(german, german, "CCONJ")
    link(*marks)
    sides = []
    for side in (0, 1):
        head = first[side].head
        second[side].under(head, "conj")
        marks[side].under(second[side].head, "cc")
        before = [comma(second[side].head)] if commas else []
        sides.append(Phrase(head, [first[side], *before, marks[side], second[side]], "S"))
    return sides[0], sides[1]


def text_of(phrase: Phrase) -> str:
    """Return a phrase as plain text."""
    return write(phrase.tokens)[0]


def wrong_number(clause: Clause, draft: Draft) -> list[str]:
    """Return the target with the finite verb in the other number."""
    if clause.finite is None or clause.subject is None:
        return []
    token = clause.finite[1]
    chain = verb_chains.build(
        clause.verb, clause.when, clause.passive, "3", not clause.subject.plural, False, True
    )
    right = token.form
    if chain.finite is None:
        return []
    token.form = chain.finite.form
    text = text_of(draft.german)
    token.form = right
    return [text]


def wrong_gender(pronoun: Pronoun, rebuild: Callable[[], Pair]) -> list[str]:
    """Return the targets with a pronoun of another gender."""
    right = pronoun.german_gender
    texts = []
    for gender in "mfn":
        if gender != right:
            pronoun.german_gender = gender
            texts.append(text_of(sentence(rebuild()).german))
    pronoun.german_gender = right
    return texts


def main(clause: Clause, mark: str = ".") -> Draft:
    """Build a clause as a whole sentence."""
    return sentence(clauses.build(clause, "question" if mark == "?" else "main"), mark)
