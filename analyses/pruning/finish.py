"""What is done after heads were chosen: cut, train on, or start the same shape from nothing.

The heads are cut out of the weights first; what is then trained is the small model itself, so
fine-tuning costs less than training did. Its loss can be shared with what the whole model
would say (distillation). At the end the mean of the last checkpoints is taken, or the best
one where that does better on validation text.

Pitfall: a trained model lies where the rate of its own training has fallen to nothing, so each
fine-tuning throws it back before it gains. With few updates and few heads gone a low rate is
best, with many gone a high one: on miniature, 26 updates a step and 72 heads, 0.1 of the own
rate did better than 0.3 down to 27 heads, and worse from 18 on.

The control is a model of the very same shape that never was large: random weights, the whole
recipe again. Where it is as good, the heads that were found taught nothing but a shape
(Voita et al. 2019, section 6.4; Liu et al. 2019).
"""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field

from ...models.reinitialised import with_random_weights
from ...models.settings import Settings
from ...models.translator import Translator
from .way import Task

SHARES = {"none": 0.0, "short": 0.1, "full": 1.0}
"""Updates of fine-tuning over those of the model's own training."""


class Finish(Settings):
    """How the smaller model is trained on.

    Args:
        finetune: not at all, for a tenth of the updates of its own training, or for as many; a
            model whose training has only begun is at least trained to its end.
        share: other updates than these, over those of its own training.
        distil: whether half of the loss is what the whole model would say.
        rate: highest learning rate over that of the model's own training; None is 0.3, or 1
            for a model whose training has only begun.
        average: at the end, the mean of so many last checkpoints, or the best one.
        validations: how often the NLL is taken and a checkpoint kept; with 1 the last update
            has the last word and nothing is measured.
    """

    finetune: Literal["none", "short", "full"] = "short"
    share: float | None = Field(default=None, ge=0)
    distil: bool = False
    rate: float | None = Field(default=None, gt=0)
    average: int = Field(default=3, ge=1)
    validations: int = Field(default=8, ge=1)

    def updates(self, trained: float = 1.0) -> float:
        """Return the updates of fine-tuning over those of the model's own training.

        A model whose training has only begun is trained to its end, even where a whole one
        would be fine-tuned for a short while.

        Args:
            trained: share of its updates that the training of the model has had.
        """
        if self.share is not None:
            return self.share
        share = SHARES[self.finetune]
        return max(share, 1 - trained) if share else 0.0

    def finished(
        self, task: Task, smaller: Translator, name: str, *, trained: float = 1.0
    ) -> Translator:
        """Return the smaller model after fine-tuning; `smaller` stays as it is.

        Args:
            task: the whole model, which is the teacher, and the text.
            smaller: with the heads cut out of the weights.
            name: names the training, one for each model of the task.
            trained: share of its updates that the training of the model has had.
        """
        share = self.updates(trained)
        if not share:
            return smaller
        rate = self.rate or (1.0 if trained < 1 else 0.3)
        settings = task.training(share, rate, average=self.average, saves=self.validations)
        teacher = task.whole if self.distil else None
        last = self.validations == 1
        return task.train(f"finetune-{name}", smaller, settings, teacher=teacher, keep_last=last)


def from_scratch(task: Task, smaller: Translator, name: str) -> Translator:
    """Return the control: the shape of `smaller` trained by the recipe from random weights."""
    generator = torch.Generator().manual_seed(task.recipe.seed)
    start = with_random_weights(smaller, generator)
    settings = task.recipe.training.with_changes(validation_sentences=0)
    return task.train(f"scratch-{name}", start, settings)
