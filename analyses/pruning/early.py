"""Early pruning: choose the heads before the model has converged, then train the rest.

Which heads will be needed shows long before training ends. So a new model is trained for a
small part of the updates, its heads are ordered by a metric, those that go are cut, and only
what is left is trained to the end, which makes that training cheaper. Behnke & Heafield 2020
find up to three quarters of the heads of a big model for -0.1 BLEU in this way; choosing
before any training is worse, which is what the control `untrained` is there for.

The early model has the seed, the text and the vocabularies of the trained one, so it is the
beginning of the same training, without its cool-down.

Pitfall: what this way returns is an early model. Without full fine-tuning it translates
badly, however well its heads were chosen; `weights = "trained"` cuts the converged model by
the early choice instead.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field

from ...models.reinitialised import with_random_weights
from ...models.translator import Translator
from .importance import ByImportance
from .way import Chosen, Task, Way, way


@way("early")
class Early(Way):
    """Choose by a metric in a model that has hardly trained (Behnke & Heafield 2020).

    Args:
        share: updates of the short training over those of the model's own; 0 for none.
        metric: a member of the `metric` family, by which its heads are ordered.
        options: the metric's own.
        weights: which model is cut: the `early` one, to be trained to the end, or the
            `trained` one.
        sentences: the first so many validation sentences.
    """

    seeded: ClassVar[bool] = True
    begins: ClassVar[bool] = True

    share: float = Field(default=0.2, ge=0, lt=1)
    metric: str = "confidence"
    options: dict[str, Any] = Field(default_factory=dict)
    weights: Literal["early", "trained"] = "early"
    sentences: int = Field(default=300, ge=1)

    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Train a new model for a while, and order its heads; see `Way.choose`."""
        young = self._begun(task)
        values = {"metric": self.metric, "options": self.options, "sentences": self.sentences}
        scored = ByImportance.from_dict(values)
        order = scored.choose(replace(task, translator=young), heads).order
        if self.weights == "early":
            return Chosen(young, order, trained=self.share, share=self.share)
        return Chosen(task.translator, order)

    def _begun(self, task: Task) -> Translator:
        """Return a new model that was trained for a while."""
        generator = torch.Generator().manual_seed(task.recipe.seed)
        start = with_random_weights(task.translator, generator)
        if not self.share:
            return start
        own = task.recipe.training
        settings = own.with_changes(
            updates=max(1, round(own.updates * self.share)),
            cooldown=0.0,
            average=1,
            patience=0,
            minutes=0.0,
            validation_sentences=0,
        )
        return task.train(f"early-{self.share}", start, settings, keep_last=True)


@way("untrained")
class Untrained(Early):
    """Choose by a metric in a model that has not trained at all: the control of `early`."""

    share: float = Field(default=0.0, ge=0, lt=1)
