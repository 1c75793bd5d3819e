"""One walk over a corpus for all metrics that read the same pass.

Confidence, entropy and the attention norm all read the attention weights of one forward
pass; gradient and Fisher both read the gates' slopes of one backward pass. Such a metric is
a `StreamedMetric`: it says which pass it reads and folds what the pass shows of a batch
into one number a sentence and head. `stream` makes each pass once a batch, lets every
reader fold it, and forgets it before the next batch, so memory does not grow with the
corpus and nothing of the shape [batch, head, query, key] outlives its batch. Different
passes take different walks, so their memory does not add up either.

Pitfall: metrics share a pass only when their batches are the same, that is with an equal
`tokens` option.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.devices import wait_for
from ..models.translator import Capture, Translator
from .importance import HeadScores, Metric, empty_scores
from .slopes import loss_slopes

Pass = Literal["attention", "slopes", "slopes_by_token"]


@dataclass(frozen=True)
class BatchView:
    """What can be read of one batch; each pass is made when it is first asked for.

    Args:
        translator: the model.
        batch: sentence pairs on the model's device.
    """

    translator: Translator
    batch: Batch

    @cached_property
    def attention(self) -> Capture:
        """Attention weights and value vectors of one forward pass, without a graph."""
        with torch.no_grad():
            return self.translator.capture(self.batch, attention=True, values=True)

    @cached_property
    def slopes(self) -> Tensor:
        """dL/dg of each sentence's summed loss, nats, float64 on the CPU  # [batch, head]."""
        return next(loss_slopes(self.translator, self.batch)).cpu().double()

    @cached_property
    def slopes_by_token(self) -> Tensor:
        """The same with the loss of one target position each  # [target, batch, head]."""
        slopes = loss_slopes(self.translator, self.batch, by_token=True)
        return torch.stack([each.cpu().double() for each in slopes])


class Folded(NamedTuple):
    """What a metric says of one batch.

    Args:
        values: float64 on the CPU; 0 where the weight is 0  # [batch, head]
        weights: how much the sentence counts in the mean, likewise  # [batch, head]
    """

    values: Tensor
    weights: Tensor


class Measured(NamedTuple):
    """What a metric found, and the wall-clock seconds that it takes alone."""

    scores: HeadScores
    seconds: float


class StreamedMetric(Metric):
    """A metric that is folded batch by batch from one pass."""

    higher_is_important: ClassVar[bool] = True

    @property
    @abstractmethod
    def reads(self) -> Pass:
        """The pass that `fold` reads."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of the values."""

    @abstractmethod
    def fold(self, view: BatchView) -> Folded:
        """Turn what the pass shows of a batch into one number a sentence and head."""

    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Measure this metric alone; see `Metric.scores` and, for several, `stream`."""
        return stream({"": self}, translator, data)[""].scores


def stream(
    members: Mapping[str, StreamedMetric], translator: Translator, data: ParallelText
) -> dict[str, Measured]:
    """Measure several metrics, those that read the same pass in one walk over the text.

    Args:
        members: metrics by name.
        translator, data: see `Metric.scores`.

    Returns:
        scores by name, equal to those of each metric alone; a pass that is shared counts
        in full in the seconds of each of its readers.

    Raises:
        DataError: `data` is empty.
    """
    walks: dict[tuple[Pass, int], dict[str, StreamedMetric]] = {}
    for name, member in members.items():
        walks.setdefault((member.reads, member.tokens), {})[name] = member
    found: dict[str, Measured] = {}
    for readers in walks.values():
        found |= _walk(readers, translator, data)
    return {name: found[name] for name in members}


def _walk(
    readers: Mapping[str, StreamedMetric], translator: Translator, data: ParallelText
) -> dict[str, Measured]:
    """Make one pass a batch and let every reader fold it."""
    layout = translator.layout
    first = next(iter(readers.values()))
    sums = {name: Folded(*(empty_scores(data, layout) for _ in range(2))) for name in readers}
    seconds = dict.fromkeys(readers, 0.0)
    for batch in first.batches(translator, data):
        view = BatchView(translator, batch)
        started = time.perf_counter()
        getattr(view, first.reads)
        wait_for(translator.device)
        passed = time.perf_counter() - started
        for name, member in readers.items():
            started = time.perf_counter()
            with torch.no_grad():
                folded = member.fold(view)
            for whole, part in zip(sums[name], folded, strict=True):
                whole[batch.indices] = part
            seconds[name] += passed + time.perf_counter() - started
    return {
        name: Measured(
            HeadScores(layout, *sums[name], member.unit, member.higher_is_important),
            seconds[name],
        )
        for name, member in readers.items()
    }
