"""Times that can be compared on a machine that does other things too.

The works are done by turns, round after round, so that whatever slows the machine down slows
all of them. What is taken is the processor time of this process, which waiting for others
does not count in, and two works are compared by the median over rounds of their ratio.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True)
class Times:
    """Processor seconds of several works  # of each, one a round."""

    of: Mapping[str, list[float]]

    def seconds(self, name: str) -> float:
        """Return the median of a work."""
        return statistics.median(self.of[name])

    def ratio(self, name: str, reference: str) -> float:
        """Return the median over rounds of work / reference of the same round."""
        pairs = zip(self.of[name], self.of[reference], strict=True)
        return statistics.median(one / other for one, other in pairs)


def by_turns(works: Mapping[str, Work], rounds: int, *, warm_up: bool = True) -> Times:
    """Do all works in turn, `rounds` times.

    Args:
        warm_up: whether to do all of them once before, for caches and imports.
    """
    if warm_up:
        for work in works.values():
            work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            started = time.process_time()
            work()
            times[name].append(time.process_time() - started)
    return Times(times)
