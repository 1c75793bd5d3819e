"""How many sentences does a metric need before its order of heads stays as it is?

For n = 1, 2, 5, 10, 20, ... up to half of the sentences, n of them are drawn at random without
replacement, and the importance of all heads on these n is compared with that on all others by
Spearman's rho. With r(n) the mean of rho over the draws, a metric is stable from

    n* = the smallest n of the ladder with r(m) >= 0.9 for every m >= n of the ladder,

and has no n* where even half of the sentences do not reach 0.9. The two sides never share a
sentence: compared with the whole, a large subset would agree with itself.

Pitfall: both sides are estimates and both have noise, so rho is below what n sentences would
reach against the truth, and n* is on the safe side. Pitfall: the first sentences of a corpus
may be alike; n* speaks of random ones. Pitfall: rho of all heads says little of the top few.
A metric that gives all heads the same value has no order, and no n*.
"""

from __future__ import annotations

import numpy as np

from ..probe.importance import HeadScores
from .ranking import between, means

SUBSETS, NEEDED = 20, 0.9


def sentences_to_stable(
    scores: HeadScores, generator: np.random.Generator, subsets: int = SUBSETS
) -> tuple[int | None, float]:
    """Return from how many sentences on the order of heads is stable, and r of one half.

    Args:
        scores: of one metric, sentence by sentence.
        generator: draws the subsets.
        subsets: draws at each size.

    Returns:
        n*, 0 for a metric that gives every sentence the same values and so needs none, None
        where it is not reached; and r(half of the sentences), NaN where it is undefined
    """
    if len(scores) < 2:
        return None, float("nan")
    if bool((scores.values == scores.values[0]).all()):
        return 0, 1.0
    sizes = ladder(len(scores) // 2)
    curve = [mean_correlation(scores, size, generator, subsets) for size in sizes]
    stable = None
    for size, correlation in zip(reversed(sizes), reversed(curve), strict=True):
        if not correlation >= NEEDED:  # NaN is not stable
            break
        stable = size
    return stable, curve[-1]


def ladder(largest: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50, ... and last `largest` itself."""
    sizes = [step * 10**power for power in range(len(str(largest))) for step in (1, 2, 5)]
    return [*(size for size in sizes if size < largest), largest]


def mean_correlation(
    scores: HeadScores, size: int, generator: np.random.Generator, subsets: int
) -> float:
    """Return the mean Spearman's rho between `size` random sentences and all others.

    NaN where a head has no value on one of the sides, or all heads have the same.
    """
    total = len(scores)
    inside = np.zeros((subsets, total))  # [subset, sentence]
    for row in inside:
        row[generator.choice(total, size, replace=False)] = 1
    _, rho = between(means(scores, inside), means(scores, 1 - inside))  # [subset]
    return float(rho.mean())
