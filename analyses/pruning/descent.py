"""A whole curve for the price of one model: each smaller model is made from the one before.

Made apart, the models of a curve cost a choice and a fine-tuning each, every time from the
whole model. Going down, one model serves them all: from 72 heads to 63, from those 63 to 54,
and so on. At every number that was asked for the heads that go are cut out of the weights,
what is left is trained on a little, measured, and is where the next step starts (gradual
pruning, Zhu & Gupta 2017). So a model with few heads has the training of all steps above it
behind it, and each step takes only a few heads away, which a network survives best.

A way that measures is asked once, for the fewest heads, and its order serves all steps: what
would go for 18 heads and not for 36 goes later. A way that trains is asked again when three
quarters of the heads that it chose from are gone, and trains until then: for 72 heads once for
18, and once more from there. The model with 18 heads is the one that learnt with its gates; on
the way to it only their order counts, for these weights have adapted to the fewest heads (group
lasso, whose weights have shrunk to be cut, keeps them and is asked once). Every step of every
way has the same fine-tuning; what a choice by training takes comes on top, and the tables
count it.

Why not once, and not at every step: gates that are closed for long are no longer in an order.
On miniature, L0 gates that chose 9 of 72 heads had a validation NLL of 0.69 with the 18 that
they closed last, after two short fine-tunings; those that chose 18 had 0.63, and 0.60 after one
fine-tuning of the weights that learnt with them (subset pruning 0.62 and 0.60, leave-one-out
0.60). And the few updates of one step leave most gates undecided.

Trained for as long as the six steps to 18 heads, L0 gates had 0.50 and leave-one-out, step by
step, 0.58. That is not the choice alone: one training is worth more than six that begin anew.

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

from ...models.errors import CheckpointError
from ...models.gates import Head
from ...models.transformer import TransformerTranslator
from ...models.translator import SearchSettings, Translator
from ..proof import PROOF_BEAM, compared
from .finish import Finish
from .trained import TrainedWay
from .way import Chosen, Task, Way

PROOF_SENTENCES = 8
SERVES = 4
"""A choice by training serves until less than one of so many of its heads is left."""
APART = 1000
"""Distance between the seeds of steps, so that they read other sentences."""


@dataclass(frozen=True)
class Step:
    """One model of a descent.

    Args:
        heads: candidates that are left.
        model: after fine-tuning.
        updates: of all trainings that the model has behind it since the whole one.
        fresh: that this step took, those of a choice that it began for later steps too.
        choosing: processor time of the choice, in seconds.
        training: processor time of the fine-tuning, in seconds.
        proof: how far the cut was from closed gates, before training on; see `proof.compared`.
        undecided: share of the heads that were undecided when a choice by training ended.
    """

    heads: int
    model: Translator
    updates: int
    fresh: int
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

    The last two models are kept in the folder of the task, and those that a choice begins from,
    so that a descent that was killed while the last was made or measured goes on from the one
    before.

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
        self.way, self.finish = way, finish
        self.gated = isinstance(way, TrainedWay) and not way.one_order
        whole = [range(len(self.counts))]
        self.stages = stages(len(task.candidates), self.counts) if self.gated else whole
        self.asked = None if order is None else self.stages[0]

    def models(self, first: int = 0) -> Iterator[Step]:
        """Yield the models from the one with `counts[first]` heads on."""
        model: Translator | None = None
        if first:
            with suppress(CheckpointError):
                before = self._kept(first - 1)
                self._ask(first, before)
                model = before
        for at in range(first if model else 0, len(self.counts)):
            step = self._made(at, model)
            model = step.model
            if at >= first:
                yield step

    def _ask(self, at: int, before: Translator | None) -> Chosen:
        """Return the order for a step; ask the way where its last choice does not serve it."""
        stage = next(it for it in self.stages if at in it)
        if self.order is None or self.asked != stage:
            task, begin = self.task, stage[0]
            start = before if at == begin else self._kept(begin - 1) if begin else None
            if start is not None:
                left = tuple(head for head in task.candidates if head in start.layout)
                task = replace(task, translator=start, candidates=left)
            way = self.way
            if isinstance(way, TrainedWay):
                way = way.with_changes(share=self._choosing(stage), saves=1)
            self.order, self.asked = way.choice(task, self.counts[stage[-1]]), stage
        return self.order

    def _choosing(self, stage: range) -> float:
        """Return the updates of the choice for a stage over those of the model's own training.

        They are as many as the steps of the stage have but for its last, so that the model at
        its end has been trained for as long as one that was made step by step.
        """
        if not isinstance(self.way, TrainedWay):
            return 0.0
        steps = self.finish.updates() * (len(stage) - 1) if self.gated else 0.0
        return max(self.way.share, steps)

    def _made(self, at: int, before: Translator | None) -> Step:
        """Make one model from the one before, the first from the whole one, and keep it."""
        heads, clock = self.counts[at], time.process_time()
        order = self._ask(at, before)
        whole = before or (self.task.translator if self.gated else order.translator)
        if self.gated and any(at == stage[-1] for stage in self.stages):
            whole = order.translator  # its gates were closed one by one, down to this number
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
        updates = (self._updates(at), self._fresh(at))
        return Step(heads, model, *updates, *times, proof, undecided)

    def _updates(self, at: int) -> int:
        """Return the updates of all trainings that the model of a step has behind it.

        That of a step whose weights learnt with the gates comes from where these began, and has
        none of the fine-tunings in between.
        """
        if at < 0:
            return 0
        stage = next(it for it in self.stages if at in it)
        with_choice = at == (stage[-1] if self.gated else 0)
        learnt = isinstance(self.way, TrainedWay) and self.way.weights == "trained"
        before = stage[0] - 1 if self.gated and with_choice else at - 1
        choosing = self._choosing(stage) if with_choice and learnt else 0.0
        return self._updates(before) + self._made_of(self.finish.updates(), choosing)

    def _fresh(self, at: int) -> int:
        """Return the updates that a step takes, those of a choice that it begins among them."""
        stage = next(it for it in self.stages if at in it)
        choosing = self._choosing(stage) if at == stage[0] else 0.0
        return self._made_of(self.finish.updates(), choosing)

    def _made_of(self, *shares: float) -> int:
        """Return the updates of trainings, given as shares of the model's own."""
        own = self.task.recipe.training.updates
        return sum(max(1, round(own * share)) for share in shares if share)

    def _folder(self, at: int) -> Path:
        return self.task.folder / f"left-{self.counts[at]}"

    def _kept(self, at: int) -> Translator:
        return TransformerTranslator.load(self._folder(at), self.task.translator.device)

    def _keep(self, at: int, model: Translator) -> None:
        """Keep a model, and forget the one before the last if no choice begins from it."""
        if isinstance(model, TransformerTranslator):
            model.save(self._folder(at))
        if at >= 2 and all(stage[0] != at - 1 for stage in self.stages):
            shutil.rmtree(self._folder(at - 2), ignore_errors=True)


def stages(total: int, counts: Sequence[int]) -> list[range]:
    """Return the steps that one choice serves each, see `SERVES`.

    Args:
        total: candidates before the first step.
        counts: candidates that are left after each step, from many to few.
    """
    found: list[range] = []
    first, before = 0, total
    for at, heads in enumerate(counts):
        if at > first and SERVES * heads < before:
            found.append(range(first, at))
            first, before = at, counts[at - 1]
    return [*found, range(first, len(counts))]
