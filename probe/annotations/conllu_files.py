"""CoNLL-U: the treebanks of Universal Dependencies, one word a line in ten columns.

| column | what |
| --- | --- |
| ID | 1, 2, ...; `3-4` a range: one surface token, two words; `8.1` an empty node |
| FORM, LEMMA, UPOS, XPOS | the word, dictionary form, universal and own part of speech |
| FEATS | `Case=Nom|Number=Sing` |
| HEAD, DEPREL | the head's ID, 0 for the root, and the relation to it |
| DEPS | the enhanced graph, which is not read |
| MISC | `SpaceAfter=No` and whatever else a treebank wants to say |

`_` stands for nothing. Comments hold `sent_id`, `text` and, where a document begins,
`newdoc`. See https://universaldependencies.org/format.html.

A range is what is WRITTEN: German `zum` (`3-4`), then its words `zu` (`3`) and `dem` (`4`).
Only the words count as words; both get the characters of `zum`. Empty nodes are words that
nobody wrote, used by the enhanced graph alone: they are skipped.

Counts: `sentences`, `words`, `ranges`, `empty nodes`, `texts built` (no `text` comment: made
from forms and SpaceAfter), `texts that differ` (from the tokens), `words not located`.

The library `conllu` parses ids and heads. It is not given whole sentences: it accepts missing
columns, splits at double spaces too, cuts values at a second `=`, and knows no line numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from conllu.exceptions import ParseException
from conllu.parser import parse_id_value, parse_int_value

from .blocks import Block, Row, damaged, read_blocks
from .reader import TreebankReader, reader
from .sentence import AnnotatedSentence, Pairs, SurfaceToken, Word
from .spans import locate
from .treebank import Treebank
from .trees import cycle_in

COLUMNS = 10
KEPT_APART = {"sent_id", "text", "newdoc", "newdoc id"}


@reader("conllu")
class ConlluReader(TreebankReader):
    """CoNLL-U treebanks, also gzipped.

    Args:
        path: the file.
    """

    path: Path

    def read(self) -> Treebank:
        """Read the file; see `TreebankReader.read`."""
        return read_conllu(self.path)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A block as a sentence, with the rows that are words and what was counted."""

    sentence: AnnotatedSentence
    words: list[Row]
    counts: Counter[str]


def read_conllu(path: Path) -> Treebank:
    """Read a CoNLL-U file.

    Raises:
        DataError: see `parsed_sentences`.
    """
    counts: Counter[str] = Counter()
    sentences = []
    for parsed in parsed_sentences(path, COLUMNS):
        sentences.append(parsed.sentence)
        counts.update(parsed.counts)
    return Treebank(treebank_name(path), tuple(sentences), dict(counts))


def treebank_name(path: Path) -> str:
    """Return the file's name without its ending: `en_ewt-ud-dev`."""
    return Path(path.name.removesuffix(".gz")).stem


def parsed_sentences(path: Path, columns: int) -> Iterator[Parsed]:
    """Yield the sentences of a file whose first ten columns are those of CoNLL-U.

    Raises:
        DataError: ids that do not count up, heads that are no word, cycles, a second sentence
            of the same id, or as `read_blocks`.
    """
    document, ids = "", dict[str, int]()
    for number, block in enumerate(read_blocks(path, columns), start=1):
        document = _document(block, document)
        parsed = parse_sentence(path, block, str(number), document)
        identity = parsed.sentence.id
        if identity in ids:
            raise damaged(
                path,
                block.line,
                f"a second sentence '{identity}' (the first: line {ids[identity]})",
            )
        ids[identity] = block.line
        yield parsed


def _document(block: Block, document: str) -> str:
    """Return the document that a block belongs to."""
    for comment in block.comments:
        if comment.key in ("newdoc", "newdoc id"):
            return comment.value or f"document at line {comment.line}"
    return document


