"""A whole curve for the price of one model: each smaller model is made from the one before.

Made apart, the models of a curve cost a choice and a fine-tuning each, every time from the
whole model. Going down, one model serves them all: from 72 heads to 63, from those 63 to 54,
and so on. At every number that was asked for the heads that go are cut out of the weights,
what is left is trained on a little, measured, and is where the next step starts (gradual
pruning, Zhu & Gupta 2017). So a model with few heads has the training of all steps above it
behind it, and each step takes only a few heads away, which a network survives best.

A way that measures orders the heads once, in the whole model. A way that trains goes on from
the smaller model and from what its gates had learnt: one training, which is cut on its way.
Its share of the updates is spread over the steps and taken from their fine-tuning, so that
all ways train for equally long; group lasso alone trains once, before the first step.

Pitfall: a model of a descent depends on the numbers above it. It is what gradual pruning gives
at this number of heads, and better than one that is made in one step with as few updates.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...models.errors import CheckpointError
from ...models.files import write_json
from ...models.gates import Head
from ...models.transformer import TransformerTranslator
from ...models.translator import SearchSettings, Translator
from ..proof import PROOF_BEAM, compared
from .finish import Finish
from .trained import TrainedWay
from .way import Chosen, Task, Way

MEMORY = "memory.json"
PROOF_SENTENCES = 8
LARGEST_PART = 0.5
"""A choice by training takes no more than this of the updates of a step."""
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
        self.task, self.counts, self.nested = task, tuple(counts), way.nested
        self.own_updates = task.recipe.training.updates
        share = finish.updates()
        part = 0.0
        if isinstance(way, TrainedWay) and not way.nested:
            part = way.share / len(self.counts)
            part = min(part, share * LARGEST_PART) if share else part
            way = way.with_changes(share=part, validations=1)
        self.way, self.choosing = way, part
        self.finish = finish.with_changes(share=share - part if share else 0.0)
        self.order = order

    def models(self, first: int = 0) -> Iterator[Step]:
        """Yield the models from the one with `counts[first]` heads on."""
        model, memory = self.task.translator, self.task.memory
        start = 0
        if first:
            with suppress(CheckpointError):
                model, memory = self._kept(first - 1)
                start = first
        for at in range(start, len(self.counts)):
            step, memory = self._made(at, model, memory)
            model = step.model
            if at >= first:
                yield step

    def _made(
        self, at: int, before: Translator, memory: Mapping[Head, float]
    ) -> tuple[Step, Mapping[Head, float]]:
        """Make one model from the one before, keep it, and return what its gates learnt."""
        heads, task, clock = self.counts[at], self.task, time.process_time()
        candidates = tuple(head for head in task.candidates if head in before.layout)
        own = replace(
            task,
            translator=before,
            candidates=candidates,
            seed=task.seed + APART * (at + 1),
            folder=task.folder / f"step-{heads}",
            encoded=task.text if self._trains else None,
            memory=memory,
        )
        chosen = self._chosen(own, heads)
        removed = chosen.removed(heads)
        cut = chosen.translator.without(removed)
        chose = time.process_time()
        later = replace(own, translator=task.translator, seed=own.seed + APART // 2)
        model = self.finish.finished(later, cut, str(heads))
        trained = time.process_time()
        self._keep(at, model, chosen.memory)
        shutil.rmtree(own.folder, ignore_errors=True)
        undecided = chosen.history[-1]["undecided"] if chosen.history else None
        times = (chose - clock, trained - chose)
        proof = proved(task, chosen.translator, removed)
        return Step(heads, model, self._updates(at), *times, proof, undecided), chosen.memory

    def _chosen(self, task: Task, heads: int) -> Chosen:
        """Choose in the model that is left, or follow the order of the whole one."""
        if not self.nested:
            return self.way.choice(task, heads)
        whole = self.task
        if self.order is None:
            self.order = self.way.choice(whole, self.counts[-1])
        untouched = task.translator.layout == whole.translator.layout
        return replace(
            self.order,
            translator=self.order.translator if untouched else task.translator,
            order=tuple(head for head in self.order.order if head in task.candidates),
        )

    @property
    def _trains(self) -> bool:
        return self.way.trains or self.finish.updates() > 0

    def _updates(self, at: int) -> int:
        """Return the updates of all trainings up to a step."""
        shares = [self.choosing, self.finish.updates()]
        step = sum(max(1, round(self.own_updates * it)) for it in shares if it)
        once = 0.0 if self.order is None else self.order.share
        return (at + 1) * step + round(self.own_updates * once)

    def _folder(self, at: int) -> Path:
        return self.task.folder / f"left-{self.counts[at]}"

    def _keep(self, at: int, model: Translator, memory: Mapping[Head, float]) -> None:
        """Keep a model with what its gates learnt, and forget the one before the last."""
        if not isinstance(model, TransformerTranslator):
            return
        folder = self._folder(at)
        write_json(folder / MEMORY, {str(head): value for head, value in memory.items()})
        model.save(folder)
        if at >= 2:
            shutil.rmtree(self._folder(at - 2), ignore_errors=True)

    def _kept(self, at: int) -> tuple[Translator, Mapping[Head, float]]:
        """Return a model that was kept.

        Raises:
            CheckpointError: it is not there, or not whole.
        """
        folder = self._folder(at)
        model = TransformerTranslator.load(folder, self.task.translator.device)
        found = json.loads((folder / MEMORY).read_text(encoding="utf-8"))
        return model, {Head.parse(name): value for name, value in found.items()}
