"""Sentence pairs and corpora, wherever they come from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..errors import DataError, UsageError, did_you_mean


@dataclass(frozen=True)
class ParallelText:
    """Sentence pairs: `target[i]` is the translation of `source[i]`.

    Args:
        name: for messages and tables, such as `multi30k test_2016_flickr`.
        source: source sentences.
        target: target sentences, as many.
        skipped: pairs that were left out when the text was read, because a side was empty.
    """

    name: str
    source: Sequence[str]
    target: Sequence[str]
    skipped: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if len(self.source) != len(self.target):
            raise DataError(
                f"{self.name}: {len(self.source)} source but {len(self.target)} target "
                "sentences; every sentence needs its translation"
            )

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 over both sides; the name does not count.

        Every sentence goes in with its length in bytes, so that no two different texts give
        the same stream of bytes.
        """
        digest = hashlib.sha256()
        for side in (self.source, self.target):
            for sentence in side:
                raw = sentence.encode("utf-8")
                digest.update(b"%d:%b" % (len(raw), raw))
            digest.update(b";")
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self.source)

    def head(self, count: int) -> ParallelText:
        """Return the first `count` pairs, or all of them where there are fewer."""
        return self.select(range(min(count, len(self))))

    def select(self, indices: Iterable[int]) -> ParallelText:
        """Return the pairs `indices`, in that order, under the same name."""
        chosen = list(indices)
        source, target = self.source, self.target
        return ParallelText(self.name, [source[i] for i in chosen], [target[i] for i in chosen])

    def reversed(self) -> ParallelText:
        """Return the pairs with source and target exchanged."""
        return ParallelText(self.name, self.target, self.source, self.skipped)


@dataclass(frozen=True)
class Corpus:
    """Parallel text for training, for choosing and for measuring, and its languages.

    Args:
        name: the name in the registry.
        source_language, target_language: codes such as `en` and `de`.
        train: what the model learns from.
        valid: what decides when to stop.
        tests: what is measured, by name of the split; the first is the main one.
        licence: what may be done with the text, for the page.
    """

    name: str
    source_language: str
    target_language: str
    train: ParallelText
    valid: ParallelText
    tests: Mapping[str, ParallelText]
    licence: str

    def __post_init__(self) -> None:
        if not self.tests:
            raise DataError(f"{self.name}: no test split; give one")

    @property
    def test(self) -> ParallelText:
        """Return the main test split."""
        return next(iter(self.tests.values()))

    @property
    def splits(self) -> dict[str, ParallelText]:
        """Return all splits by name: train, valid, and the test splits by their own names."""
        return {"train": self.train, "valid": self.valid, **self.tests}

    def split(self, name: str) -> ParallelText:
        """Return a split by name; `test` is the main test split, whatever its own name.

        Raises:
            UsageError: no such split.
        """
        known = {"test": self.test} | self.splits
        if name not in known:
            raise UsageError(f"{self.name} has no split '{name}'" + did_you_mean(name, known))
        return known[name]

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 over the languages and the names and texts of all splits."""
        digest = hashlib.sha256(f"{self.source_language}>{self.target_language}".encode())
        for name, text in self.splits.items():
            digest.update(f"\n{name}\t{text.fingerprint}".encode())
        return digest.hexdigest()
