"""Files that are either whole or not there, and their hashes."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .errors import UsageError


def expanded(path: str | Path) -> Path:
    """Return a path with the home folder in place of `~`.

    Raises:
        UsageError: there is no such user, or no home folder.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise UsageError(f"{path}: no such home folder; write the path without ~") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it takes the place of `path`.

    The temporary file is synced to disk before it is renamed, so that a reader (or a run
    that is resumed after a power cut) sees the old file or the new one, never a part.
    After an error nothing is left behind.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, atomically."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON with a final newline, atomically; NaN is an error."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def sha256_of(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
