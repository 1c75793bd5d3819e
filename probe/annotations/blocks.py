"""Files of sentences as blocks of lines: what CoNLL-U, CoNLL-U-Lex and IOB2 have in common.

    # sent_id = s1          comments, `key = value` or a key alone
    # text = Hello .
    1<TAB>Hello<TAB>...     one word a line, columns between single tabs
    2<TAB>.<TAB>...
                            an EMPTY LINE after every sentence, the last one included

The last empty line is what tells a whole file from one whose download broke off, so it is
demanded. The lines are cut at `\\n` only and columns at tabs only: a form may hold no-break
spaces, or the line separators of Unicode, at which other splitters would cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...models.data.readers import read_lines
from ...models.errors import DataError

LONGEST_LINE = 1_000_000
"""Characters of the longest line: comments hold summaries of whole documents."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A line `# key = value`; the value is None where there is no equals sign."""

    line: int
    key: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """A word's line."""

    line: int
    columns: list[str]


@dataclass(frozen=True, slots=True)
class Block:
    """A sentence's lines; `line` is the number of the first."""

    line: int
    comments: list[Comment]
    rows: list[Row]

    def value(self, key: str) -> str | None:
        """Return the value of the first comment with a key, None where there is none."""
        for comment in self.comments:
            if comment.key == key and comment.value is not None:
                return comment.value
        return None


def damaged(path: Path, line: int, reason: str, remedy: str = "") -> DataError:
    """Return the error for a file that cannot be read as it is: file, line, reason, remedy."""
    remedy = remedy or "correct this line, or fetch the file again"
    return DataError(f"{path}, line {line}: {reason}; {remedy}")


def annotation_lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a file of annotation, also gzipped.

    Args:
        path: the file.
        longest: characters of the longest line that is accepted.

    Raises:
        DataError: as `read_lines`.
    """
    return enumerate(read_lines(path, longest), start=1)


def read_blocks(path: Path, columns: int) -> Iterator[Block]:
    """Yield the sentences of a file.

    Args:
        path: the file, also gzipped.
        columns: how many columns every word's line has.

    Raises:
        DataError: a line with another number of columns, a comment between words, a sentence
            without words, a file that ends within a sentence or holds none, or as `read_lines`.
    """
    number, found = 0, False
    block = Block(1, [], [])
    for number, line in annotation_lines(path):
        if not line:
            if block.rows:
                found = True
                yield block
            elif block.value("sent_id") is not None:
                raise damaged(path, block.line, "a sentence without words")
            block = Block(number + 1, [], [])
        elif line.startswith("#"):
            if block.rows:
                raise damaged(
                    path, number, "a comment between words", "put an empty line after each sentence"
                )
            block.comments.append(_comment(number, line))
        else:
            block.rows.append(_row(path, number, line, columns))
    if block.rows or block.value("sent_id") is not None:
        raise damaged(
            path,
            number,
            "the file ends within a sentence: no empty line follows it",
            "fetch the file again, or add the empty line if this is the true end",
        )
    if not found:
        raise DataError(f"{path}: no sentences in the file; check the path, or fetch it again")


def _comment(number: int, line: str) -> Comment:
    key, equals, value = line[1:].partition("=")
    return Comment(number, key.strip(), value.strip() if equals else None)


def _row(path: Path, number: int, line: str, columns: int) -> Row:
    row = line.split("\t")
    if len(row) != columns:
        raise damaged(path, number, f"{len(row)} columns where {columns} are expected")
    if not all(row):
        raise damaged(path, number, f"column {row.index('') + 1} is empty", "write _ for nothing")
    return Row(number, row)
