"""How far long work has come, shown on a terminal and nowhere else."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from tqdm import tqdm


class ProgressBar:
    """One bar on the standard error for each piece of work; silent when it is no terminal."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._what = ""

    def __call__(self, what: str, done: int, total: int, note: str = "") -> None:
        """Show what is being done, how much of it is done, how much there is, and a figure."""
        if self._bar is None or what != self._what:
            self.close()
            self._what = what
            # disable=None is tqdm's word for: only on a terminal.
            self._bar = tqdm(desc=what, total=total, initial=done, disable=None, leave=True)
        self._bar.total = total
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Leave the bar as it is and start a new line."""
        if self._bar is not None:
            self._bar.close()
        self._bar = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
