"""What changed between two translations, word by word.

The longest matching blocks of words (Ratcliff and Obershelp 1988, Python's `difflib`) are
kept; words that only the earlier translation has are lost, words that only the later one has
are new. A change is marked by its kind, so that it can be shown without colour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple


class Segment(NamedTuple):
    """A stretch of text and whether the other translation lacks it."""

    text: str
    changed: bool


def differing(before: str, after: str) -> tuple[list[Segment], list[Segment]]:
    """Cut two translations into what they share and what they do not.

    Returns:
        The segments of `before` and those of `after`; joined they give the texts back.
    """
    lost: list[Segment] = []
    found: list[Segment] = []
    for same, old, new in _stretches(before, after):
        _add(lost, old, not same)
        _add(found, new, not same)
    return lost, found


def merged(before: str, after: str) -> list[tuple[int, str]]:
    """Lay two translations into one line: what both have, what is new, what was lost.

    Returns:
        Pieces (kind, text): kind 0 stands in both, 1 only in `after`, 2 only in `before`.
        Without kind 2 they are `after`, without kind 1 `before`, up to space.
    """
    pieces: list[tuple[int, str]] = []
    for same, old, new in _stretches(before, after):
        if same:
            pieces.append((0, new))
            continue
        for kind, text in ((2, old), (1, new)):
            if bare := text.rstrip():
                if pieces and not pieces[-1][1][-1:].isspace():
                    pieces.append((0, " "))
                pieces += [(kind, bare), (0, text[len(bare) :] or " ")]
    return pieces


def _stretches(before: str, after: str) -> Iterator[tuple[bool, str, str]]:
    """Yield stretches of words: whether both translations have them, and how each writes them."""
    old, new = re.findall(r"\S+\s*|\s+", before), re.findall(r"\S+\s*|\s+", after)
    words = [[piece.strip() for piece in side] for side in (old, new)]
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        yield kind == "equal", "".join(old[old_from:old_to]), "".join(new[new_from:new_to])


def _add(segments: list[Segment], text: str, changed: bool) -> None:
    """Append a stretch; the space behind a changed word stays outside the mark."""
    bare = text.rstrip()
    if bare:
        segments.append(Segment(bare, changed))
    if text[len(bare) :]:
        segments.append(Segment(text[len(bare) :], False))
