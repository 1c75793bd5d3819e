"""The text that roles are looked for in: annotated as far as there is annotation.

The built-in corpus brings trees, meaning and word alignments of both sides. A treebank brings
what it has of the source, and of the target if there is one of the same sentences; where
there is none, the model's own translation is what the decoder reads. Plain text still tells
offsets, sinks, rare words and which heads are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..models.data.corpora import CorpusSettings, miniature_test
from ..models.data.parallel_text import Corpus, ParallelText
from ..models.errors import DataError
from ..models.translator import Translator
from ..probe.annotations import (
    AlignedPair,
    AlignedText,
    AnnotatedSentence,
    Treebank,
    aligned_text,
    paired,
)
from ..probe.annotations.sentence import words_of
from .analysis import spread

MINIATURE = "miniature"


@dataclass(frozen=True)
class RoleText:
    """Sentence pairs with whatever is known of them.

    Args:
        name: where they are from.
        pairs: sentences with their translations, and gold links if `linked`.
        linked: whether the pairs have gold word alignments.
        contrasted: whether the grammar of the built-in corpus, English to German, knows what is
            wrong in such text.
        remarks: what a reader must know of the text.
    """

    name: str
    pairs: Sequence[AlignedPair]
    linked: bool = False
    contrasted: bool = False
    remarks: tuple[str, ...] = ()

    @property
    def plain(self) -> ParallelText:
        """Return the text without annotation."""
        sources = [pair.source.text for pair in self.pairs]
        return ParallelText(self.name, sources, [pair.target.text for pair in self.pairs])

    def head(self, sentences: int) -> RoleText:
        """Return so many sentences, spread evenly over the text."""
        chosen = [self.pairs[place] for place in spread(len(self.pairs), sentences)]
        return replace(self, pairs=chosen)


def own_text(corpus: Corpus, settings: CorpusSettings) -> RoleText:
    """Return the test text of a run, with gold annotation if the corpus is the built-in one."""
    if settings.name == MINIATURE and settings.source_language in (None, "en"):
        gold = linked_text(aligned_text(miniature_test(settings), "test"))
        return replace(gold, contrasted=True)
    test = corpus.test
    pairs = [
        AlignedPair(_plain(f"{number}", source), _plain(f"{number}", target), (), ())
        for number, (source, target) in enumerate(zip(test.source, test.target, strict=True))
    ]
    remark = "The text has no annotation: give a treebank for roles of syntax and meaning."
    return RoleText(test.name, pairs, remarks=(remark,))


def linked_text(text: AlignedText) -> RoleText:
    """Return pairs with word alignments."""
    return RoleText(text.name, text.pairs, linked=True)


def treebank_text(
    source: Treebank, target: Treebank | None, translator: Translator, sentences: int
) -> RoleText:
    """Return a treebank of the source language, with its translations.

    Args:
        source: annotated sentences.
        target: the same sentences in the target language, by id; the model's own translations
            when there is none.
        translator: makes them.
        sentences: at most so many, spread evenly.

    Raises:
        DataError: the two treebanks have no sentence in common.
    """
    if target is not None:
        both = paired(source, target)
        if not both.pairs:
            raise DataError(f"{source.name} and {target.name} have no sentence id in common")
        pairs = [AlignedPair(*pair, (), ()) for pair in both.pairs]
        remark = f"{both.unpaired} sentences have no partner in the other language."
        return RoleText(source.name, pairs, remarks=(remark,)).head(sentences)
    chosen = [source.sentences[place] for place in spread(len(source), sentences)]
    said = translator.translate([sentence.text for sentence in chosen])
    pairs = [
        AlignedPair(sentence, _plain(sentence.id, it.text), (), ())
        for sentence, it in zip(chosen, said, strict=True)
    ]
    remark = "The decoder read the model's own translations, which have no annotation."
    return RoleText(source.name, pairs, remarks=(remark,))


def _plain(identity: str, text: str) -> AnnotatedSentence:
    return AnnotatedSentence(identity, text, words_of(text))
