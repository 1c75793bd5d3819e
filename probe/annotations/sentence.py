"""What is known of a sentence: one immutable form for every annotation, whatever file it is from.

Words are syntactic words in the sense of Universal Dependencies (de Marneffe et al. 2021, CL
47): French `du` is one surface token and two words, `de` and `le`. Both words carry the
surface token's character span, and `SurfaceToken` names what is written. Nothing else in the
text is a word: empty nodes (`8.1`, elided words that only some graphs have) are left out.

A LAYER is a kind of annotation that a sentence may or may not have. A sentence without a
layer has `None` there, a sentence that was annotated and has nothing has `()`. The
difference matters: "no entity here" is a label to learn, "nobody looked" is not.

Word indices count from 0 and spans are half-open, [start, end), in words as in characters.
A word that could not be found in the text has the span (-1, -1).
"""

from __future__ import annotations

from dataclasses import dataclass

Pairs = tuple[tuple[str, str], ...]
"""Keys with values, in the order of the file."""
Links = tuple[tuple[int, int], ...]
"""Word alignment: (source word, target word), sorted."""

ROOT = -1
"""The head of a root."""
NOWHERE = (-1, -1)
"""The span of a word that the text does not have."""
UNCLASSIFIED = ("", "??", "`$")
"""What stands where a lexical expression has no supersense."""

LAYERS = ("entities", "supersenses", "expressions", "constituents", "roles", "judgements")
"""The layers of a sentence, by the names of their fields."""


@dataclass(frozen=True, slots=True)
class Word:
    """One syntactic word.

    Args:
        form: as the annotation writes it (of `du`: `de`, `le`).
        start, end: its characters in the text; the words of a range share the range's span.
        lemma, upos, xpos: empty where the file has `_`.
        features: morphology, such as ("Number", "Sing").
        head: index of the head word, -1 for a root.
        relation: to the head; empty in a sentence without a tree.
        misc: everything else that the file says of the word.
    """

    form: str
    start: int
    end: int
    lemma: str = ""
    upos: str = ""
    xpos: str = ""
    features: Pairs = ()
    head: int = ROOT
    relation: str = ""
    misc: Pairs = ()

    @property
    def span(self) -> tuple[int, int]:
        """Return the characters of the word."""
        return self.start, self.end

    @property
    def located(self) -> bool:
        """Tell whether the text has the word."""
        return self.start >= 0

    def feature(self, name: str) -> str:
        """Return a morphological feature, empty where the word has none of that name."""
        return dict(self.features).get(name, "")

    def remark(self, name: str) -> str:
        """Return a value of MISC, empty where the word has none of that name."""
        return dict(self.misc).get(name, "")


@dataclass(frozen=True, slots=True)
class SurfaceToken:
    """Words `first` to `last` (inclusive) are written as one token, `form`: a range, `3-4`."""

    first: int
    last: int
    form: str


@dataclass(frozen=True, slots=True)
class Span:
    """Words `start` to `end` (exclusive) have a label: an entity, a constituent."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Supersense:
    """A lexical expression and its coarse meaning (Schneider & Smith 2015, STREUSLE).

    Args:
        words: the expression; several and not always neighbours in a multiword expression.
        category: the lexical category: N, V, P, V.LVC.full, ...; empty where not annotated.
        label: n.ANIMAL, v.motion; for prepositions the SCENE ROLE, what the phrase is in the
            event; empty for expressions without one.
        function: for prepositions the FUNCTION, what the preposition itself contributes
            (Schneider et al. 2018): in `a friend of mine` they differ. Empty otherwise.
    """

    words: tuple[int, ...]
    category: str
    label: str
    function: str = ""

    @property
    def classified(self) -> bool:
        """Tell whether the label is a class: not empty, `??` (unclear) or `` `$ `` (in idioms)."""
        return self.label not in UNCLASSIFIED


@dataclass(frozen=True, slots=True)
class Expression:
    """A multiword expression; a weak one is only a habit (`highly_recommend`)."""

    words: tuple[int, ...]
    strong: bool


@dataclass(frozen=True, slots=True)
class Role:
    """A word is an argument of a predicate: agent, patient, ..."""

    predicate: int
    argument: int
    label: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What people said of a predicate, an argument, or an argument of a predicate.

    Args:
        words: (predicate, argument) of a proto-role, else the word alone; heads of phrases.
        name: volition, sentient, factual, arg-kind, ...
        value: about -4 to 4, positive for yes.
        confidence: between 0 and 1.
    """

    words: tuple[int, ...]
    name: str
    value: float
    confidence: float


@dataclass(frozen=True, slots=True)
class AnnotatedSentence:
    """A sentence, its words, and the layers that it has.

    Args:
        id: unique within its treebank.
        text: the plain text that a model reads.
        words: its syntactic words.
        document: what the sentence is part of; empty where the file does not say.
        surface: tokens that hold several words each.
        comments: further `key = value` lines of the file.
        has_tree: whether the words have heads and relations.
        entities: named entities; may be nested.
        supersenses, expressions: lexical semantics.
        constituents: phrases, the outer before the inner.
        roles: predicates with their arguments.
        judgements: proto-roles, genericity, factuality.
    """

    id: str
    text: str
    words: tuple[Word, ...]
    document: str = ""
    surface: tuple[SurfaceToken, ...] = ()
    comments: Pairs = ()
    has_tree: bool = False
    entities: tuple[Span, ...] | None = None
    supersenses: tuple[Supersense, ...] | None = None
    expressions: tuple[Expression, ...] | None = None
    constituents: tuple[Span, ...] | None = None
    roles: tuple[Role, ...] | None = None
    judgements: tuple[Judgement, ...] | None = None

    def __len__(self) -> int:
        return len(self.words)

    @property
    def forms(self) -> tuple[str, ...]:
        """Return the words as the annotation writes them."""
        return tuple([word.form for word in self.words])

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Return every word's characters in the text."""
        return tuple([(word.start, word.end) for word in self.words])

    @property
    def depths(self) -> tuple[int, ...]:
        """Return the arcs from every word to its root."""
        depths = []
        for word in self.words:
            depth = 0
            while word.head != ROOT:
                word, depth = self.words[word.head], depth + 1
            depths.append(depth)
        return tuple(depths)

    def comment(self, name: str) -> str:
        """Return a comment's value, empty where the sentence has none of that name."""
        return dict(self.comments).get(name, "")


def words_of(text: str) -> tuple[Word, ...]:
    """Return the words of a text that is tokenised by single spaces, with their spans."""
    words, start = [], 0
    for form in text.split(" "):
        if form:
            words.append(Word(form, start, start + len(form)))
        start += len(form) + 1
    return tuple(words)
