"""The learning rate over time: the `schedule` family.

A member is a shape, a function of (update, warmup) that is 1 at the end of the warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ..registry import Registry
from .settings import TrainingSettings

schedule: Registry[Callable[[int, int], float]] = Registry("schedule")


@schedule("inverse_sqrt")
def inverse_sqrt(update: int, warmup: int) -> float:
    """Rise linearly, then fall with 1/sqrt(update) (Vaswani et al. 2017, eq. 3)."""
    return min(update / warmup, math.sqrt(warmup / update))


@schedule("constant")
def constant(update: int, warmup: int) -> float:
    """Rise linearly, then stay."""
    return min(update / warmup, 1.0)


def learning_rate(update: int, settings: TrainingSettings) -> float:
    """Return the rate of the 1-based `update`.

    With a cool-down the shape is multiplied by a straight line that reaches 0 one update
    after the last (Hägele et al. 2024 measure what it gains).
    """
    shape = schedule[settings.schedule](update, settings.warmup)
    cooling = max(1, round(settings.cooldown * settings.updates))
    left = (settings.updates + 1 - update) / cooling if settings.cooldown else 1.0
    return settings.learning_rate * shape * min(1.0, left)
