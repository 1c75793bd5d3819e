"""How good a probe is: accuracy, macro-F1 and log-loss, with intervals over sentences.

The words of a sentence depend on each other, so the bootstrap draws whole sentences. All
layers and tasks see the same draws, which makes their differences paired: the interval of a
difference is that of the differences of the draws, not the difference of two intervals.

Macro-F1 is the mean of F1 = 2 tp / (2 tp + fp + fn) over the classes that the judged
examples have, in gold or in prediction. Log-loss is the mean of -log2 p(label), in bits: what
a label still costs who knows the probe's prediction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...models.quality import resampled_sums
from .examples import Numbers

Array = NDArray[np.float64]
MEASURES = ("accuracy", "macro_f1", "log_loss")


@dataclass(frozen=True)
class Judged:
    """The predictions of one probe on the examples it is judged by.

    Args:
        labels, predicted: classes  # each [example]
        bits: -log2 of the probability that the probe gave the label  # [example]
        sentences: of every example  # [example]
        classes: how many classes.
    """

    labels: Numbers
    predicted: Numbers
    bits: Array
    sentences: Numbers
    classes: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def accuracy(self) -> float:
        """Return the share of right predictions, 0 to 1."""
        return float((self.labels == self.predicted).mean())

    @property
    def macro_f1(self) -> float:
        """Return the mean F1 of the classes, 0 to 1."""
        return float(_macro_f1(self.counts().sum(0)[None])[0])

    @property
    def log_loss(self) -> float:
        """Return the mean cost of a label, in bits."""
        return float(self.bits.mean())

    def values(self) -> dict[str, float]:
        """Return all measures by name."""
        return {name: getattr(self, name) for name in MEASURES}

    def resampled(self, generator: np.random.Generator, resamples: int) -> dict[str, Array]:
        """Return every measure on sentences drawn with replacement  # each [resample]."""
        return resampled_alike([self], generator, resamples)[0]

    def correct_by_sentence(self, sentences: int) -> tuple[Array, Array]:
        """Return right predictions and examples of every sentence  # each [sentence]."""
        right = (self.labels == self.predicted).astype(np.float64)  # [example]
        return (
            _sums(self.sentences, right, sentences),
            _sums(self.sentences, np.ones_like(right), sentences),
        )

    def where(self, chosen: NDArray[np.bool_]) -> Judged:
        """Return the judgement on some of the examples."""
        labels, predicted = self.labels[chosen], self.predicted[chosen]
        return Judged(labels, predicted, self.bits[chosen], self.sentences[chosen], self.classes)

    def counts(self) -> Array:
        """Return sums by sentence: hits, predictions, labels of each class; right, bits, examples.

        Returns:
            [sentence, 3 x class + 3], only sentences that have examples
        """
        _, place = np.unique(self.sentences, return_inverse=True)
        rows, size = int(place.max()) + 1 if len(place) else 0, self.classes
        right = self.labels == self.predicted

        def by_class(classes: Numbers, weights: Array) -> Array:
            return _sums(place * size + classes, weights, rows * size).reshape(rows, size)

        ones = np.ones(len(self))  # [example]
        columns = [
            by_class(self.labels, right.astype(np.float64)),
            by_class(self.predicted, ones),
            by_class(self.labels, ones),
            *[_sums(place, it, rows)[:, None] for it in (right * 1.0, self.bits, ones)],
        ]
        return np.concatenate(columns, axis=1)


def _sums(places: Numbers, values: Array, size: int) -> Array:
    """Add up values that belong to the same place  # [size]."""
    return np.bincount(places, values, size).astype(np.float64)


def _macro_f1(sums: Array) -> Array:
    """Return macro-F1 of sums as `Judged.counts` makes them  # [row, statistic] -> [row]."""
    size = (sums.shape[1] - 3) // 3
    hits, predicted, labels = (sums[:, i * size : (i + 1) * size] for i in range(3))
    there = predicted + labels > 0  # [row, class]
    f1 = np.divide(2 * hits, predicted + labels, out=np.zeros_like(hits), where=there)
    return f1.sum(1) / np.maximum(there.sum(1), 1)


def resampled_alike(
    found: Sequence[Judged], generator: np.random.Generator, resamples: int
) -> list[dict[str, Array]]:
    """Return `Judged.resampled` of probes that were judged on the same sentences.

    The sentences are drawn once for all of them, which costs more than all sums together.
    """
    drawn = resampled_sums([it.counts() for it in found], generator, resamples)
    measures = []
    for sums in drawn:  # [resample, statistic]
        examples = np.maximum(sums[:, -1], 1)
        measures.append(
            {
                "accuracy": sums[:, -3] / examples,
                "macro_f1": _macro_f1(sums),
                "log_loss": sums[:, -2] / examples,
            }
        )
    return measures


def intervals(draws: Mapping[str, Array], level: float = 0.95) -> dict[str, tuple[float, float]]:
    """Return the percentile interval of every measure."""
    edges = (50 * (1 - level), 50 * (1 + level))
    found = {}
    for name, values in draws.items():
        low, high = np.percentile(values, edges)
        found[name] = (float(low), float(high))
    return found
