"""Words under construction: the two sides grow together, one phrase at a time.

A `Token` knows its head by reference and its partners on the other side in `links`, so
nothing has to be renumbered while phrases are joined and reordered; `annotation.finish`
turns references into indices once a sentence stands. A `Phrase` is a run of words and phrases in
surface order with its syntactic head; a `Line` is a whole sentence laid flat.
"""

from __future__ import annotations

from collections.abc import Sequence

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
        self.links: tuple[Token, ...] = ()
        self.roles: tuple[tuple[str, Token], ...] = ()
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
    """Words and phrases in surface order under one head word; a label makes it a constituent."""

    __slots__ = ("head", "label", "parts")

    def __init__(self, head: Token, parts: Sequence[Token | Phrase], label: str = "") -> None:
        self.head = head
        self.parts = parts
        self.label = label

    def under(self, head: Token, relation: str) -> Phrase:
        """Attach the phrase's head word and return the phrase."""
        self.head.under(head, relation)
        return self


class Line:
    """A whole sentence of one side, flat.

    Args:
        phrase: what it says; a comma that closes a clause right before another mark is dropped

    Attributes:
        tokens: the words in order
        spans: (label, start, end) of every constituent
    """

    __slots__ = ("spans", "tokens")

    def __init__(self, phrase: Phrase) -> None:
        self.tokens: list[Token] = []
        self.spans: list[tuple[str, int, int]] = []
        self._flatten(phrase)

    def _flatten(self, phrase: Phrase) -> None:
        tokens = self.tokens
        start = len(tokens)
        for part in phrase.parts:
            if not isinstance(part, Token):
                self._flatten(part)
            elif part.upos == "PUNCT" and tokens and tokens[-1].form == ",":
                tokens[-1] = part
                end = len(tokens) - 1
                self.spans = [(name, low, min(high, end)) for name, low, high in self.spans]
            else:
                tokens.append(part)
        if phrase.label and len(tokens) > start:
            self.spans.append((phrase.label, start, len(tokens)))


Pair = tuple[Phrase, Phrase]  # the English and the German side of one constituent


def link(english: Token, german: Token) -> None:
    """Record that two words translate each other."""
    english.links = (*english.links, german)


def comma(head: Token) -> Token:
    """Return a comma under `head`, written without a space before it."""
    token = Token(",", ",", "PUNCT").under(head, "punct")
    token.attached = True
    return token
