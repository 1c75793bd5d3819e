"""How much a head matters: the `metric` family and what every member returns.

A metric gives each head one number a sentence and a weight that says how much the sentence
counts. The head's value over a corpus is the weighted mean

    I_h = sum over s of w_sh v_sh / sum over s of w_sh,

which covers both kinds of mean the literature uses: over tokens (w = tokens of the
sentence: confidence, leave-one-out) and over sentences (w = 1: gradient). Because sentences
stay apart, an interval, a stability check between halves of the data, or a paired comparison
of two metrics needs no second run.

Pitfall: importance that was estimated on the test set and then used to choose what to
remove makes the test scores of the smaller model too good. Metrics are therefore given
validation or training text; the analyses see to it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.errors import DataError
from ..models.gates import Head, HeadLayout
from ..models.quality import resampled_sums
from ..models.registry import Registry
from ..models.settings import Settings
from ..models.translator import Translator


@dataclass(frozen=True)
class Proof:
    """A numerical check of a metric on the model and text it was used on.

    Args:
        claim: what must hold, in words, such as `attributions sum to f(1) - f(0)`.
        error: how far it is from holding; NaN never holds.
        tolerance: the largest error that is rounding or a stated approximation.
        unit: unit of both, empty for a ratio.
    """

    claim: str
    error: float
    tolerance: float
    unit: str = ""

    @property
    def holds(self) -> bool:
        """Whether the metric may be shown as a number."""
        return self.error <= self.tolerance


@dataclass(frozen=True)
class HeadScores:
    """What a metric found, sentence by sentence.

    Args:
        layout: the heads, in the order of the columns.
        values: the metric's value, float64; 0 where the weight is 0  # [sentence, head]
        weights: how much a sentence counts in the mean, float64  # [sentence, head]
        unit: unit of the values, such as `nats a token`.
        higher_is_important: whether a large value means an important head.
    """

    layout: HeadLayout
    values: Tensor
    weights: Tensor
    unit: str
    higher_is_important: bool = True

    def __len__(self) -> int:
        return self.values.shape[0]

    @property
    def mean(self) -> Tensor:
        """Return every head's value over the corpus, float64  # [head].

        Raises:
            DataError: for some head no sentence counts, so that it has no value.
        """
        total = self.weights.sum(0)  # [head]
        if not bool((total > 0).all()):
            raise DataError(
                "no sentence has an ordinary token, so importance is not defined; give longer text"
            )
        return (self.values * self.weights).sum(0) / total

    @property
    def importance(self) -> Tensor:
        """Return the means turned so that larger is more important, float64  # [head]."""
        return self.mean if self.higher_is_important else -self.mean

    @property
    def normalised(self) -> Tensor:
        """Return the means, each layer's divided by its l2 norm, float64  # [head].

        Molchanov et al. 2017 (section 2.2) compare layers in this way, and Michel et al.
        2019 took it over. A layer is one attention sublayer; one of zeros stays zeros.
        """
        mean = self.mean
        parts = [mean[columns] for columns in self.layout.slices.values()]
        norms = [part.norm() for part in parts]  # each []
        return torch.cat(
            [part / norm if norm > 0 else part for part, norm in zip(parts, norms, strict=True)]
        )

    @property
    def counted(self) -> HeadScores:
        """Return the same of the sentences that count for some head, such as those measured."""
        some = (self.weights > 0).any(1)  # [sentence]
        return replace(self, values=self.values[some], weights=self.weights[some])

    def resampled(self, generator: np.random.Generator, resamples: int) -> Tensor:
        """Return bootstrap means over sentences drawn with replacement  # [resample, head].

        A resample in which no sentence counts for a head gives NaN there.
        """
        parts = [(self.values * self.weights).numpy(), self.weights.numpy()]
        sums = resampled_sums(parts, generator, resamples)  # each [resample, head]
        return torch.from_numpy(sums[0]) / torch.from_numpy(sums[1])

    def ranks(self) -> Tensor:
        """Return 1 for the most important head, 2 for the next; ties by layout  # [head]."""
        order = (-self.importance).argsort(stable=True)  # [head]
        ranks = torch.empty_like(order)
        ranks[order] = torch.arange(1, len(order) + 1, device=order.device)
        return ranks

    def removal_order(self) -> list[Head]:
        """Return all heads, the least important first."""
        last_first = self.ranks().argsort(descending=True)
        return [self.layout.heads[column] for column in last_first.tolist()]


class Metric(Settings):
    """A way to measure importance: its options, and how it is computed.

    A member of the family is a settings class, so its options are checked, written to the
    resolved configuration and shown by the command line like all other settings.

    Args:
        tokens: padded target tokens a batch. With the default, a metric that keeps a pass for
            going backward needs little more memory than the loss of usual batches (2,048), and
            logits stay small enough to be fast on a CPU; more is faster on a GPU.
    """

    tokens: int = 768

    @abstractmethod
    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Measure every head on every sentence.

        Args:
            translator: the model; its weights and their gradients stay as they are.
            data: validation or training text, never the test split.
            generator: for metrics that sample; the others leave it alone.

        Raises:
            DataError: `data` is empty.
        """

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Check the metric against an independent way to its numbers on a few sentences.

        Args:
            translator, data, generator: those that `scores` was given.
        """
        return ()

    def proves(self) -> Hashable:
        """Return what the proof is about: metrics that answer the same have the same proof."""
        return self

    def remarks(self) -> tuple[str, ...]:
        """Return sentences a reader of the numbers must know, such as what was left out."""
        return ()

    def batches(self, translator: Translator, data: ParallelText) -> Iterator[Batch]:
        """Yield the data in batches on the translator's device.

        Raises:
            DataError: `data` is empty.
        """
        _refuse_empty(data)
        yield from translator.batches(data.source, data.target, tokens=self.tokens)


metric: Registry[type[Metric]] = Registry("metric")


def same_for_all(layout: HeadLayout, data: ParallelText, values: Tensor, unit: str) -> HeadScores:
    """Return scores of a metric that reads no text: the same on every sentence.

    Args:
        values: float64 on the CPU  # [head]

    Raises:
        DataError: `data` is empty.
    """
    _refuse_empty(data)
    rows = values.repeat(len(data), 1)  # [sentence, head]
    return HeadScores(layout, rows, torch.ones_like(rows), unit)


def _refuse_empty(data: ParallelText) -> None:
    if not len(data):
        raise DataError("no sentences to measure importance on; give at least one")


def empty_scores(data: ParallelText, layout: HeadLayout) -> Tensor:
    """Return zeros to be filled by `batch.indices`, float64 on the CPU  # [sentence, head]."""
    return torch.zeros(len(data.source), len(layout), dtype=torch.float64)
