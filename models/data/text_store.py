"""Sentences on disk: a corpus larger than memory that behaves like a list of strings.

A text store is a token store (`token_store` has the file) whose ids are the bytes of UTF-8. It
is written once, after the text has passed all checks, and lies in the cache folder under a
name made of the files' paths, sizes and times, so that a changed file is read again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import overload

from ..files import write_json
from .parallel_text import ParallelText
from .readers import Skipped, open_pairs
from .token_store import TokenStore

PACKED = 4
"""How many times larger text is than its gzip, roughly."""


class TextStore(Sequence[str]):
    """Sentences of a store, decoded one by one when they are asked for."""

    def __init__(self, store: TokenStore) -> None:
        self._store = store

    def __len__(self) -> int:
        return len(self._store)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._store[index].tobytes().decode("utf-8")


def read_split(
    name: str,
    paths: tuple[Path, ...],
    cache: Path,
    *,
    memory_bytes: int,
    drop_empty: bool,
    longest: int,
) -> ParallelText:
    """Read one split: into memory, or into text stores when it is larger than `memory_bytes`.

    Args:
        name: of the split.
        paths: two aligned files, or one TSV file.
        cache: stores are made in its folder `texts`.
        memory_bytes: of text; more is mapped from disk.
        drop_empty, longest: as in `readers.read_pairs`.

    Raises:
        UsageError: not one or two paths.
        DataError: as `readers.read_pairs`.
    """
    skipped = Skipped()

    def pairs() -> Iterator[tuple[str, str]]:
        return open_pairs(paths, drop_empty=drop_empty, longest=longest, skipped=skipped)

    if sum(_text_bytes(path) for path in paths) <= memory_bytes:
        both = list(pairs())
        return ParallelText(name, [s for s, _ in both], [t for _, t in both], skipped.pairs)
    stamps = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    key = hashlib.sha256(repr((stamps, drop_empty, longest)).encode()).hexdigest()[:16]
    folder = cache / "texts" / key
    stores = [folder / "source.text", folder / "target.text"]
    done = folder / "text.json"
    if not done.exists():
        for _ in pairs():  # All checks first, so that nothing is written of a text that fails.
            pass
        count = skipped.pairs
        for side, store in enumerate(stores):
            sentences = (pair[side].encode() for pair in pairs())
            TokenStore.build(store, sentences, vocabulary_size=256)
        write_json(done, {"files": stamps, "skipped": count})
    source, target = (TextStore(TokenStore.open(store, verify=False)) for store in stores)
    return ParallelText(name, source, target, int(json.loads(done.read_text())["skipped"]))


def _text_bytes(path: Path) -> int:
    """Return the size of the text in a file; 0 for a missing one, which the reader refuses."""
    try:
        return path.stat().st_size * (PACKED if path.suffix == ".gz" else 1)
    except OSError:
        return 0
