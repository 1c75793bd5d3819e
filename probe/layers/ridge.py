"""Ridge regression from sums alone: numbers (a tree depth, a proto-role) read from states.

    w = (X'X + penalty I)^-1 X'y,   X and y centred,

needs of the data only X'X, X'y and the means, which are sums over words. They are streamed
once, whatever the number of words, targets and penalties; each penalty costs one Cholesky
factor. R^2 of another part needs no second pass either: with its own sums,

    sum (y - Xw)^2 = y'y - 2 w'X'y + w'X'X w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ...models.errors import DataError
from .features import Features

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sums:
    """What ridge regression needs of a set of examples; the last feature is constant 1.

    Args:
        gram: X'X  # [feature + 1, feature + 1]
        cross: X'Y  # [feature + 1, target]
        squares: sum of y^2  # [target]
    """

    gram: Array
    cross: Array
    squares: Array

    @property
    def count(self) -> float:
        """Return the number of examples."""
        return float(self.gram[-1, -1])

    @classmethod
    def of(cls, features: Features, targets: Array) -> Sums:
        """Stream the sums.

        Args:
            features: the examples.
            targets: the numbers to predict  # [example, target]

        Raises:
            DataError: no examples, or numbers that are none.
        """
        if not len(features) or not np.isfinite(targets).all():
            raise DataError("ridge regression needs examples, and numbers that are finite")
        size = features.width + 1
        gram, cross = np.zeros((size, size)), np.zeros((size, targets.shape[1]))
        start = 0
        for block in features.blocks():
            rows = np.column_stack([block.double().numpy(), np.ones(len(block))])
            gram += rows.T @ rows
            cross += rows.T @ targets[start : start + len(block)]
            start += len(block)
        return cls(gram, cross, (targets**2).sum(0))


def fit_ridge(sums: Sums, penalty: float) -> Array:
    """Return the weights, the bias last and not penalised  # [feature + 1, target].

    Args:
        sums: of the training examples.
        penalty: against the sum of squared errors; above 0.
    """
    mean = sums.gram[-1, :-1] / sums.count  # [feature]
    target_mean = sums.cross[-1] / sums.count  # [target]
    gram = sums.gram[:-1, :-1] - sums.count * np.outer(mean, mean)
    cross = sums.cross[:-1] - sums.count * np.outer(mean, target_mean)
    factor = cho_factor(gram + penalty * np.eye(len(gram)))
    weights = cho_solve(factor, cross)  # [feature, target]
    return np.vstack([weights, target_mean - mean @ weights])


def r_squared(weights: Array, sums: Sums) -> Array:
    """Return 1 - (squared error / squared deviation from the mean)  # [target]."""
    error = sums.squares - 2 * (weights * sums.cross).sum(0)
    error = error + (weights * (sums.gram @ weights)).sum(0)
    deviation = sums.squares - sums.cross[-1] ** 2 / sums.count
    explained: Array = 1 - error / deviation
    return explained


def best_ridge(train: Sums, valid: Sums, penalties: Sequence[float]) -> tuple[Array, float]:
    """Return the weights and the penalty with the best mean R^2 on the validation part."""
    fits = [fit_ridge(train, penalty) for penalty in penalties]
    best = int(np.argmax([r_squared(it, valid).mean() for it in fits]))
    return fits[best], penalties[best]
