"""What a search finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """One translation as token ids.

    Args:
        ids: target token ids without BOS and EOS.
        log_probability: log P of the tokens, EOS included, in nats; None where it was not kept.
        finished: False when the search stopped at its longest length, before EOS.
    """

    ids: tuple[int, ...]
    log_probability: float | None
    finished: bool
