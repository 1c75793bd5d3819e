r"""Parallel text from files: aligned plain text (two files) and TSV, also gzipped.

Only `\n` (with or without `\r` before it) ends a line. Python's `splitlines` and text mode know
nine further line ends, such as U+2028 and U+0085; they occur inside sentences of real
corpora, and one of them is enough to shift all later sentence pairs by a line. So files are
read as bytes, cut at `\n`, and decoded line by line, which also gives the number of the line
that is not UTF-8.

Everything streams: a file is never in memory as a whole, and a line without an end is cut off
at the longest length. What is wrong is refused by file, line and remedy; sentences are
handed on exactly as they stand in the file.
"""

from __future__ import annotations

import gzip
import io
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import DataError, UsageError, system_says

LONGEST_LINE = 2000
"""Characters of the longest sentence by default: about 400 words, five times a long sentence."""
_UNSEEN = ("Cc", "Cf")
"""Unicode categories of controls and of marks without width, such as U+200B and U+FEFF."""
MOST_BYTES = 4
"""Bytes of one character in UTF-8, at most."""


@dataclass
class Skipped:
    """How many sentence pairs were left out because a side was empty, and where the first was."""

    pairs: int = 0
    first: str = ""


def read_lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[str]:
    r"""Yield the lines of a UTF-8 file without their ends; a file `*.gz` is unpacked on the way.

    A byte order mark at the start of the file is dropped.

    Args:
        path: the file.
        longest: characters of the longest line that is accepted.

    Raises:
        DataError: a missing or unreadable file, damaged gzip, a line that is not UTF-8 or
            is too long.
    """
    most = MOST_BYTES * (longest + 1) + 2  # A byte order mark and `\r\n` may come on top.
    number = 0
    with _opened(path) as file:
        while True:
            try:
                raw = file.readline(most + 1)
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise DataError(
                    f"{path}: damaged gzip after line {number} ({error}); fetch or pack it again"
                ) from None
            except OSError as error:
                raise DataError(_unreadable(path, error)) from None
            if not raw:
                return
            number += 1
            yield _decoded(raw, path, number, longest)


def _decoded(raw: bytes, path: Path, number: int, longest: int) -> str:
    """Decode one line with its end; refuse what is no UTF-8 or too long."""
    ended = raw.endswith(b"\n")
    raw = raw.removesuffix(b"\n").removesuffix(b"\r") if ended else raw
    if number == 1:
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    # Every character has exactly one byte that is not of the form 10xxxxxx, its first.
    if len(raw) > longest and sum(byte & 0xC0 != 0x80 for byte in raw) > longest:
        raise DataError(_too_long(path, number, longest) + _perhaps_gzip(path))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, line {number}: byte {error.start + 1} (0x{raw[error.start]:02X}) is not "
            "UTF-8; convert the file, for example with iconv -f LATIN1 -t UTF-8"
            + _perhaps_gzip(path)
        ) from None


def _too_long(path: Path, number: int, longest: int) -> str:
    return (
        f"{path}, line {number}: more than {longest} characters in one sentence; split or "
        "remove the line, or raise longest_line (--longest-line when a run begins)"
    )


def _perhaps_gzip(path: Path) -> str:
    """Damage inside a packed file may give garbage before its checksum is reached."""
    return f" (or the file is damaged: gzip -t {path} tells)" if path.suffix == ".gz" else ""


