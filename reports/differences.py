"""What changed between two translations, word by word.

The longest matching blocks of words (Ratcliff and Obershelp 1988, Python's `difflib`) are
kept; words that only the earlier translation has are lost, words that only the later one has
are new. A change is marked by its kind, so that it can be shown without colour.
"""

from __future__ import annotations

import re
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
    old, new = re.findall(r"\S+\s*|\s+", before), re.findall(r"\S+\s*|\s+", after)
    words = [[piece.strip() for piece in side] for side in (old, new)]
    lost: list[Segment] = []
    found: list[Segment] = []
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        changed = kind != "equal"
        _add(lost, "".join(old[old_from:old_to]), changed)
        _add(found, "".join(new[new_from:new_to]), changed)
    return lost, found


def _add(segments: list[Segment], text: str, changed: bool) -> None:
    """Append a stretch; the space behind a changed word stays outside the mark."""
    bare = text.rstrip()
    if bare:
        segments.append(Segment(bare, changed))
    if text[len(bare) :]:
        segments.append(Segment(text[len(bare) :], False))
