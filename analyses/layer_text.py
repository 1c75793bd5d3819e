"""The annotated sentences that layers are probed on, and what each side of a model reads of them.

The built-in corpus brings both sides with all layers of annotation and gold links. A treebank
brings the source side; with a treebank of the same sentences in the target language (PUD) the
decoder is probed as well. Text that the model was not trained for can be probed too, for its
pieces are known, but how well they fit is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..models.data import miniature
from ..models.data.corpora import CorpusSettings, miniature_test
from ..models.data.parallel_text import ParallelText
from ..models.data.vocabulary import UNK
from ..models.errors import DataError, UsageError
from ..models.translator import Translator
from ..probe.annotations import (
    AlignedPair,
    AnnotatedSentence,
    Coverage,
    Treebank,
    aligned_text,
    paired,
    pieces_of,
)
from ..probe.annotations.sentence import LAYERS
from ..probe.layers.examples import PARTS, Split
from ..probe.layers.tasks.altered import altered

Side = Literal["encoder", "decoder"]
MOST_UNKNOWN = 0.05
"""With a larger share of unknown pieces the text is not what the model was trained for."""
MOST_PIECES = 2.0
"""Nor with more pieces a word than this: a byte or character fallback knows every letter."""
LEAST_FAMILIAR = 0.45
"""Nor with a smaller share of words that its training text has. Treebanks of the language of
miniature and Multi30k models had 47 to 80 %, of other languages 2 to 42 %."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class SideText:
    """What one side of a model reads.

    Args:
        side: encoder or decoder.
        source, target: texts; the target is None for the encoder.
        sentences: the annotation of the side's text.
        pairs: for the tasks about links; fewer than sentences where some were made up.
        split: which sentence is for what.
        made: sentences out of order, which stand at the end.
    """

    side: Side
    source: Sequence[str]
    target: Sequence[str] | None
    sentences: Sequence[AnnotatedSentence]
    pairs: Sequence[AlignedPair]
    split: Split
    made: int = 0


@dataclass(frozen=True)
class ProbedText:
    """Annotated sentences with their parts.

    Args:
        name: for tables and messages.
        source: annotated source sentences.
        pairs: the sentences with their translations, where there are any.
        split: which sentence is for what.
        remarks: what a reader must know of the text.
    """

    name: str
    source: Sequence[AnnotatedSentence]
    pairs: Sequence[AlignedPair]
    split: Split
    remarks: tuple[str, ...] = ()

    @property
    def plain(self) -> ParallelText:
        """Return the text without annotation, the target empty where there is none."""
        targets = [it.target.text for it in self.pairs] or [""] * len(self.source)
        return ParallelText(self.name, [it.text for it in self.source], targets)

    def side(self, side: Side, most_altered: int, seed: int) -> SideText:
        """Return what a side reads; the encoder reads some sentences out of order as well.

        Args:
            most_altered: sentences for each task about order, at most.
            seed: says which sentences are altered, and where.
        """
        plain = self.plain
        if side == "decoder":
            targets = [it.target for it in self.pairs]
            return SideText(side, plain.source, plain.target, targets, self.pairs, self.split)
        kept, made, origins = altered(self.source, np.random.default_rng([seed, 2]), most_altered)
        sentences = [*kept, *made]
        split = Split(
            np.concatenate([self.split.part, self.split.part[np.array(origins, dtype=int)]])
        )
        texts = [it.text for it in sentences]
        return SideText(side, texts, None, sentences, self.pairs, split, len(made))

    def described(self) -> str:
        """Say how many sentences are in each part."""
        counts = ", ".join(
            f"{int((self.split.part == index).sum())} {part}" for index, part in enumerate(PARTS)
        )
        return f"{counts} sentences ({self.name})"


def has_gold(corpus: CorpusSettings) -> bool:
    """Tell whether a corpus is annotated on both sides: the built-in one, from English."""
    return corpus.name == "miniature" and corpus.source_language in (None, "en")


def source_language(corpus: CorpusSettings) -> str | None:
    """Return the code of the source language as far as the settings tell it."""
    named = {"miniature": "en", "multi30k": "en"}
    return corpus.source_language or named.get(corpus.name)


def _refuse_without_gold(corpus: CorpusSettings) -> None:
    if not has_gold(corpus):
        raise UsageError(
            f"no gold annotation of corpus '{corpus.name}' in this direction; give a treebank of "
            "the model's source language with --treebank"
        )


def miniature_text(corpus: CorpusSettings, sentences: int) -> ProbedText:
    """Return the built-in corpus: probes learn on training text and are judged on test text.

    Args:
        sentences: of the training text, at most.

    Raises:
        UsageError: the model was not trained on the built-in corpus in its direction.
    """
    _refuse_without_gold(corpus)
    whole = miniature.generate(corpus.seed, corpus.sentences)
    parts = (whole.train[:sentences], whole.valid, whole.test)
    pairs = [pair for part in parts for pair in aligned_text(part, "miniature").pairs]
    split = Split(np.repeat(np.arange(3), [len(part) for part in parts]))
    return ProbedText("miniature", [it.source for it in pairs], pairs, split)


def miniature_test_text(corpus: CorpusSettings, seed: int) -> ProbedText:
    """Return the test text of the built-in corpus, split in three at random: the cheap way.

    Raises:
        UsageError: as for `miniature_text`.
    """
    _refuse_without_gold(corpus)
    pairs = aligned_text(miniature_test(corpus), "miniature test").pairs
    split = Split.of([""] * len(pairs), np.random.default_rng(seed))
    return ProbedText("miniature test", [it.source for it in pairs], pairs, split)


