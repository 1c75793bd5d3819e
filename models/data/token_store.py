"""Token files: encoded sentences on disk, of which only what is read is in memory.

A store is one file:

| part | bytes | what |
| --- | --- | --- |
| header | 4,096 | `HEADCOUNT TOKENS`, then JSON, then spaces |
| ids | 1, 2 or 4 each | all sentences, one behind the other |
| gap | 0 to 7 | zeros, so that the offsets start at a multiple of 8 |
| offsets | 8 each, n + 1 | sentence i is ids[offsets[i] : offsets[i + 1]] |

Ids take 1 byte in a vocabulary of at most 256 entries, 2 bytes in one of at most 65,536, else 4.
All numbers are little-endian.

Writing streams and reading maps the file, so a corpus may be far larger than memory; only the
lengths (4 bytes a sentence) are held. The file gets its name when it is whole. Pitfall: an array
over a mapped file is pickled with its content, so that every worker process would get a
copy of the corpus; a store is pickled as its path.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, system_says
from ..files import replacing

MAGIC = b"HEADCOUNT TOKENS\n"
FORMAT = 1
HEADER_BYTES = 4096
PIECE = 1 << 20
WIDTHS = {"<u1": 1 << 8, "<u2": 1 << 16, "<u4": 1 << 32}


class TokenStore:
    """Token ids of a corpus by sentence number; see the module for the file.

    Args:
        path: the file.
        header: what its header says.
        ids: all ids  # [token]
        offsets: where each sentence starts, and the end  # [sentence + 1]
    """

    def __init__(
        self,
        path: Path,
        header: dict[str, int | str],
        ids: NDArray[np.integer],
        offsets: NDArray[np.int64],
    ) -> None:
        self.path, self.header = path, header
        self._ids, self._offsets = ids, offsets
        self.lengths: NDArray[np.int32] = np.diff(offsets).astype(np.int32)  # [sentence]

    @classmethod
    def build(
        cls,
        path: Path,
        id_sequences: Iterable[Iterable[int]],
        *,
        vocabulary_size: int,
        fingerprint: str = "",
    ) -> TokenStore:
        """Write a store from sentences that come one at a time, and open it.

        Args:
            path: where to; it appears only when it is whole.
            id_sequences: ids of each sentence, without BOS and EOS.
            vocabulary_size: every id is below it.
            fingerprint: of the text and the vocabulary that made the ids, kept in the header.

        Raises:
            DataError: an id outside the vocabulary, by sentence number.
        """
        width = next(width for width, most in WIDTHS.items() if vocabulary_size <= most)
        with (
            replacing(path) as temporary,
            temporary.open("wb") as file,
            tempfile.TemporaryFile(dir=path.parent) as offsets,
        ):
            file.write(b"\0" * HEADER_BYTES)
            digest = hashlib.sha256()

            def put(data: bytes) -> None:
                file.write(data)
                digest.update(data)

            tokens, sentences = _write_ids(id_sequences, width, vocabulary_size, put, offsets)
            put(b"\0" * (-file.tell() % 8))
            offsets.seek(0)
            while piece := offsets.read(PIECE):
                put(piece)
            header = {
                "format": FORMAT,
                "dtype": width,
                "sentences": sentences,
                "tokens": tokens,
                "vocabulary_size": vocabulary_size,
                "fingerprint": fingerprint,
                "sha256": digest.hexdigest(),
            }
            file.seek(0)
            file.write((MAGIC + json.dumps(header).encode()).ljust(HEADER_BYTES))
        return cls.open(path, verify=False)

    @classmethod
    def open(cls, path: Path, *, verify: bool = True) -> TokenStore:
        """Map a store into memory.

        Args:
            path: the file.
            verify: also compare the SHA-256 of the whole content, which reads it once.

        Raises:
            DataError: a missing, damaged, cut off or foreign file.
        """
        header = _read_header(path)
        tokens, sentences = int(header["tokens"]), int(header["sentences"])
        width = np.dtype(str(header["dtype"]))
        ids_end = HEADER_BYTES + tokens * width.itemsize
        offsets_start = ids_end + -ids_end % 8
        expected = offsets_start + 8 * (sentences + 1)
        if (found := path.stat().st_size) != expected:
            raise DataError(_damaged(path, f"{found} bytes where {expected} are expected"))
        if verify and _content_hash(path) != header["sha256"]:
            raise DataError(_damaged(path, "checksum differs"))
        content = np.memmap(path, dtype=np.uint8, mode="r")
        # Plain arrays over the mapped file: indexing a memmap costs ten times as much.
        ids = np.asarray(content[HEADER_BYTES:ids_end]).view(width)  # [token]
        offsets = np.asarray(content[offsets_start:]).view("<i8")  # [sentence + 1]
        if offsets[0] != 0 or offsets[-1] != tokens or (np.diff(offsets) < 0).any():
            raise DataError(_damaged(path, "offsets that do not fit the ids"))
        return cls(path, header, ids, offsets)

    @property
    def fingerprint(self) -> str:
        """Return the fingerprint that was given when the store was built."""
        return str(self.header["fingerprint"])

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> NDArray[np.integer]:
        """Return the ids of one sentence, read-only  # [token]."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"sentence {index} of {len(self)}")
        index %= len(self)
        return self._ids[self._offsets[index] : self._offsets[index + 1]]

    def __reduce__(self) -> tuple[Callable[[Path], TokenStore], tuple[Path]]:
        return _open_again, (self.path,)


