"""The built-in corpus and its gold files in the same form as every other annotation.

The corpus is generated with its annotation, so most of this is a change of form: what is true
of single words there (entity, supersense) becomes spans and expressions. Words of one entity
are neighbours of one type that the tree connects: in `dass Anna Peter sieht` the two names
are two entities, in `New York` they are one.

`miniature` gives sentence pairs straight from the generator; `miniature-gold` puts the layers
on a side that was exported as CoNLL-U (see `models/data/miniature/gold.py`). Both give
the same sentences.

Sense and animacy stay with the words, as remarks of these names. What a sentence pair is
about stays in the comments: `phenomenon`, `distance`, and `focus` and `cue`, the numbers
(from 1) of the word in question and of the word that decides it; `focus_of` reads them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from ...models.data import miniature
from ...models.errors import DataError
from .alignments import alignment_counts
from .reader import LayerReader, PairReader, reader
from .sentence import (
    AnnotatedSentence,
    Pairs,
    Role,
    Span,
    Supersense,
    SurfaceToken,
    Word,
)
from .treebank import AlignedPair, AlignedText, Treebank

REMARKS = ("Animacy", "Sense")
_ROLE = re.compile(r"([^:,]+):([1-9][0-9]*)")
_CONSTITUENT = re.compile(r"([A-Z]+):([1-9][0-9]*)-([1-9][0-9]*)")


@reader("miniature")
class MiniatureReader(PairReader):
    """The built-in corpus, English to German, with all its gold annotation.

    Args:
        seed: of the generator.
        sentences: size of the training part, which decides what the other parts are.
        part: which part to give.
    """

    seed: int = 0
    sentences: int = 20_000
    part: Literal["train", "valid", "test", "unseen"] = "test"

    def read(self) -> AlignedText:
        """Generate the corpus; see `PairReader.read`."""
        corpus = miniature.generate(self.seed, self.sentences)
        return aligned_text(corpus.splits[self.part], self.part)


@reader("miniature-gold")
class MiniatureGoldLayer(LayerReader):
    """The layers in an exported side of the built-in corpus; needs no further file."""

    def add_to(self, treebank: Treebank) -> Treebank:
        """Put the layers on; see `LayerReader.add_to`."""
        return add_gold(treebank)


def aligned_text(pairs: Sequence[miniature.AnnotatedPair], name: str) -> AlignedText:
    """Return annotated pairs of the built-in corpus in the common form.

    Args:
        pairs: what the generator made.
        name: beginning of every sentence's id, as in the exported files.
    """
    aligned = []
    for number, pair in enumerate(pairs, start=1):
        identity = f"{name}-{number}"
        focus = pair.focus
        source = _sentence(pair.source, identity, _about(pair, focus.source, focus.source_cue))
        target = _sentence(pair.target, identity, _about(pair, focus.target, focus.target_cue))
        aligned.append(AlignedPair(source, target, pair.alignment, pair.alignment))
    return AlignedText(f"miniature {name}", tuple(aligned), alignment_counts(aligned))


def _about(pair: miniature.AnnotatedPair, word: int, cue: int) -> Pairs:
    """Return what a pair is about, in the words of the exported file."""
    comments = [("phenomenon", pair.phenomenon), ("distance", str(pair.distance))]
    if word >= 0:
        comments += [("focus", str(word + 1)), ("cue", str(cue + 1))]
    return tuple(comments)


def focus_of(sentence: AnnotatedSentence) -> tuple[int, int] | None:
    """Return the word in question and the word that decides it, None where there is none."""
    focus, cue = sentence.comment("focus"), sentence.comment("cue")
    if not focus or not cue or cue == "0":
        return None
    return int(focus) - 1, int(cue) - 1


def _sentence(
    sentence: miniature.AnnotatedSentence, identity: str, comments: Pairs
) -> AnnotatedSentence:
    words = tuple([_word(word) for word in sentence.words])
    return AnnotatedSentence(
        id=identity,
        text=sentence.text,
        words=words,
        surface=tuple([SurfaceToken(*token) for token in sentence.fused]),
        comments=comments,
        has_tree=True,
        entities=_entities(words, [word.entity for word in sentence.words]),
        supersenses=_supersenses([word.supersense for word in sentence.words]),
        constituents=tuple(
            [Span(each.label, each.start, each.end) for each in sentence.constituents]
        ),
        roles=tuple(
            [
                Role(predicate, index, label)
                for index, word in enumerate(sentence.words)
                for label, predicate in word.roles
            ]
        ),
    )


def _word(word: miniature.Word) -> Word:
    remarks = (("Animacy", word.animacy), ("Sense", word.sense))
    return Word(
        form=word.form,
        start=word.start,
        end=word.end,
        lemma=word.lemma,
        upos=word.upos,
        features=word.feats,
        head=word.head,
        relation=word.relation,
        misc=tuple([remark for remark in remarks if remark[1]]),
    )


def _entities(words: Sequence[Word], labels: Sequence[str]) -> tuple[Span, ...]:
    """Join neighbours of one type that the tree connects."""
    spans: list[Span] = []
    for index, label in enumerate(labels):
        if not label:
            continue
        last = spans[-1] if spans else None
        if last and last.end == index and last.label == label and _connected(words, last, index):
            spans[-1] = Span(label, last.start, index + 1)
        else:
            spans.append(Span(label, index, index + 1))
    return tuple(spans)


def _connected(words: Sequence[Word], span: Span, index: int) -> bool:
    """Tell whether a word is the head or a dependent of a word in a span."""
    inside = range(span.start, span.end)
    return words[index].head in inside or any(words[each].head == index for each in inside)


def _supersenses(labels: Iterable[str]) -> tuple[Supersense, ...]:
    return tuple([Supersense((index,), "", label) for index, label in enumerate(labels) if label])


def add_gold(treebank: Treebank) -> Treebank:
    """Turn the gold annotation in MISC and comments into layers, on every sentence.

    Raises:
        DataError: a role or constituent that is none, or a treebank without any.
    """
    counts: Counter[str] = Counter()
    annotated = {}
    for sentence in treebank:
        annotated[sentence.id] = finished = _with_gold(treebank.name, sentence)
        for layer in ("entities", "supersenses", "constituents", "roles"):
            counts[layer] += len(getattr(finished, layer))
    if not counts["constituents"]:
        raise DataError(
            f"{treebank.name}: no gold annotation of the built-in corpus; export it with "
            "headcount data"
        )
    return treebank.with_layer(annotated, counts)


def _with_gold(name: str, sentence: AnnotatedSentence) -> AnnotatedSentence:
    """Return an exported sentence with its layers, and without what they now hold."""
    words = sentence.words
    roles = []
    for index, word in enumerate(words):
        for part in filter(None, word.remark("Role").split(",")):
            match = _ROLE.fullmatch(part)
            if match is None or int(match[2]) > len(words):
                raise _wrong(name, sentence, f"'{part}' is no role such as agent:3")
            roles.append(Role(int(match[2]) - 1, index, match[1]))
    constituents = []
    for part in sentence.comment("constituents").split():
        match = _CONSTITUENT.fullmatch(part)
        if match is None or not int(match[2]) <= int(match[3]) <= len(words):
            raise _wrong(name, sentence, f"'{part}' is no constituent such as NP:1-2")
        constituents.append(Span(match[1], int(match[2]) - 1, int(match[3])))
    kept = ("phenomenon", "distance", "focus", "cue")
    return replace(
        sentence,
        words=tuple(
            [replace(w, misc=tuple([r for r in w.misc if r[0] in REMARKS])) for w in words]
        ),
        comments=tuple([comment for comment in sentence.comments if comment[0] in kept]),
        entities=_entities(words, [word.remark("Entity") for word in words]),
        supersenses=_supersenses([word.remark("Supersense") for word in words]),
        constituents=tuple(constituents),
        roles=tuple(roles),
    )


def _wrong(name: str, sentence: AnnotatedSentence, reason: str) -> DataError:
    return DataError(f"{name}, sentence '{sentence.id}': {reason}; export the file again")
