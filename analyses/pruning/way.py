"""How the heads that go are chosen: the `way` family and what every member returns.

A way is given a trained model and the text it learnt from, and returns an order of the heads
that may go, the first to go in front, for the number of heads that shall be left. Ways that
measure leave the model alone; ways that train change its weights with the choice, and return
the model that they made, for their choice belongs to those weights.

Whatever a way returns, what is evaluated afterwards is the model from whose weights the heads
are physically cut, never one with half-open gates.

Pitfall: a way may read training and validation text only. The test split judges.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from ...models.data.parallel_text import Corpus
from ...models.errors import UsageError
from ...models.gates import Attention, Head, HeadLayout
from ...models.registry import Registry
from ...models.settings import Settings
from ...models.training.companion import Companion
from ...models.training.from_corpus import Recipe, encoded
from ...models.training.further import Further, train_further
from ...models.training.order import TrainingText
from ...models.training.settings import TrainingSettings
from ...models.transformer import TransformerTranslator
from ...models.translator import Translator
from ..analysis import Progress, silent
from ..provenance import fingerprint

WARMUP = 50
"""Updates, about, until Adam knows the size of the gradients: with a decay of .98, as in training.

Before that its steps are all of the size of the rate, which throws a trained model back.
"""


@dataclass(frozen=True)
class Task:
    """A model whose heads are to be chosen, and all that a way may use.

    Args:
        translator: the whole trained model; it stays as it is.
        corpus: training and validation text; its test splits are left alone.
        recipe: how the model was trained.
        candidates: heads that may go, in layout order.
        seed: makes all generators.
        folder: keeps the states of trainings, so that an interrupted one goes on.
        progress: hears how far long work has come.
        encoded: the training text, where it was encoded already.
        reference: the whole model, where `translator` is a smaller one that was made of it: what
            quality is compared with, and who teaches.
    """

    translator: Translator
    corpus: Corpus
    recipe: Recipe
    candidates: tuple[Head, ...]
    seed: int
    folder: Path
    progress: Progress = silent
    encoded: TrainingText | None = None
    reference: Translator | None = None

    @property
    def whole(self) -> Translator:
        """The model that a smaller one is compared with."""
        return self.reference or self.translator

    @cached_property
    def text(self) -> TrainingText:
        """The training text, encoded once for all trainings.

        Raises:
            UsageError: a model that was not trained by headcount.
        """
        if self.encoded is not None:
            return self.encoded
        if not isinstance(self.translator, TransformerTranslator):
            raise UsageError("only models that headcount trained can be trained on")
        sides = self.translator.vocabularies
        folder = self.folder / "text"
        return encoded(self.corpus.train, (sides["source"], sides["target"]), folder)

    def training(
        self, share: float, rate: float, *, average: int = 1, saves: int = 4
    ) -> TrainingSettings:
        """Return settings for training on.

        Args:
            share: updates over those of the run's own training.
            rate: highest learning rate over the run's own.
            average: checkpoints whose mean is taken at the end.
            saves: how often the state is kept, about, and a checkpoint measured where the best
                one is wanted.
        """
        own = self.recipe.training
        updates = max(1, round(own.updates * share))
        return own.with_changes(
            updates=updates,
            learning_rate=own.learning_rate * rate,
            warmup=max(1, min(updates // 4, max(WARMUP, updates // 20))),
            schedule="constant",
            cooldown=1.0,
            validate_every=max(1, updates // saves),
            validation_sentences=0,
            patience=0,
            minutes=0.0,
            average=average,
        )

    def train(
        self,
        what: str,
        translator: Translator,
        settings: TrainingSettings,
        about: Any = None,
        *,
        companion: Companion | None = None,
        teacher: Translator | None = None,
        frozen: tuple[str, ...] = (),
        keep_last: bool = False,
    ) -> TransformerTranslator:
        """Train a model on in a folder of its own, and tell the progress.

        Args:
            what: names the folder, one for each training of the task.
            translator: stays as it is.
            settings: see `training`.
            about: what else the training depends on, as JSON can hold it.
            companion, teacher, frozen, keep_last: see `Further`.
        """

        def report(figures: dict[str, float]) -> None:
            note = f"loss {figures['train_nll']:.3f}"
            self.progress(what, int(figures["update"]), settings.updates, note)

        further = Further(
            settings=settings,
            text=self.text,
            valid=self.corpus.valid,
            folder=self.folder / what,
            seed=self.seed,
            inputs=fingerprint([self.corpus.train.fingerprint, about]),
            report=report,
            companion=companion or Companion(),
            teacher=teacher,
            frozen=frozen,
            keep_last=keep_last,
        )
        return train_further(translator, further)[0]


@dataclass(frozen=True)
class Chosen:
    """What a way decided.

    Args:
        translator: the whole model from which the heads are to be cut: the one that was
            given, or the one that the way trained.
        order: the candidates, the first to go in front.
        left: how many candidates the way itself would leave, where it was given a price and
            not a number.
        history: for ways that train, what `Selector.keep_record` kept.
        candidates: in the order of the strengths in the history.
        trained: share of its recipe's updates that the model has behind it; below 1 for one
            whose training has only begun.
        share: updates of the training that chose over those of the recipe, where the model was
            trained by it.
    """

    translator: Translator
    order: tuple[Head, ...]
    left: int | None = None
    history: tuple[dict[str, Any], ...] = ()
    candidates: tuple[Head, ...] = ()
    trained: float = 1.0
    share: float = 0.0

    def removed(self, heads: int) -> tuple[Head, ...]:
        """Return the heads that go when `heads` candidates are left, the first in front.

        Raises:
            UsageError: more heads than there are, or less than none.
        """
        if not 0 <= heads <= len(self.order):
            raise UsageError(f"{heads} heads cannot be left of {len(self.order)}")
        return self.order[: len(self.order) - heads]


class Way(Settings):
    """A way to choose heads: its options, and how it chooses.

    Args:
        minimum: heads that stay in every attention sublayer, where it has as many.
    """

    one_order: ClassVar[bool] = True
    """Whether the order is the same for every number of heads, so that one serves them all."""

    seeded: ClassVar[bool] = False
    """Whether another seed gives another choice."""

    trains: ClassVar[bool] = False
    """Whether the choice trains the model on."""

    begins: ClassVar[bool] = False
    """Whether the choice is made at the beginning of a training of its own."""

    minimum: int = Field(default=0, ge=0)

    @abstractmethod
    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Choose which heads go.

        Args:
            task: the model and its text.
            heads: candidates that shall be left; None where a price decides.

        Raises:
            UsageError: options that do not fit the model.
        """

    def choice(self, task: Task, heads: int | None) -> Chosen:
        """Choose, and let no sublayer have fewer heads than `minimum`; see `choose`."""
        chosen = self.choose(task, heads)
        order = spared(chosen.order, chosen.translator.layout, self.minimum)
        return replace(chosen, order=order)

    def least(self, candidates: Sequence[Head], layout: HeadLayout) -> int:
        """Return how many candidates have to stay: one head at all, and `minimum` a sublayer."""
        mine = set(candidates)
        kept = (
            min(self.minimum, sum(Head(*attention, head) in mine for head in ids))
            for attention, ids in layout.by_attention
        )
        return max(fewest(layout, len(mine)), sum(kept))


way: Registry[type[Way]] = Registry("way")


def fewest(layout: HeadLayout, candidates: int) -> int:
    """Return how many of the candidates have to stay, so that the model has a head."""
    return 1 if candidates == len(layout) else 0


def spared(order: Sequence[Head], layout: HeadLayout, minimum: int) -> tuple[Head, ...]:
    """Put the heads that would leave a sublayer with too few of them at the end of an order.

    Args:
        order: the first to go in front.
        layout: all heads of the model.
        minimum: heads that stay in every attention sublayer.
    """
    left = {attention: len(ids) for attention, ids in layout.by_attention}
    going, staying = [], []
    for head in order:
        attention = Attention(head.site, head.layer)
        if left[attention] > minimum or not minimum:
            left[attention] -= 1
            going.append(head)
        else:
            staying.append(head)
    return (*going, *staying)
