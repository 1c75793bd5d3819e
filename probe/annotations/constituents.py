"""Bracketed phrase-structure trees (Penn Treebank format), joined to a treebank's words.

    ; document              a document begins (only in collections of documents)
    (ROOT
      (S
        (NP-SBJ (PRP She))  category, then function tags; the leaves are (tag word)
        (VP (VBZ sleeps))
        (. .)))

Line breaks mean nothing, brackets alone do; brackets that are words are written -LRB- and
-RRB- (and -LSB-, -RSB-, -LCB-, -RCB-). `(-NONE- *T*-1)` is a trace: nobody wrote it, and it is
left out, as is a phrase of traces only. Marcus et al. 1993, CL 19.

Every node over other nodes is a constituent, except for the outermost ROOT. Its label is the
category without function tags and indices (`NP-SBJ-1` and `NP=2` are NP).

The trees are joined to the sentences in order: within each document where the file names
documents, else through the whole treebank. Words must be equal, so a shift is not possible.

Counts: `sentences with constituents`, `constituents`, `traces`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...models.errors import DataError
from .blocks import annotation_lines, damaged
from .reader import LayerReader, reader
from .sentence import AnnotatedSentence, Span
from .treebank import Treebank

BRACKETS = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
}
OUTERMOST = ("ROOT", "TOP", "")
TRACE = "-NONE-"
_TOKEN = re.compile(r"[()]|[^\s()]+")
_ESCAPED = re.compile("|".join(BRACKETS))
_FITTING = "give the version of the treebank that the trees were made for"


@reader("constituents")
class ConstituentLayer(LayerReader):
    """Bracketed constituents (Penn Treebank format).

    Args:
        path: the file, also gzipped.
    """

    path: Path

    def add_to(self, treebank: Treebank) -> Treebank:
        """Put the constituents on; see `LayerReader.add_to`."""
        return add_constituents(treebank, self.path)


@dataclass(slots=True)
class Tree:
    """A tree that was read: where it begins, its words, and its constituents, outer first."""

    document: str
    line: int
    forms: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    traces: int = 0


@dataclass(slots=True)
class _Node:
    """An open bracket: what was read of it so far."""

    place: int
    start: int
    label: str | None = None
    word: str | None = None
    children: int = 0


def add_constituents(treebank: Treebank, path: Path) -> Treebank:
    """Put constituents on a treebank's sentences.

    Raises:
        DataError: a damaged file, or trees that do not fit the sentences one by one.
    """
    trees: dict[str, list[Tree]] = {}
    for tree in read_trees(path):
        trees.setdefault(tree.document, []).append(tree)
    annotated: dict[str, AnnotatedSentence] = {}
    counts: Counter[str] = Counter({"constituents": 0, "traces": 0})
    for document, found in trees.items():
        sentences = [s for s in treebank if not document or s.document == document]
        if len(sentences) != len(found):
            of = f"document '{document}'" if document else treebank.name
            raise damaged(
                path,
                found[0].line,
                f"{len(found)} trees from here on, but {of} has {len(sentences)} sentences",
                _FITTING,
            )
        for tree, sentence in zip(found, sentences, strict=True):
            _check_words(path, tree, sentence)
            annotated[sentence.id] = replace(sentence, constituents=tuple(tree.spans))
            counts["constituents"] += len(tree.spans)
            counts["traces"] += tree.traces
    counts["sentences with constituents"] = len(annotated)
    return treebank.with_layer(annotated, counts)


def _check_words(path: Path, tree: Tree, sentence: AnnotatedSentence) -> None:
    """Refuse a tree over other words than the sentence's."""
    forms = [form.replace(" ", "") for form in sentence.forms]
    if tree.forms == forms:
        return
    differ = [pair for pair in zip(tree.forms, forms, strict=False) if pair[0] != pair[1]]
    what = f"'{differ[0][0]}' where it has '{differ[0][1]}'" if differ else "its beginning or more"
    raise damaged(
        path,
        tree.line,
        f"the tree's {len(tree.forms)} words are not the {len(forms)} of sentence "
        f"'{sentence.id}': {what}",
        _FITTING,
    )


def read_trees(path: Path) -> Iterator[Tree]:
    """Yield the trees of a file.

    Raises:
        DataError: brackets that do not match, a word outside of a tree, a node without a label
            or content, or no tree at all.
    """
    document, tree, stack = "", Tree("", 0), list[_Node]()
    found = False
    for line, text in annotation_lines(path):
        if not stack and text.startswith(";"):
            document = text[1:].strip()
            continue
        for token in _TOKEN.findall(text):
            if token == "(":
                if not stack:
                    tree = Tree(document, line)
                _open(path, line, tree, stack)
            elif not stack:
                raise damaged(path, line, f"'{token}' outside of a tree: unbalanced brackets")
            elif token != ")":
                _name(path, line, token, stack[-1])
            else:
                _close(path, line, tree, stack)
                if not stack:
                    found = True
                    yield _finished(path, tree)
    if stack:
        raise damaged(path, tree.line, f"{len(stack)} brackets of this tree are never closed")
    if not found:
        raise DataError(f"{path}: no trees in the file; check the path, or fetch it again")


def _open(path: Path, line: int, tree: Tree, stack: list[_Node]) -> None:
    if stack:
        if stack[-1].word is not None:
            raise damaged(path, line, f"a bracket after the word '{stack[-1].word}'")
        stack[-1].children += 1
        if stack[-1].label is None:
            stack[-1].label = ""
    stack.append(_Node(len(tree.spans), len(tree.forms)))


def _name(path: Path, line: int, token: str, node: _Node) -> None:
    """Take a token as the label of a node, or as its word."""
    if node.label is None:
        node.label = token
    elif node.word is None and not node.children:
        node.word = token
    else:
        raise damaged(
            path, line, f"'{token}' after what node '{node.label}' has: unbalanced brackets"
        )


def _close(path: Path, line: int, tree: Tree, stack: list[_Node]) -> None:
    """Finish the innermost node: a word, a trace or a constituent."""
    node = stack.pop()
    if node.label is None or (node.word is None and not node.children):
        raise damaged(path, line, f"node '{node.label or ''}' has no content")
    if node.word is not None:
        if node.label == TRACE:
            tree.traces += 1
        else:
            tree.forms.append(_ESCAPED.sub(lambda match: BRACKETS[match[0]], node.word))
    elif len(tree.forms) > node.start and (stack or node.label not in OUTERMOST):
        label = re.split(r"[-=|]", node.label)[0]
        tree.spans.append(Span(label, node.start, len(tree.forms)))


def _finished(path: Path, tree: Tree) -> Tree:
    """Order the constituents, the outer before the inner, also where both have the same words."""
    if not tree.forms:
        raise damaged(path, tree.line, "a tree without words")
    tree.spans.reverse()  # They were closed inner first.
    tree.spans.sort(key=lambda span: (span.start, -span.end))
    return tree
