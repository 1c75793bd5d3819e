"""What a probing task asks, and which sentences it learns from and is judged on.

An example is a word (its part of speech), a pair of words (the relation of a word to its
head), or a sentence (its tense). It has a label, the sentence it stands in, and its WORD
TYPE, the lower-cased form: what a probe could know without any context. The type of a pair is
that of its first word.

Splits are by sentence, or by document where documents are known, never by word: words of
one sentence share its topic and its memorable names, and a probe that has seen half of a
sentence is judged too well on the other half.

Rule for rare labels: a label that the training examples have fewer than twice cannot be
learned or have its penalty chosen; its examples are left out of all splits and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...models.errors import DataError
from .stacked import ABSENT

Numbers = NDArray[np.int64]
Unit = Literal["word", "pair", "sentence"]
PARTS = ("train", "valid", "test")


@dataclass(frozen=True)
class Split:
    """Which sentence is for training, for choosing the penalty, and for judging.

    Args:
        part: 0 train, 1 valid, 2 test  # [sentence]
    """

    part: Numbers

    def examples(self, sentences: Numbers, part: str) -> Numbers:
        """Return which of the examples, given by their sentences, are in a part."""
        return np.flatnonzero(self.part[sentences] == PARTS.index(part))

    @classmethod
    def of(
        cls,
        documents: Sequence[str],
        generator: np.random.Generator,
        shares: tuple[float, float, float] = (0.6, 0.2, 0.2),
    ) -> Split:
        """Split at random; what shares a document stays together.

        Args:
            documents: of every sentence; an empty name is a document of its own.
            generator: makes the order.
            shares: of the sentences, for train, valid and test.

        Raises:
            DataError: fewer than three documents, so that a part would be empty.
        """
        names = [name or f"\0{index}" for index, name in enumerate(documents)]
        kinds, member = np.unique(np.array(names), return_inverse=True)
        if len(kinds) < 3:
            raise DataError(
                f"{len(kinds)} sentences or documents cannot be split in three parts; give more"
            )
        order = generator.permutation(len(kinds))
        sizes = np.bincount(member, minlength=len(kinds))[order]  # [document], sentences
        before = (np.cumsum(sizes) - sizes) / sizes.sum()
        part = np.searchsorted(np.cumsum(shares)[:2], before + 1e-9, side="right")  # [document]
        # Large documents can swallow a part; the last documents then make up for it.
        part[0], part[-1] = 0, 2
        if not (part == 1).any():
            part[-2] = 1
        if len(kinds) == 3:
            part = np.array([0, 1, 2])
        of_document = np.empty(len(kinds), dtype=np.int64)
        of_document[order] = part
        return cls(of_document[member])


@dataclass(frozen=True)
class Examples:
    """The labelled examples of one task.

    Args:
        task: name of the task.
        unit: what an example is.
        classes: names of the labels.
        rows: where each example's state is: a word's row, or a sentence's number  # [example]
        partners: the second word's row, for pairs  # [example]
        labels: index into `classes`  # [example]
        sentences: the sentence of every example  # [example]
        types: word type of every example, -1 for sentences  # [example]
        dropped: examples that were left out because their label is rare.
    """

    task: str
    unit: Unit
    classes: tuple[str, ...]
    rows: Numbers
    partners: Numbers | None
    labels: Numbers
    sentences: Numbers
    types: Numbers
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def has_types(self) -> bool:
        """Whether examples are words, so that types and control tasks mean something."""
        return self.unit != "sentence"

    def select(self, chosen: Numbers) -> Examples:
        """Return some of the examples, with the same classes."""
        return replace(
            self,
            rows=self.rows[chosen],
            partners=None if self.partners is None else self.partners[chosen],
            labels=self.labels[chosen],
            sentences=self.sentences[chosen],
            types=self.types[chosen],
        )

    def part(self, split: Split, part: str) -> Examples:
        """Return the examples of one part of a split."""
        return self.select(split.examples(self.sentences, part))

    def learnable(self, split: Split, least: int = 2) -> Examples:
        """Leave out labels that training has fewer than `least` times.

        Raises:
            DataError: fewer than two labels are left, or a part has no example.
        """
        training = self.labels[split.examples(self.sentences, "train")]
        counts = np.bincount(training, minlength=len(self.classes))  # [class]
        kept = np.flatnonzero(counts >= least)  # [class]
        if len(kept) < 2:
            raise DataError(
                f"task '{self.task}': {len(kept)} labels occur at least {least} times in the "
                "training sentences, two are needed; give more sentences or leave the task out"
            )
        renamed = np.full(len(self.classes), ABSENT)
        renamed[kept] = np.arange(len(kept))
        labels = renamed[self.labels]  # [example]
        chosen = np.flatnonzero(labels != ABSENT)
        classes = tuple(self.classes[index] for index in kept)
        dropped = self.dropped + len(self) - len(chosen)
        fewer = replace(self, classes=classes, labels=labels, dropped=dropped).select(chosen)
        for part in PARTS:
            if not len(split.examples(fewer.sentences, part)):
                raise DataError(f"task '{self.task}': no examples in the {part} part; give more")
        return fewer
