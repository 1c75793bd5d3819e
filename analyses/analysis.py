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

from collections.abc import Callable
from typing import Protocol

from ..models.registry import Registry
from .result import Result

analysis: Registry[Callable[..., Result]] = Registry("analysis")


class Progress(Protocol):
    """Hears how far long work has come; the commands show it."""

    def __call__(self, what: str, done: int, total: int, note: str = "") -> None:
        """Say what is being done, how much of it is done, how much there is, and a figure."""
        ...


def silent(what: str, done: int, total: int, note: str = "") -> None:
    """Say nothing of the progress."""


def spread(total: int, count: int) -> list[int]:
    """Return `count` numbers spread evenly over 0 ... total - 1: examples, never hand-picked."""
    count = min(count, total)
    return [i * total // count for i in range(count)]
