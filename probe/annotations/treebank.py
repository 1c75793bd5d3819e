"""Collections of annotated sentences: one language, two languages, two with word alignments.

What a reader could not use stands beside the sentences in `counts`, by name, so that no
analysis can lose it on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ...models.errors import DataError
from .sentence import LAYERS, AnnotatedSentence, Links


@dataclass(frozen=True, slots=True)
class Treebank:
    """Annotated sentences in one language.

    Args:
        name: where they are from, such as `en_pud-ud-test`.
        sentences: in the order of the file.
        counts: what was read and what was left out, by name; the reader's docstring explains.
    """

    name: str
    sentences: tuple[AnnotatedSentence, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sentences)

    def __iter__(self) -> Iterator[AnnotatedSentence]:
        return iter(self.sentences)

    @property
    def by_id(self) -> dict[str, AnnotatedSentence]:
        """Return the sentences by their ids."""
        return {sentence.id: sentence for sentence in self.sentences}

    def with_layer(
        self, replaced: Mapping[str, AnnotatedSentence], counts: Mapping[str, int]
    ) -> Treebank:
        """Return the treebank with some sentences replaced and further counts added.

        Raises:
            DataError: a sentence has the layer already; one annotation would hide another.
        """
        known = self.by_id
        for identity, sentence in replaced.items():
            for layer in LAYERS:
                before = getattr(known[identity], layer)
                if before is not None and getattr(sentence, layer) != before:
                    raise DataError(
                        f"{self.name}: sentence '{identity}' has {layer} already; put each layer "
                        "on once, with all of its files together"
                    )
        sentences = tuple([replaced.get(sentence.id, sentence) for sentence in self.sentences])
        return Treebank(self.name, sentences, {**self.counts, **counts})


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A sentence, its translation, and which words correspond.

    Args:
        source, target: the two sides.
        sure: links that all annotators would make (S of Och & Ney 2003, CL 29).
        possible: links that may be made, the sure ones included (P): precision is measured
            against these, recall against the sure ones.
    """

    source: AnnotatedSentence
    target: AnnotatedSentence
    sure: Links
    possible: Links


@dataclass(frozen=True, slots=True)
class AlignedText:
    """Sentence pairs with gold word alignments.

    Args:
        name: where they are from.
        pairs: in the order of the file.
        counts: what was read and what was left out.
    """

    name: str
    pairs: tuple[AlignedPair, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[AlignedPair]:
        return iter(self.pairs)

    def side(self, name: Literal["source", "target"]) -> Treebank:
        """Return the sentences of one side."""
        sentences = [pair.source if name == "source" else pair.target for pair in self.pairs]
        return Treebank(f"{self.name} ({name})", tuple(sentences), self.counts)


@dataclass(frozen=True, slots=True)
class ParallelTreebank:
    """Two treebanks of the same sentences, such as English and German PUD.

    Args:
        pairs: (source, target), in the order of the source.
        unpaired: sentences of either side whose id the other side lacks.
    """

    pairs: tuple[tuple[AnnotatedSentence, AnnotatedSentence], ...]
    unpaired: int


def paired(source: Treebank, target: Treebank) -> ParallelTreebank:
    """Join sentences of the same id."""
    known = target.by_id
    pairs = tuple([(each, known[each.id]) for each in source if each.id in known])
    return ParallelTreebank(pairs, len(source) + len(target) - 2 * len(pairs))
