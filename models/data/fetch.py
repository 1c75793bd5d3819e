"""Downloads that are either whole and right, or not there.

A file comes in as `NAME.part` and gets its name only when its size and SHA-256 are the
published ones. A download that was cut off stays as `.part`, and the next try asks the server
for the rest (HTTP `Range`, RFC 9110 section 14); what a server sends beyond the
published size is never written. A file that is whole but wrong is removed.
"""

from __future__ import annotations

import http.client
import os
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..files import replacing, sha256_of
from ..registry import Registry

PIECE = 1 << 16
TIMEOUT_SECONDS = 30.0

Opener = Callable[..., Any]
"""What opens a request: `urllib.request.urlopen`, or a stand-in for it."""
Progress = Callable[[str, int, int], None]
"""Told the file name, the bytes that are there and the bytes of the whole file."""


@dataclass(frozen=True)
class RemoteFile:
    """A published file.

    Args:
        name: its name in the folder.
        url: where it is.
        size: bytes.
        sha256: hexadecimal.
    """

    name: str
    url: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Fetchable:
    """A corpus that can be fetched.

    Args:
        licence: what may be done with it; shown before anything is fetched.
        files: all that it consists of.
    """

    licence: str
    files: Sequence[RemoteFile]


fetchable: Registry[Fetchable] = Registry("corpus to fetch")


def fetch(
    files: Sequence[RemoteFile],
    folder: Path,
    *,
    opener: Opener = urllib.request.urlopen,
    progress: Progress | None = None,
) -> list[Path]:
    """Download what is missing or damaged in `folder`, and resume what was cut off.

    Args:
        files: what to download.
        folder: where to; made when it is missing.
        opener: opens a `urllib` request, with a timeout in seconds.
        progress: told after every piece.

    Returns:
        The paths of all files, those that were there already included.

    Raises:
        DataError: no network, an answer that is an error, or a wrong checksum.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        path = folder / file.name
        if not (path.is_file() and sha256_of(path) == file.sha256):
            part = folder / f"{file.name}.part"
            _download(file, part, opener, progress)
            _accept(file, part, path)
        if progress is not None:
            progress(file.name, file.size, file.size)
    return [folder / file.name for file in files]


def copy_from(files: Sequence[RemoteFile], origin: Path, folder: Path) -> list[Path]:
    """Copy files from a local folder, after the same checks; all or none.

    Raises:
        DataError: a file is missing in `origin`, or differs from the published one.
    """
    for file in files:
        path = origin / file.name
        if not path.is_file():
            raise DataError(f"{path}: no such file; give the folder with the original files")
        if (found := sha256_of(path)) != file.sha256:
            raise DataError(_differs(path, file, found) + "; give the original files")
    for file in files:
        with replacing(folder / file.name) as temporary:
            shutil.copyfile(origin / file.name, temporary)
    return [folder / file.name for file in files]


def _download(file: RemoteFile, part: Path, opener: Opener, progress: Progress | None) -> None:
    """Bring `part` to the size of the file, from where it stands."""
    have = part.stat().st_size if part.exists() else 0
    if have >= file.size:
        if have == file.size and sha256_of(part) == file.sha256:
            return
        part.unlink()
        have = 0
    headers = {"User-Agent": "headcount"} | ({"Range": f"bytes={have}-"} if have else {})
    request = urllib.request.Request(file.url, headers=headers)
    try:
        with opener(request, timeout=TIMEOUT_SECONDS) as answer:
            # A server that does not know Range sends the file from its start, with status 200.
            have = have if answer.status == 206 else 0
            _receive(answer, file, part, have, progress)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # The part does not fit the file on the server: start anew.
            part.unlink(missing_ok=True)
        raise DataError(
            f"{file.url}: the server answers {error.code} {error.reason}; try again later, "
            "or take the files from a local folder with --from DIR"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(
            f"{file.url}: no connection ({reason}); check the network and run the command "
            "again (it resumes), or take the files from a local folder with --from DIR"
        ) from None


def _receive(
    answer: Any, file: RemoteFile, part: Path, have: int, progress: Progress | None
) -> None:
    """Write an answer behind the `have` bytes that are there; what came is kept on errors."""
    with part.open("ab" if have else "wb") as out:
        while have < file.size:
            piece = answer.read(min(PIECE, file.size - have))
            if not piece:
                raise http.client.IncompleteRead(b"", file.size - have)
            out.write(piece)
            have += len(piece)
            if progress is not None:
                progress(file.name, have, file.size)
        out.flush()
        os.fsync(out.fileno())


def _accept(file: RemoteFile, part: Path, path: Path) -> None:
    """Give a right file its name; remove a wrong one."""
    if (found := sha256_of(part)) != file.sha256:
        part.unlink()
        raise DataError(
            _differs(path, file, found) + "; nothing was kept, run the command again, or take "
            "the files from a local folder with --from DIR"
        )
    part.replace(path)


def _differs(path: Path, file: RemoteFile, found: str) -> str:
    return f"{path}: checksum differs (SHA-256 {found[:12]}..., published {file.sha256[:12]}...)"
