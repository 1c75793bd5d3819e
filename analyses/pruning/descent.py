"""A whole curve for the price of one model: each smaller model is made from the one before.

Made apart, the models of a curve cost a choice and a fine-tuning each, every time from the
whole model. Going down, one model serves them all: from 72 heads to 63, from those 63 to 54,
and so on. At every number that was asked for the heads that go are cut out of the weights,
what is left is trained on a little, measured, and is where the next step starts (gradual
pruning, Zhu & Gupta 2017). So a model with few heads has the training of all steps above it
behind it, and each step takes only a few heads away, which a network survives best.

A way is asked once, for the fewest heads, and its order serves all steps: what would go for 18
heads and not for 36 goes later. So a way that trains makes one training for a whole curve. Only
the order that its gates learnt is kept, for its weights have adapted to the fewest heads (group
lasso, whose weights have shrunk to be cut, keeps them). The updates of this training are taken
from those of the steps, so that all ways train for equally long.

Choosing anew at every step, with gates that remember the steps above, was tried on a small
model and chose worse: the few updates of a step leave most gates undecided.

Pitfall: a model of a descent depends on the numbers above it, and has only the last of its
updates in its own shape. A model that is made apart with as many updates in all can be better.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ...models.errors import CheckpointError
from ...models.gates import Head
from ...models.transformer import TransformerTranslator
from ...models.translator import SearchSettings, Translator
from ..proof import PROOF_BEAM, compared
from .finish import Finish
from .trained import TrainedWay
from .way import Chosen, Task, Way

PROOF_SENTENCES = 8
LARGEST_PART = 0.5
"""A choice by training takes no more than this of all updates."""
APART = 1000
"""Distance between the seeds of steps, so that they read other sentences."""


@dataclass(frozen=True)
class Step:
    """One model of a descent.

    Args:
        heads: candidates that are left.
        model: after fine-tuning.
        updates: of all trainings since the whole model.
        choosing: processor time of the choice, in seconds.
        training: processor time of the fine-tuning, in seconds.
        proof: how far the cut was from closed gates, before training on; see `proof.compared`.
        undecided: share of the heads that were undecided when a choice by training ended.
    """

    heads: int
    model: Translator
    updates: int
    choosing: float
    training: float
    proof: Mapping[str, Any]
    undecided: float | None = None


def proved(task: Task, translator: Translator, removed: Sequence[Head]) -> dict[str, Any]:
    """Compare cut heads with closed gates on a few validation sentences, by a beam."""
    few = task.corpus.valid.head(PROOF_SENTENCES)
    return compared(translator, removed, few, SearchSettings(beam=PROOF_BEAM))


class Descent:
    """The smaller models of one way, from many heads to few.

    The last two models are kept in the folder of the task, so that a descent that was killed
    while the last was made or measured goes on from the one before.

    Args:
        task: the whole model and its text.
        way: how heads are chosen; not one that begins a training of its own.
        finish: what is done at every step after its heads are gone.
        counts: numbers of candidates that are left, from many to few.
        order: of the heads, where the way was asked already.
    """

    def __init__(
        self,
        task: Task,
        way: Way,
        finish: Finish,
        counts: Sequence[int],
        order: Chosen | None = None,
    ) -> None:
        self.task, self.counts, self.order = task, tuple(counts), order
        share, steps = finish.updates(), len(self.counts)
        self.choosing = 0.0
        if isinstance(way, TrainedWay):
            self.choosing = min(way.share, LARGEST_PART * share * steps) if share else way.share
            # Gates are left behind with the weights that they learnt with; norms are weights.
            weights = way.weights if way.one_order else "given"
            way = way.with_changes(share=self.choosing, weights=weights, validations=1)
        self.way = way
        self.finish = finish.with_changes(share=share - self.choosing / steps if share else 0.0)

    def models(self, first: int = 0) -> Iterator[Step]:
        """Yield the models from the one with `counts[first]` heads on."""
        model: Translator | None = None
        if first:
            with suppress(CheckpointError):
                model = TransformerTranslator.load(self._folder(first - 1), self._device)
        for at in range(first if model else 0, len(self.counts)):
            step = self._made(at, model)
            model = step.model
            if at >= first:
                yield step

    def _made(self, at: int, before: Translator | None) -> Step:
        """Make one model from the one before, the first from the whole one, and keep it."""
        heads, clock = self.counts[at], time.process_time()
        if self.order is None:
            self.order = self.way.choice(self.task, self.counts[-1])
        order, whole = self.order, before or self.order.translator
        removed = [head for head in order.removed(heads) if head in whole.layout]
        cut = whole.without(removed)
        chose = time.process_time()
        folder = self.task.folder / f"step-{heads}"
        own = replace(self.task, seed=self.task.seed + APART * (at + 1), folder=folder)
        model = self.finish.finished(own, cut, str(heads))
        trained = time.process_time()
        self._keep(at, model)
        shutil.rmtree(folder, ignore_errors=True)
        undecided = order.history[-1]["undecided"] if order.history else None
        times = (chose - clock, trained - chose)
        proof = proved(self.task, whole, removed)
        return Step(heads, model, self._updates(at), *times, proof, undecided)

    @property
    def _device(self) -> torch.device:
        return self.task.translator.device

    def _updates(self, at: int) -> int:
        """Return the updates of all trainings up to a step, that of the choice among them."""
        once, step = (
            max(1, round(self.task.recipe.training.updates * share)) if share else 0
            for share in (self.choosing, self.finish.updates())
        )
        return once + (at + 1) * step

    def _folder(self, at: int) -> Path:
        return self.task.folder / f"left-{self.counts[at]}"

    def _keep(self, at: int, model: Translator) -> None:
        """Keep a model, and forget the one before the last."""
        if isinstance(model, TransformerTranslator):
            model.save(self._folder(at))
        if at >= 2:
            shutil.rmtree(self._folder(at - 2), ignore_errors=True)
