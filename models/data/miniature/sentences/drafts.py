"""A sentence pair that is built but not yet frozen, and the ways to put clauses together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..annotation import write
from ..grammar import clauses, verb_chains
from ..grammar.descriptions import Clause
from ..grammar.nominals import Pronoun
from ..grammar.tree import Line, Pair, Phrase, Token, comma, link
from ..words import german


@dataclass(slots=True)
class Draft:
    """A sentence pair under construction.

    Args:
        english, german: whole sentences, final mark included
        focus: the word in question on both sides, if any
        cue: what decides it, on both sides
        contrasts: makes the wrong target texts; called only for pairs that are kept
    """

    english: Line
    german: Line
    focus: tuple[Token, Token] | None = None
    cue: tuple[Token, Token] | None = None
    contrasts: Callable[[], list[str]] = field(default=list)


def sentence(pair: Pair, mark: str = ".") -> Draft:
    """Close a pair of clauses with its final mark."""
    ends = Token(mark, mark, "PUNCT"), Token(mark, mark, "PUNCT")
    link(*ends)
    lines = []
    for phrase, end in zip(pair, ends, strict=True):
        end.under(phrase.head, "punct")
        end.attached = True
        lines.append(Line(Phrase(phrase.head, (phrase, end), "S")))
    return Draft(lines[0], lines[1])


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


def text_of(line: Line) -> str:
    """Return a sentence as plain text."""
    return write(line.tokens)[0]


def text_with(line: Line, token: Token, form: str) -> str:
    """Return a sentence as plain text with one word said otherwise."""
    right, token.form = token.form, form
    text = text_of(line)
    token.form = right
    return text


def wrong_number(clause: Clause, draft: Draft) -> list[str]:
    """Return the target with the finite verb in the other number."""
    if clause.finite is None or clause.subject is None:
        return []
    token = clause.finite[1]
    chain = verb_chains.build(
        clause.verb, clause.when, clause.passive, "3", not clause.subject.plural, False, True
    )
    return [text_with(draft.german, token, chain.finite.form)] if chain.finite else []


def wrong_gender(pronoun: Pronoun, draft: Draft) -> list[str]:
    """Return the targets with a pronoun of another gender."""
    if pronoun.words is None:
        return []
    token = pronoun.words[1]
    case = dict(token.feats)["Case"].lower()
    forms = [
        german.personal_pronoun(pronoun.person, pronoun.plural, gender, case)
        for gender in "mfn"
        if gender != pronoun.german_gender
    ]
    return [text_with(draft.german, token, form) for form in forms]


def main(clause: Clause, mark: str = ".") -> Draft:
    """Build a clause as a whole sentence."""
    return sentence(clauses.build(clause, "question" if mark == "?" else "main"), mark)
