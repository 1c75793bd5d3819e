"""Errors that a user can mend: one line that says what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class HeadcountError(Exception):
    """Anything wrong that the user can mend; shown as one line, without a traceback."""

    exit_code = 1


class UsageError(HeadcountError):
    """A wrong setting, name or argument (exit code 2)."""

    exit_code = 2


class DataError(HeadcountError):
    """Text, a corpus or an annotation that cannot be used as it is."""


class SentenceTooLongError(DataError):
    """A sentence with more tokens than the model has positions for.

    Args:
        number: of the sentence among those that were given, counted from 1.
        tokens: of the sentence, with the end or beginning that the model adds.
        limit: positions of the model.
        what: what is counted, such as `source sentence` or `line`.
    """

    def __init__(self, number: int, tokens: int, limit: int, what: str) -> None:
        super().__init__(
            f"{what} {number} has {tokens} tokens, the model has positions for {limit}: shorten "
            "the sentence or leave it out, or train with a larger max_positions"
        )
        self.number, self.tokens, self.limit = number, tokens, limit


class CheckpointError(HeadcountError):
    """A saved model that is damaged, foreign or does not fit."""


class ThresholdError(HeadcountError):
    """A goal that the user asked for and that was not met (exit code 3)."""

    exit_code = 3


def system_says(error: OSError) -> str:
    """Return what the system said of a file, such as `not a directory`."""
    return (error.strerror or str(error)).lower()


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return ` (did you mean 'x'?)` for the closest known name, or the list of them all."""
    names = sorted(known)
    close = get_close_matches(wrong, names, n=1)
    return f" (did you mean '{close[0]}'?)" if close else f" (known: {', '.join(names)})"
