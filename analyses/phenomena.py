"""What the sentences of a test split show, where somebody knows.

The built-in corpus draws every sentence from a phenomenon: a question, a passive, an ambiguous
noun with its cue. So quality can be given by phenomenon, and so can what removed heads cost.
Other corpora do not say what their sentences show; then there is nothing to group by.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..models.data.corpora import CorpusSettings, miniature_test
from .role_text import MINIATURE

FEWEST = 5  # fewer sentences say nothing of a phenomenon


def shown_by(settings: CorpusSettings) -> tuple[str, ...]:
    """Return the phenomenon of every sentence of the main test split; empty if none is known."""
    if settings.name != MINIATURE:
        return ()
    return tuple(pair.phenomenon for pair in miniature_test(settings))


def by_phenomenon(shown: Sequence[str]) -> dict[str, list[int]]:
    """Return the numbers of the sentences of each phenomenon, the most frequent first.

    Args:
        shown: the phenomenon of each sentence.

    Returns:
        Only phenomena with at least `FEWEST` sentences.
    """
    numbers: dict[str, list[int]] = {}
    for number, name in enumerate(shown):
        numbers.setdefault(name, []).append(number)
    kept = [(name, found) for name, found in numbers.items() if len(found) >= FEWEST]
    return dict(sorted(kept, key=lambda item: (-len(item[1]), item[0])))
