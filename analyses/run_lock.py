"""One process at a time works in a run.

The lock is the operating system's (`flock`), held on an open file and let go when the
process ends, however it ends. A killed run therefore never leaves a stale lock, which a
lock that is the mere presence of a file would do. The file says who holds the lock, for the
error of whoever comes second.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..models.errors import HeadcountError


@contextmanager
def only_process(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file `path` while the body runs.

    Args:
        path: the lock file; made if missing, and left there, for removing it would let a
            third process lock a new file of the same name.
        what: what is locked, for the error.

    Raises:
        HeadcountError: another process holds it.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 100).decode(errors="replace").strip() or "another process"
            raise HeadcountError(
                f"{what} is being worked on by {holder}; wait until it ends, or choose another -o"
            ) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"process {os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
