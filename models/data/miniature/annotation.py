"""The finished, immutable form of a sentence pair and everything that is known about it.

Words are syntactic words in the sense of Universal Dependencies: German `im` is the two words
`in` + `dem`, written as one. Both then share the character span of `im`, and `fused` names the
written form; CoNLL-U shows it as a range (3-4). Indices are 0-based, `head` is -1 at the root.
"""

from __future__ import annotations

from dataclasses import dataclass

from .grammar.tree import Line, Token

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("in", "das"): "ins",
    ("an", "das"): "ans",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("bei", "dem"): "beim",
}
_CONTRACTING = {preposition for preposition, _ in CONTRACTIONS}


@dataclass(frozen=True, slots=True)
class Word:
    """One word with its gold annotation.

    Args:
        form: the syntactic word as written (of `im`: `in`, `dem`)
        lemma: dictionary form; of a separable verb with its prefix (`anrufen`)
        upos: universal part of speech
        feats: UD features, sorted by name
        head: index of the head word, -1 for the root
        relation: UD v2 relation to the head
        start, end: character span in the text; fused words share one span
        depth: dependency arcs between the word and the root
        supersense: WordNet-like class (`noun.animal`, `verb.motion`), empty for function words
        roles: (role, index of the predicate) for every predicate this word is an argument of
        entity: PERSON, LOCATION, ORGANIZATION, DATE or empty
        sense: which sense an ambiguous word has here, or empty
        animacy: human, animal, inanimate, or empty for words that refer to nothing
    """

    form: str
    lemma: str
    upos: str
    feats: tuple[tuple[str, str], ...]
    head: int
    relation: str
    start: int
    end: int
    depth: int
    supersense: str
    roles: tuple[tuple[str, int], ...]
    entity: str
    sense: str
    animacy: str


@dataclass(frozen=True, slots=True)
class Constituent:
    """Words `start` to `end` (exclusive) form a constituent: S, SBAR, NP, PP, VP, ADJP, ADVP."""

    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnnotatedSentence:
    """One side of a pair.

    Args:
        text: the sentence as plain text
        words: its syntactic words
        constituents: labelled spans, the outer before the inner; only contiguous ones, so a
            German verb phrase is listed where the verb stands last
        fused: (first word, last word, written form) of every contraction
    """

    text: str
    words: tuple[Word, ...]
    constituents: tuple[Constituent, ...]
    fused: tuple[tuple[int, int, str], ...]

    @property
    def forms(self) -> list[str]:
        """Return the words as written."""
        return [word.form for word in self.words]

    @property
    def depth(self) -> int:
        """Return the depth of the dependency tree: the most arcs from the root to a word."""
        return max(word.depth for word in self.words)


@dataclass(frozen=True, slots=True)
class Focus:
    """Where the words that matter to the phenomenon stand; -1 where it has no such word.

    Args:
        source, target: the word in question (the pronoun, the ambiguous word, the verb)
        source_cue, target_cue: what decides it (antecedent, cue word, subject)
    """

    source: int = -1
    target: int = -1
    source_cue: int = -1
    target_cue: int = -1


@dataclass(frozen=True, slots=True)
class AnnotatedPair:
    """An English sentence, its German translation and what the pair is about.

    Args:
        source: English
        target: German
        alignment: (source word, target word), sorted
        phenomenon: the name of what the sentence shows, see `sentences.family.WEIGHTS`
        distance: words from the cue to the word it decides, on the source side; 0 without a cue
        focus: where these words stand on both sides
        contrasts: the target text made wrong in the phenomenon alone (verb of the wrong number,
            pronoun of the wrong gender, noun of the wrong sense), for contrastive scoring
    """

    source: AnnotatedSentence
    target: AnnotatedSentence
    alignment: tuple[tuple[int, int], ...]
    phenomenon: str
    distance: int
    focus: Focus
    contrasts: tuple[str, ...]


Written = tuple[str, list[tuple[int, int]], list[tuple[int, int, str]]]


def write(tokens: list[Token]) -> Written:
    """Write words as text with spaces, contractions and a sentence-initial capital.

    Returns:
        the text, every word's character span in it, and the contractions.
    """
    text = ""
    spans: list[tuple[int, int]] = []
    fused: list[tuple[int, int, str]] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        form, count = token.form, 1
        if token.upos == "ADP" and token.form in _CONTRACTING and index + 1 < len(tokens):
            following = tokens[index + 1]
            contraction = CONTRACTIONS.get((token.form, following.form))
            if contraction and following.relation == "det" and following.lemma == "der":
                form, count = contraction, 2
        if not text:
            form = form[0].upper() + form[1:]
        elif not token.attached:
            text += " "
        if count == 2:
            fused.append((index, index + 1, form))
        spans += [(len(text), len(text) + len(form))] * count
        text += form
        index += count
    return text, spans, fused


def finish(line: Line, written: Written | None = None) -> AnnotatedSentence:
    """Turn a sentence into its immutable form: references become indices.

    Args:
        line: a whole sentence
        written: what `write` made of it, if that is known already
    """
    tokens = line.tokens
    text, spans, fused = written or write(tokens)
    position = {token: index for index, token in enumerate(tokens)}
    heads = [-1 if token.head is None else position[token.head] for token in tokens]
    depths = _depths(heads)
    words = []
    for index, token in enumerate(tokens):
        start, end = spans[index]
        words.append(
            Word(
                token.form if index else _capital(token.form, fused),
                token.lemma,
                token.upos,
                token.feats,
                heads[index],
                token.relation,
                start,
                end,
                depths[index],
                token.supersense,
                tuple([(role, position[predicate]) for role, predicate in token.roles]),
                token.entity,
                token.sense,
                token.animacy,
            )
        )
    found = sorted({(start, -end, label) for label, start, end in line.spans})
    constituents = tuple([Constituent(label, start, -end) for start, end, label in found])
    return AnnotatedSentence(text, tuple(words), constituents, tuple(fused))


def _capital(form: str, fused: list[tuple[int, int, str]]) -> str:
    """Return a sentence-initial capital; inside a contraction the written form has it."""
    return form if fused and fused[0][0] == 0 else form[0].upper() + form[1:]


def _depths(heads: list[int]) -> list[int]:
    """Return the number of arcs from every word to the root."""
    depths = []
    for head in heads:
        depth = 0
        while head >= 0:
            depth += 1
            head = heads[head]
        depths.append(depth)
    return depths


def alignment(english: Line, german: Line) -> tuple[tuple[int, int], ...]:
    """Return the word alignment that the links of the English tokens describe."""
    position = {token: index for index, token in enumerate(german.tokens)}
    return tuple(
        sorted(
            {
                (index, position[partner])
                for index, token in enumerate(english.tokens)
                for partner in token.links
            }
        )
    )