def treebank_text(
    treebank: Treebank,
    seed: int,
    *,
    target: Treebank | None = None,
    words: int | None = None,
    same_sentences: bool = True,
    language: str | None = None,
    familiar: Set[str] | None = None,
) -> ProbedText:
    """Return a treebank, split at random by document, or by sentence where it has none.

    Args:
        target: the same sentences in the target language, by id, for the decoder.
        words: training words at most; whole sentences are left out, the same for all tasks.
        same_sentences: whether to take only sentences that have every layer of annotation
            that any sentence has, so that all tasks are asked of the same sentences.
        language: code of what the model reads, if it is known. A vocabulary that both
            languages share knows all pieces of the other one, but treebanks are named by
            their language: `de_gsd-ud-dev`.
        familiar: words of the model's training text (`words_in`), if it is there.

    Raises:
        DataError: too few sentences, or none that both treebanks have.
    """
    remarks = []
    if familiar is not None:
        remarks.append(_familiarity(treebank, familiar))
    named = re.match(r"([a-z]{2,3})_", treebank.name)
    if language and named and named[1] != language:
        remarks.append(
            f"WARNING: {treebank.name} is named as a treebank of '{named[1]}', but the model reads "
            f"'{language}'."
        )
    sentences = list(treebank)
    if same_sentences:
        layers = [name for name in LAYERS if any(getattr(it, name) is not None for it in treebank)]
        sentences = [it for it in treebank if None not in [getattr(it, name) for name in layers]]
        if not sentences:
            raise DataError(
                f"{treebank.name}: no sentence has {' and '.join(layers)}; leave a layer out, or "
                "take each task's own sentences with --all-sentences"
            )
        if len(sentences) < len(treebank):
            without = len(treebank) - len(sentences)
            remarks.append(f"{without} sentences without {' and '.join(layers)} are left out.")
    pairs: list[AlignedPair] = []
    if target is not None:
        both = paired(replace(treebank, sentences=tuple(sentences)), target)
        if not both.pairs:
            raise DataError(f"{treebank.name} and {target.name} have no sentence id in common")
        remarks.append(f"{both.unpaired} sentences have no partner in the other language.")
        pairs = [AlignedPair(*pair, (), ()) for pair in both.pairs]
        sentences = [it.source for it in pairs]
    generator = np.random.default_rng(seed)
    split = Split.of([it.document for it in sentences], generator)
    if words is not None:
        chosen = _within(sentences, split, words, generator)
        if len(chosen) < len(sentences):
            out = len(sentences) - len(chosen)
            remarks.append(f"{out} training sentences beyond {words} words are left out.")
        sentences = [sentences[index] for index in chosen]
        pairs = [pairs[index] for index in chosen] if pairs else []
        split = Split(split.part[chosen])
    return ProbedText(treebank.name, sentences, pairs, split, tuple(remarks))


def words_in(lines: Iterable[str]) -> frozenset[str]:
    """Return the words of plain text, lower-cased, without punctuation."""
    return frozenset(word for line in lines for word in _WORD.findall(line.lower()))


def _familiarity(treebank: Treebank, familiar: Set[str]) -> str:
    """Say which share of the words the training text has: of another language it has few.

    Pieces cannot tell: a vocabulary that both languages share cuts both well.
    """
    words = [word for it in treebank for word in _WORD.findall(it.text.lower())]
    share = sum(word in familiar for word in words) / max(len(words), 1)
    said = f"{share:.1%} of the words of {treebank.name} are in the model's training text"
    if share < LEAST_FAMILIAR:
        return f"WARNING: the source is perhaps of another language than the model's: only {said}."
    return f"{said}."


def _within(
    sentences: Sequence[AnnotatedSentence], split: Split, words: int, generator: np.random.Generator
) -> list[int]:
    """Return the sentences that stay, so that the training part has at most so many words."""
    training = generator.permutation(np.flatnonzero(split.part == PARTS.index("train")))
    sizes = np.cumsum([len(sentences[index]) for index in training])
    beyond = set(training[sizes > words].tolist())
    return [index for index in range(len(sentences)) if index not in beyond]


def fit_of_words(translator: Translator, text: ProbedText) -> str:
    """Say how the model's vocabulary fits the source words: a foreign language fits badly."""
    plain, unknown, pieces = text.plain, 0, 0
    for batch in translator.batches(plain.source, [""] * len(plain)):
        pieces += int(batch.source.ordinary.sum())
        unknown += int((batch.source.ordinary & (batch.source.ids == UNK)).sum())
    words = sum(len(it) for it in text.source)
    share, each = unknown / max(pieces, 1), pieces / max(words, 1)
    coverage = Coverage()
    for sentence in text.source:
        coverage += pieces_of(sentence, translator.offsets(sentence.text, "source")).coverage
    said = (
        f"the source has {each:.2f} pieces a word, {share:.1%} of them unknown; of "
        f"{len(text.source)} sentences, {coverage.remark()}"
    )
    if share > MOST_UNKNOWN or each > MOST_PIECES:
        return (
            "WARNING: the model was not trained for such text, which is perhaps of another "
            f"language: {said}"
        )
    return said[0].upper() + said[1:]
