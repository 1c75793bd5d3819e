"""The `analysis` family: one question each, answered with a `Result`.

A member is a function

    question(translator, corpus, settings, seed, progress=silent) -> Result

that is pure: the same arguments give the same tables. It sees the model only through the
Translator protocol and text only through the corpus, so it works alike for a model that was
trained here and for a pretrained one. The seed makes all of its generators and is recorded
in the Result.

Which split an analysis reads is part of its definition: what CHOOSES (importance, an order
of removal) reads validation text, what REPORTS reads test text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from ..models.registry import Registry
from ..probe.importance import SentencePairs
from .result import Result

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

analysis: Registry[Callable[..., Result]] = Registry("analysis")


class Split(SentencePairs, Protocol):
    """One split of a corpus: parallel text with a name and a hash."""

    @property
    def name(self) -> str:
        """Return the split's name, such as `valid`."""
        ...

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 over both sides."""
        ...

    def head(self, n: int) -> Split:
        """Return the first `n` sentence pairs (all where there are fewer)."""
        ...


class Splits(Protocol):
    """A corpus, of which an analysis reads the validation and the test splits."""

    @property
    def valid(self) -> Split:
        """Return the validation split."""
        ...

    @property
    def tests(self) -> Mapping[str, Split]:
        """Return the test splits by name; the first is the main one."""
        ...


def silent(what: str, done: int, total: int) -> None:
    """Say nothing of the progress."""