def read_pairs(
    source: Path,
    target: Path,
    *,
    drop_empty: bool = False,
    longest: int = LONGEST_LINE,
    skipped: Skipped | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of two aligned files.

    Args:
        source: the source sentences, one a line.
        target: their translations, in the same order.
        drop_empty: leave out a pair in which a side is empty instead of refusing the files.
        longest: characters of the longest line that is accepted.
        skipped: counts what was left out, for the caller.

    Raises:
        DataError: as `read_lines`, or files of different length, empty lines, or no pair.
            Lengths and empty lines are known, and refused, only at the end of the files.
    """
    skipped = skipped if skipped is not None else Skipped()
    sources, targets = read_lines(source, longest), read_lines(target, longest)
    number = kept = 0
    while True:
        source_line, target_line = next(sources, None), next(targets, None)
        if source_line is None or target_line is None:
            break
        number += 1
        if has_text(source_line) and has_text(target_line):
            kept += 1
            yield source_line, target_line
        else:
            _skip(skipped, target if has_text(source_line) else source, number)
    if source_line is not None or target_line is not None:
        lengths = [
            number + (line is not None) + sum(1 for _ in rest)
            for line, rest in ((source_line, sources), (target_line, targets))
        ]
        raise DataError(
            f"{source} has {lengths[0]} lines but {target} has {lengths[1]}; line n of the one "
            "must be the translation of line n of the other"
        )
    _check_end(f"{source} and {target}", kept, skipped, drop_empty)


def read_tsv(
    path: Path,
    *,
    drop_empty: bool = False,
    longest: int = LONGEST_LINE,
    skipped: Skipped | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield the sentence pairs of a file with lines `source<TAB>target`.

    Args:
        path: the file, also gzipped.
        drop_empty, longest, skipped: as in `read_pairs`; `longest` holds for each side.

    Raises:
        DataError: as `read_pairs`, or a line that has not exactly one tab.
    """
    skipped = skipped if skipped is not None else Skipped()
    kept = 0
    for number, line in enumerate(read_lines(path, 2 * longest + 1), start=1):
        if not has_text(line):
            _skip(skipped, path, number)
            continue
        columns = line.split("\t")
        if len(columns) != 2:
            raise DataError(
                f"{path}, line {number}: {len(columns)} columns where source<TAB>target "
                "are expected; keep these two columns, with one tab between them"
            )
        if max(map(len, columns)) > longest:
            raise DataError(_too_long(path, number, longest))
        if has_text(columns[0]) and has_text(columns[1]):
            kept += 1
            yield columns[0], columns[1]
        else:
            _skip(skipped, path, number)
    _check_end(str(path), kept, skipped, drop_empty)


def has_text(line: str) -> bool:
    """Say whether anything of a line can be seen: not white space or invisible marks alone."""
    return any(not it.isspace() and unicodedata.category(it) not in _UNSEEN for it in line)


def _skip(skipped: Skipped, path: Path, number: int) -> None:
    """Count an empty line and remember the first."""
    skipped.pairs += 1
    skipped.first = skipped.first or f"{path}, line {number}"


def _check_end(files: str, kept: int, skipped: Skipped, drop_empty: bool) -> None:
    """Refuse, at the end of the files, empty lines and files without any pair."""
    if skipped.pairs and not drop_empty:
        raise DataError(
            f"{files}: {skipped.pairs} empty lines (the first: {skipped.first}); fill or remove "
            "them on both sides, or leave these pairs out with drop_empty (--drop-empty)"
        )
    if not kept:
        raise DataError(f"{files}: no sentence pairs; give files with text in them")


def no_such_file(path: Path) -> DataError:
    """Return the error for a file that is not there."""
    return DataError(f"{path}: no such file; check the path")


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedIOBase]:
    """Open a file, or the text inside a gzipped one, for reading bytes."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise no_such_file(path) from None
    except OSError as error:
        raise DataError(_unreadable(path, error)) from None
    with file:
        if path.suffix == ".gz":
            with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
                yield unpacked
        else:
            yield file


def _unreadable(path: Path, error: OSError) -> str:
    return f"{path}: cannot be read ({system_says(error)}); check the path and its permissions"


def open_pairs(
    paths: tuple[Path, ...],
    *,
    drop_empty: bool = False,
    longest: int = LONGEST_LINE,
    skipped: Skipped | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield sentence pairs of two aligned files, or of one TSV file.

    Raises:
        UsageError: not one or two paths.
        DataError: as `read_pairs` and `read_tsv`.
    """
    if len(paths) == 2:
        return read_pairs(*paths, drop_empty=drop_empty, longest=longest, skipped=skipped)
    if len(paths) == 1:
        return read_tsv(paths[0], drop_empty=drop_empty, longest=longest, skipped=skipped)
    raise UsageError(f"{len(paths)} files for one split: give SRC and TGT, or one TSV file")
