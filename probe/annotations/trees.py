"""Dependency trees as lists of heads: whether they are trees."""

from __future__ import annotations

from collections.abc import Sequence

from .sentence import ROOT


def cycle_in(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, in order from head to head, or nothing for a tree.

    Args:
        heads: index of every word's head, -1 for a root.
    """
    safe = [False] * len(heads)
    for start in range(len(heads)):
        path: list[int] = []
        on_path: set[int] = set()
        word = start
        while word != ROOT and not safe[word]:
            if word in on_path:
                return path[path.index(word) :]
            path.append(word)
            on_path.add(word)
            word = heads[word]
        for word in path:
            safe[word] = True
    return []