def parse_sentence(path: Path, block: Block, number: str, document: str) -> Parsed:
    """Turn the lines of a sentence into its immutable form.

    Args:
        path: the file, for messages.
        block: the lines, of ten columns or more.
        number: the sentence's id where the file gives it none.
        document: what it is part of.

    Raises:
        DataError: see `parsed_sentences`.
    """
    rows, ranges, empty = _sorted_rows(path, block)
    counts = Counter(
        {"sentences": 1, "words": len(rows), "ranges": len(ranges), "empty nodes": empty}
    )
    inside = {index for token in ranges for index in range(token.first, token.last + 1)}
    surface = sorted(
        [
            *ranges,
            *[SurfaceToken(i, i, rows[i].columns[1]) for i in range(len(rows)) if i not in inside],
        ],
        key=lambda token: token.first,
    )
    text = block.value("text")
    counts["texts built"] = text is None
    if text is None:
        text = _built(block, surface)
    located = locate(text, [token.form for token in surface])
    counts["texts that differ"] = not located.exact
    spans = [
        span
        for token, span in zip(surface, located.spans, strict=True)
        for _ in range(token.first, token.last + 1)
    ]
    counts["words not located"] = sum(start < 0 for start, _ in spans)
    heads = _heads(path, rows)
    words = tuple(
        [
            _word(row, span, head)
            for row, span, head in zip(rows, spans, heads or [-1] * len(rows), strict=True)
        ]
    )
    comments = tuple(
        [(entry.key, entry.value or "") for entry in block.comments if entry.key not in KEPT_APART]
    )
    sentence = AnnotatedSentence(
        id=block.value("sent_id") or number,
        text=text,
        words=words,
        document=document,
        surface=tuple(ranges),
        comments=comments,
        has_tree=heads is not None,
    )
    return Parsed(sentence, rows, counts)


def _sorted_rows(path: Path, block: Block) -> tuple[list[Row], list[SurfaceToken], int]:
    """Return the words' rows, the ranges, and how many empty nodes were left out."""
    rows: list[Row] = []
    ranges: list[SurfaceToken] = []
    empty = 0
    range_lines: list[int] = []
    for row in block.rows:
        expected = len(rows) + 1
        if row.columns[0] == str(expected):
            rows.append(row)
            continue
        match _id(path, row):
            case (first, "-", last):
                inside = bool(ranges) and first - 1 <= ranges[-1].last
                if first != expected or last <= first or inside:
                    raise damaged(path, row.line, f"a range {first}-{last} before word {expected}")
                ranges.append(SurfaceToken(first - 1, last - 1, row.columns[1]))
                range_lines.append(row.line)
            case (before, ".", _) if before == len(rows):
                empty += 1
            case _:
                raise damaged(path, row.line, f"id {row.columns[0]} where {expected} is expected")
    if not rows:
        raise damaged(path, block.line, "a sentence without words")
    if ranges and ranges[-1].last >= len(rows):
        raise damaged(path, range_lines[-1], f"a range beyond the last word, {len(rows)}")
    return rows, ranges, empty


def _id(path: Path, row: Row) -> int | tuple[int, str, int] | None:
    try:
        return parse_id_value(row.columns[0])
    except ParseException:
        raise damaged(
            path, row.line, f"'{row.columns[0]}' is no word id (a number, 3-4, or 8.1)"
        ) from None


def _heads(path: Path, rows: list[Row]) -> list[int] | None:
    """Return every word's head, None where the sentence has no tree."""
    if all(row.columns[6] == "_" for row in rows):
        return None
    heads = []
    for index, row in enumerate(rows):
        text = row.columns[6]
        try:
            head = parse_int_value(text)
        except ParseException:
            head = None
        if head is None:
            raise damaged(path, row.line, f"head '{text}' is no number")
        if not 0 <= head <= len(rows) or head == index + 1:
            raise damaged(
                path, row.line, f"head {head} is no other word of the sentence's {len(rows)}"
            )
        heads.append(head - 1)
    if cycle := cycle_in(heads):
        shown = " -> ".join(str(word + 1) for word in [*cycle, cycle[0]])
        raise damaged(path, rows[cycle[0]].line, f"the heads go round in a cycle ({shown})")
    return heads


def _word(row: Row, span: tuple[int, int], head: int) -> Word:
    _, form, lemma, upos, xpos, features, _, relation, _, misc = row.columns[:COLUMNS]
    lemma = lemma if lemma != "_" or form == "_" else ""
    return Word(
        form=form,
        start=span[0],
        end=span[1],
        lemma=lemma,
        upos=_present(upos),
        xpos=_present(xpos),
        features=key_values(features),
        head=head,
        relation=_present(relation),
        misc=key_values(misc),
    )


def _present(value: str) -> str:
    return "" if value == "_" else value


@lru_cache(maxsize=10_000)
def key_values(text: str) -> Pairs:
    """Return the parts of FEATS or MISC: `A=b|C` is (A, b), (C, empty)."""
    if text == "_":
        return ()
    parts = (part.partition("=") for part in text.split("|"))
    return tuple([(key, value) for key, _, value in parts])


def _built(block: Block, surface: list[SurfaceToken]) -> str:
    """Return the text that forms and SpaceAfter=No describe."""
    by_id = {row.columns[0]: row for row in block.rows}
    text = ""
    for token in surface:
        first, last = token.first + 1, token.last + 1
        row = by_id[str(first) if first == last else f"{first}-{last}"]
        text += token.form
        if ("SpaceAfter", "No") not in key_values(row.columns[9]):
            text += " "
    return text.rstrip(" ")
