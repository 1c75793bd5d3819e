"""What a clause says, before it is said in either language."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..words.lexicon import Adjective, Verb
from .nominals import Nominal, Prepositional
from .tree import Pair, Phrase, Token, link
from .verb_chains import PRESENT, Chain, Tense


@dataclass(slots=True, eq=False)
class Adverb:
    """An adverb of both sides; `role` is time, frequency or manner."""

    english: str
    german: str
    role: str
    relation: str = "advmod"
    words: tuple[Token, Token] | None = field(default=None, init=False)

    def build(self) -> Pair:
        """Return both sides."""
        upos = "ADV"
        own = Token(self.english, self.english, upos, (), "adv.all")
        adjective = self.role == "manner"
        other = Token(self.german, self.german, "ADJ" if adjective else upos, (), "adv.all")
        link(own, other)
        self.words = own, other
        return Phrase(own, [own], "ADVP"), Phrase(other, [other], "ADVP")


Adverbial = Adverb | Prepositional


@dataclass(slots=True, eq=False)
class Subordinate:
    """A clause inside a clause: its conjunctions, order and UD relation.

    Args:
        clause: what it says
        english, german: conjunctions, empty for infinitives
        relation: ccomp, xcomp or advcl
        order: final or to
    """

    clause: Clause
    english: str = ""
    german: str = ""
    relation: str = "ccomp"
    order: str = "final"


@dataclass(slots=True, eq=False)
class Clause:
    """What a clause says.

    Args:
        verb: the main verb, `COPULA` with a predicate
        subject: None in infinitives
        direct: accusative object (dative for verbs of frame d)
        indirect: dative object beside a direct one
        predicate: adjective after a copula
        adverbials: at most one of each role
        when: tense and modal
        passive: the subject is what the verb is done to
        negated: not | nicht, or kein at an indefinite object
        front: one of the adverbials, to stand first
        before, after: subordinate clauses
    elided: the subject is understood, not said (second half of a coordination)
    """

    verb: Verb
    subject: Nominal | None = None
    direct: Nominal | None = None
    indirect: Nominal | None = None
    predicate: Adjective | None = None
    adverbials: list[Adverbial] = field(default_factory=list)
    when: Tense = PRESENT
    passive: bool = False
    negated: bool = False
    front: Adverbial | None = None
    before: Subordinate | None = None
    after: list[Subordinate] = field(default_factory=list)
    elided: bool = False
    finite: tuple[Token, Token] | None = field(default=None, init=False)
    heads: tuple[Token, Token] | None = field(default=None, init=False)


@dataclass(slots=True)
class Parts:
    """The built parts of a clause, before they are put in order."""

    chain: Chain
    heads: tuple[Token, Token]
    subject: Pair | None
    direct: Pair | None
    indirect: Pair | None
    predicate: Pair | None
    adverbials: list[tuple[Adverbial, Pair]]
    negations: tuple[Token | None, Token | None]
    before: Pair | None
    after: list[Pair]
