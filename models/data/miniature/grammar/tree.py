"""Words under construction: the two sides grow together, one phrase at a time.

A `Token` knows its head by reference and its partners on the other side in `links`, so
nothing has to be renumbered while phrases are joined and reordered; `annotation.finish`
turns references into indices once a sentence stands. A `Phrase` is a run of tokens in surface
order with its syntactic head and the labelled spans (constituents) inside it.
"""

from __future__ import annotations

from collections.abc import Iterable

Features = tuple[tuple[str, str], ...]  # UD features, sorted by name


class Token:
    """One word of one side, still without a position."""

    __slots__ = (
        "animacy",
        "attached",
        "entity",
        "feats",
        "form",
        "head",
        "lemma",
        "links",
        "relation",
        "roles",
        "sense",
        "supersense",
        "upos",
    )

    def __init__(
        self,
        form: str,
        lemma: str,
        upos: str,
        feats: Features = (),
        supersense: str = "",
    ) -> None:
        self.form = form
        self.lemma = lemma
        self.upos = upos
        self.feats = feats
        self.supersense = supersense
        self.head: Token | None = None
        self.relation = "root"
        self.links: list[Token] = []
        self.roles: list[tuple[str, Token]] = []
        self.entity = ""
        self.sense = ""
        self.animacy = ""
        self.attached = False  # written without a space after the word before it

    def under(self, head: Token, relation: str) -> Token:
        """Attach the word to its head and return it."""
        self.head = head
        self.relation = relation
        return self


class Phrase:
    """Tokens in surface order, the head among them, and the constituents inside."""

    __slots__ = ("head", "spans", "tokens")

    def __init__(self, head: Token, parts: Iterable[Token | Phrase], label: str = "") -> None:
        self.head = head
        self.tokens: list[Token] = []
        self.spans: list[tuple[str, Token, Token]] = []
        for part in parts:
            if isinstance(part, Token):
                self.tokens.append(part)
            else:
                self.tokens += part.tokens
                self.spans += part.spans
        if label:
            self.mark(label, self.tokens)

    def mark(self, label: str, tokens: list[Token]) -> None:
        """Record that `tokens`, a run of this phrase, form a constituent."""
        if tokens:
            self.spans.append((label, tokens[0], tokens[-1]))

    def under(self, head: Token, relation: str) -> Phrase:
        """Attach the phrase's head word and return the phrase."""
        self.head.under(head, relation)
        return self


Pair = tuple[Phrase, Phrase]  # the English and the German side of one constituent


def link(english: Token, german: Token) -> None:
    """Record that two words translate each other."""
    english.links.append(german)


def comma(head: Token) -> Token:
    """Return a comma under `head`, written without a space before it."""
    token = Token(",", ",", "PUNCT").under(head, "punct")
    token.attached = True
    return token