def _open_again(path: Path) -> TokenStore:
    return TokenStore.open(path, verify=False)


def _write_ids(
    id_sequences: Iterable[Iterable[int]],
    width: str,
    vocabulary_size: int,
    put: Callable[[bytes], None],
    offsets: BinaryIO,
) -> tuple[int, int]:
    """Write the ids through `put` and the offsets into a file; return tokens and sentences."""
    end = sentences = 0
    offsets.write(np.zeros(1, "<i8").tobytes())
    for ids in id_sequences:
        array = np.frombuffer(ids, np.uint8) if isinstance(ids, bytes) else None
        sentence = np.fromiter(ids, np.int64) if array is None else array  # [token]
        if len(sentence) and not 0 <= sentence.min() <= sentence.max() < vocabulary_size:
            raise DataError(
                f"sentence {sentences + 1} has a token id outside the vocabulary of "
                f"{vocabulary_size}; encode it with the vocabulary of this store"
            )
        put(sentence.astype(width).tobytes())
        end += len(sentence)
        sentences += 1
        offsets.write(np.array([end], "<i8").tobytes())
    return end, sentences


def _read_header(path: Path) -> dict[str, int | str]:
    """Read and check the header."""
    try:
        with path.open("rb") as file:
            start = file.read(HEADER_BYTES)
    except FileNotFoundError:
        raise DataError(f"{path}: no such token file; encode the corpus again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({system_says(error)})") from None
    if not start.startswith(MAGIC):
        raise DataError(f"{path}: not a token file of headcount; encode the corpus again")
    try:
        header: dict[str, int | str] = json.loads(start.removeprefix(MAGIC))
        known = header["format"] == FORMAT and header["dtype"] in WIDTHS
        counts = [header["tokens"], header["sentences"]]
        known &= all(isinstance(count, int) and count >= 0 for count in counts)
        known &= isinstance(header["sha256"], str) and isinstance(header["fingerprint"], str)
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise DataError(_damaged(path, "a header that cannot be read"))
    return header


def _content_hash(path: Path) -> str:
    """Return the SHA-256 of all behind the header."""
    with path.open("rb") as file:
        file.seek(HEADER_BYTES)
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged(path: Path, what: str) -> str:
    return f"{path}: damaged token file ({what}); remove it and encode the corpus again"
