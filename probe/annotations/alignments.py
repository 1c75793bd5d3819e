"""Gold word alignments: Pharaoh format, XL-WA's tables, and Alibi's numbered files.

A link `i-j` says that source word i and target word j translate each other; both count from 0.

| format | files | a line |
| --- | --- | --- |
| Pharaoh | source, target, links | `0-0 1-2 2p3`, for the sentences in the same line |
| XL-WA (Martelli et al. 2023) | one table | source TAB target TAB links |
| Alibi (Xu & Yvon 2016) | source, target, links | number TAB sentence, number TAB links |

`i-j` is a SURE link; `ipj` (or `i?j`) is a POSSIBLE one, which a translation may but need
not have: idioms and free renderings (Och & Ney 2003). Sure links are possible links as well,
so S is a part of P, and

    precision = |A & P| / |A|,   recall = |A & S| / |S|,
    alignment error rate = 1 - (|A & S| + |A & P|) / (|A| + |S|).

Words are what stands between white space. The sides of Pharaoh format may be CoNLL-U files
instead; then the numbers count syntactic words, and `zum` is two of them.

Counts: `pairs`, `sure links`, `possible links` (without the sure ones), `pairs without links`,
`source words without a link`, `target words without a link`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...models.errors import DataError
from .blocks import annotation_lines, damaged
from .conllu_files import read_conllu
from .reader import PairReader, reader
from .sentence import AnnotatedSentence, words_of
from .treebank import AlignedPair, AlignedText

_LINK = re.compile(r"([0-9]+)([-p?])([0-9]+)")
Side = Iterable[tuple[int, AnnotatedSentence]]
"""Sentences with the numbers of their lines."""


@reader("pharaoh")
class PharaohReader(PairReader):
    """Word alignments in Pharaoh format: `0-0 1-2 2p3`.

    Args:
        source, target: tokenised text, one sentence a line, or CoNLL-U; also gzipped.
        alignments: the links, one sentence pair a line.
    """

    source: Path
    target: Path
    alignments: Path

    def read(self) -> AlignedText:
        """Read the files; see `PairReader.read`."""
        return _joined(
            self.alignments,
            (self.source, self.target),
            (list(_side(self.source)), list(_side(self.target))),
            list(annotation_lines(self.alignments)),
        )


@reader("xl-wa")
class XlwaReader(PairReader):
    """XL-WA: source, target and links in one table.

    Args:
        path: the `.tsv` file, also gzipped.
    """

    path: Path

    def read(self) -> AlignedText:
        """Read the file; see `PairReader.read`."""
        pairs = []
        for line, text in annotation_lines(self.path):
            columns = text.split("\t")
            if len(columns) != 3:
                raise damaged(self.path, line, f"{len(columns)} columns where 3 are expected")
            sides = [_plain(str(line), column) for column in columns[:2]]
            pairs.append(_pair(self.path, line, sides[0], sides[1], columns[2]))
        return _text(self.path, pairs)


@reader("alibi")
class AlibiReader(PairReader):
    """Alibi: files of numbered lines, sure links `0-0` and possible links `0p1`.

    Args:
        source, target: number TAB sentence.
        alignments: number TAB links.
    """

    source: Path
    target: Path
    alignments: Path

    def read(self) -> AlignedText:
        """Read the files; see `PairReader.read`."""
        sides = []
        for path in (self.source, self.target):
            sides.append([(line, _plain(name, text)) for line, name, text in _numbered(path)])
        links = [(line, text) for line, _, text in _numbered(self.alignments)]
        return _joined(self.alignments, (self.source, self.target), (sides[0], sides[1]), links)


def _side(path: Path) -> Iterator[tuple[int, AnnotatedSentence]]:
    """Yield the sentences of one side in Pharaoh format."""
    if path.name.removesuffix(".gz").endswith(".conllu"):
        yield from enumerate(read_conllu(path), start=1)
        return
    for line, text in annotation_lines(path):
        yield line, _plain(str(line), text)


def _plain(identity: str, text: str) -> AnnotatedSentence:
    return AnnotatedSentence(identity, text, words_of(text))


def _numbered(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, number and content of lines that are numbered from 0."""
    for line, text in annotation_lines(path):
        number, tab, content = text.partition("\t")
        if not tab or "\t" in content:
            raise damaged(path, line, f"{text.count(chr(9)) + 1} columns where 2 are expected")
        if number != str(line - 1):
            raise damaged(path, line, f"number '{number}' where {line - 1} is expected")
        yield line, number, content


def _joined(
    path: Path,
    files: tuple[Path, Path],
    sides: tuple[list[tuple[int, AnnotatedSentence]], list[tuple[int, AnnotatedSentence]]],
    links: list[tuple[int, str]],
) -> AlignedText:
    """Join two sides and their links, sentence by sentence."""
    for file, side in zip(files, sides, strict=True):
        if len(side) != len(links):
            raise damaged(
                path,
                min(len(side), len(links)) + 1,
                f"{len(links)} lines of links but {len(side)} sentences in {file}",
                "give files that belong together",
            )
    pairs = [
        _pair(path, line, source, target, text)
        for (line, text), (_, source), (_, target) in zip(links, *sides, strict=True)
    ]
    return _text(path, pairs)


def _pair(
    path: Path, line: int, source: AnnotatedSentence, target: AnnotatedSentence, text: str
) -> AlignedPair:
    """Return a sentence pair with its links."""
    if not source.words or not target.words:
        raise damaged(path, line, "a sentence of this pair is empty")
    sure, possible = set(), set()
    for link in text.split():
        match = _LINK.fullmatch(link)
        if match is None:
            raise damaged(path, line, f"'{link}' is no link (0-1 sure, 0p1 possible)")
        words = int(match[1]), int(match[3])
        for word, side, name in zip(words, (source, target), ("source", "target"), strict=True):
            if word >= len(side):
                raise damaged(
                    path, line, f"link {link}: the {name} has words 0 to {len(side) - 1} only"
                )
        possible.add(words)
        if match[2] == "-":
            sure.add(words)
    return AlignedPair(source, target, tuple(sorted(sure)), tuple(sorted(possible)))


def _text(path: Path, pairs: list[AlignedPair]) -> AlignedText:
    if not pairs:
        raise DataError(f"{path}: no sentence pairs in the file; check the path, or fetch it again")
    return AlignedText(path.name.removesuffix(".gz"), tuple(pairs), alignment_counts(pairs))


def alignment_counts(pairs: Iterable[AlignedPair]) -> dict[str, int]:
    """Count pairs, links and words that have none; see the module."""
    counts = Counter[str]()
    for pair in pairs:
        counts["pairs"] += 1
        counts["sure links"] += len(pair.sure)
        counts["possible links"] += len(pair.possible) - len(pair.sure)
        counts["pairs without links"] += not pair.possible
        for place, (name, side) in enumerate((("source", pair.source), ("target", pair.target))):
            linked = {link[place] for link in pair.possible}
            counts[f"{name} words without a link"] += len(side) - len(linked)
    return dict(counts)
