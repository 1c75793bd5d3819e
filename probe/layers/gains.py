"""What the layers of one task add to its embedding: gains, and their centre.

The formula and its reasons stand in `verdict.py`, which compares the centres of two families.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TaskCurves:
    """What the probes of one task got right on every layer, sentence by sentence.

    Args:
        task: its name.
        family: `syntax` or `semantics`.
        right: right predictions of the trained models  # [model, layer, sentence]
        random: the same of networks with random weights  # [network, layer, sentence]
        examples: examples in every test sentence  # [sentence]
    """

    task: str
    family: str
    right: Array
    random: Array
    examples: Array

    def gains(self, models: NDArray[np.int64], times: Array) -> Array:
        """Return the gain of every layer, from the mean curves of drawn models.

        Curves are averaged before they are divided by the headroom: a model that has almost
        none would count for more than all others together.

        Args:
            models: which models were drawn  # [resample, drawn]
            times: how often each sentence was drawn  # [resample, sentence]

        Returns:
            [resample, layer]; 0 where no layer is above layer 0
        """
        chosen = models % len(self.random)
        trained, mixing = _mean(self.right, models, times), _mean(self.random, chosen, times)
        total = (times @ self.examples)[:, None]  # [resample, 1]
        headroom = trained.max(1, keepdims=True) - trained[:, :1]
        unlearnt = np.maximum(mixing - mixing[:, :1], 0)  # [resample, layer]
        above = trained - trained[:, :1] - unlearnt
        there = (headroom > 1e-9) & (total > 0)
        gain: Array = np.divide(above, headroom, out=np.zeros_like(above), where=there)
        return gain


def _mean(right: Array, models: NDArray[np.int64], times: Array) -> Array:
    """Return right predictions on drawn sentences, mean over drawn models  # [resample, layer].

    Args:
        right: [model, layer, sentence]
    """
    of_models = np.stack([times @ it.T for it in right], axis=1)  # [resample, model, layer]
    mean: Array = np.take_along_axis(of_models, models[:, :, None], axis=1).mean(1)
    return mean


def centre_of(gains: Array) -> Array:
    """Return the centre of gains, NaN without any  # [resample, layer] -> [resample]."""
    positive = np.maximum(gains[:, 1:], 0)  # [resample, layer]
    sums = positive.sum(1)
    layers = np.arange(1, gains.shape[1])
    return np.divide(positive @ layers, sums, out=np.full(len(sums), np.nan), where=sums > 0)


@dataclass(frozen=True)
class Gains:
    """What the layers of one task add, of all models together.

    Args:
        task, family: its names.
        values, low, high: of every layer, with 95 % interval  # each [layer]
        centre: in layers; None where no layer surely adds anything.
        interval: 95 %, None without a centre.
    """

    task: str
    family: str
    values: Array
    low: Array
    high: Array
    centre: float | None
    interval: tuple[float, float] | None


def gains_of(curves: TaskCurves, drawn: Array) -> Gains:
    """Return gains and centre of a task.

    Args:
        drawn: its gains on drawn models and sentences  # [resample, layer]
    """
    models, sentences = len(curves.right), len(curves.examples)
    whole = curves.gains(np.arange(models)[None], np.ones((1, sentences)))  # [1, layer]
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)  # [layer]
    names = (curves.task, curves.family, whole[0], low, high)
    if not adds(drawn):
        return Gains(*names, None, None)
    bounds = np.nanpercentile(centre_of(drawn), (2.5, 97.5))
    return Gains(*names, float(centre_of(whole)[0]), (float(bounds[0]), float(bounds[1])))


def adds(drawn: Array) -> bool:
    """Tell whether some layer surely adds something, at 2.5 % for all layers together.

    The sum over layers would not do: what layer 1 adds and later layers lose again, below what
    the embedding had, lies at layer 1 all the same.

    Args:
        drawn: gains on drawn models and sentences  # [resample, layer]
    """
    above = drawn[:, 1:]  # [resample, layer]
    if not above.shape[1]:
        return False
    return bool((np.percentile(above, 2.5 / above.shape[1], axis=0) > 0).any())
