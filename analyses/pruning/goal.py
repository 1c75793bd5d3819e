"""How small a model shall be, and the search for it.

A goal is a number of heads, a share of them, a price for a head, or a loss of BLEU that is
allowed. The first three say which model to make. For the last the smallest model within the
loss is searched by bisection over the number of heads: every model that is tried is chosen,
cut, trained on and compared with the whole model on the same validation sentences. The loss
is allowed when the upper bound of its interval (95 %, paired bootstrap) is inside, or, on
request, when its mean is: a bound that is inside needs more sentences or fewer removals, and
then means what it says.

The goal counts heads of the sites that may be pruned; heads of the other sites all stay.

Pitfall: bisection takes it that more heads are never worse. Neighbouring numbers of heads
differ by noise, so a smaller model that would pass can be missed, never one accepted that
did not pass. Pitfall: what passed on validation text was selected there; its loss on test
text is the one to report, and can be larger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from ...models.data.parallel_text import ParallelText
from ...models.errors import ThresholdError, UsageError, did_you_mean
from ...models.gates import SITES, Head, HeadLayout
from ...models.pruning.plan import PruningPlan
from ...models.quality import Difference, bleu, paired
from ...models.settings import Settings
from ...models.translator import SearchSettings, Translator
from ...probe.importance import metric
from ..points import reference_losses
from ..provenance import Stopwatch
from .finish import Finish
from .importance import ByImportance
from .way import Chosen, Task, Way, way


class Goal(Settings):
    """How small the model shall be.

    Args:
        heads: heads that shall be left at the sites.
        keep: the share of their heads that shall be left.
        max_bleu_loss: BLEU points that may be lost against the whole model.
        by: what of the loss has to be inside: the upper `bound` of its interval, or its `mean`.
        sites: where heads may go.
    """

    heads: int | None = Field(default=None, ge=0)
    keep: float | None = Field(default=None, ge=0, le=1)
    max_bleu_loss: float | None = Field(default=None, ge=0)
    by: Literal["bound", "mean"] = "bound"
    sites: tuple[str, ...] = SITES

    @model_validator(mode="after")
    def _sites_exist(self) -> Goal:
        for site in self.sites:
            if site not in SITES:
                raise UsageError(f"unknown site '{site}'" + did_you_mean(site, SITES))
        if self.heads is not None and self.keep is not None:
            raise UsageError("give a number of heads or a share of them, not both")
        return self

    def candidates(self, layout: HeadLayout) -> tuple[Head, ...]:
        """Return the heads that may go.

        Raises:
            UsageError: the sites have no heads.
        """
        heads = tuple(head for head in layout if head.site in self.sites)
        if not heads:
            raise UsageError(f"the model has no heads at {', '.join(self.sites)} to remove")
        return heads

    def count(self, layout: HeadLayout) -> int | None:
        """Return the number of heads that shall be left at the sites; None where it is open.

        Raises:
            UsageError: more heads than there are, or none in the whole model.
        """
        total = len(self.candidates(layout))
        if self.heads is None and self.keep is None:
            return None
        wanted = self.heads if self.heads is not None else round(total * (self.keep or 0))
        if wanted > total:
            raise UsageError(f"{wanted} heads cannot be left of {total}: ask for less than {total}")
        if wanted < fewest(layout, total):
            raise UsageError("a model without any head cannot translate: leave at least one head")
        return wanted

    def allows(self, loss: Difference) -> bool:
        """Say whether a loss of BLEU (a negative difference) is within what is allowed."""
        if self.max_bleu_loss is None:
            return True
        worst = loss.low if self.by == "bound" else loss.difference
        return -worst <= self.max_bleu_loss


def fewest(layout: HeadLayout, candidates: int) -> int:
    """Return how many of the candidates have to stay, so that the model has a head."""
    return 1 if candidates == len(layout) else 0


def way_of(name: str, options: dict[str, Any]) -> Way:
    """Return the way of a name; the name of a metric means its order of importance.

    Raises:
        UsageError: neither, or an option that the way does not have.
    """
    if name in way:
        return way[name].from_dict(options, f"way {name}")
    if name in metric:
        return ByImportance.from_dict({"metric": name, **options}, f"way {name}")
    raise UsageError(f"unknown way '{name}'" + did_you_mean(name, [*way, *metric]))


class Planned(Way):
    """The heads of a plan go, and no others."""

    removed: tuple[Head, ...]

    @classmethod
    def by(cls, plan: PruningPlan) -> Planned:
        """Return the way that follows a plan."""
        return cls(removed=plan.removed)

    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Put the heads of the plan in front; see `Way.choose`."""
        rest = tuple(head for head in task.candidates if head not in self.removed)
        return Chosen(task.translator, (*self.removed, *rest))


@dataclass(frozen=True)
class Trial:
    """One smaller model, as it did on validation text.

    Args:
        heads: heads that are left at the sites.
        model: with the heads cut out, after fine-tuning.
        chosen: how they were chosen.
        removed: the heads that are gone, the first in front.
        bleu: on validation text.
        difference: BLEU less the whole model's.
        nll: nats a token.
        accepted: whether the loss is within what is allowed.
        seconds: for choosing, training and measuring.
    """

    heads: int
    model: Translator
    chosen: Chosen
    removed: tuple[Head, ...]
    bleu: float
    difference: Difference
    nll: float
    accepted: bool
    seconds: float

    @property
    def loss(self) -> str:
        """Return the loss of BLEU with its interval, for sentences."""
        found = self.difference
        numbers = (-found.difference, -found.high, -found.low)
        return "{:.2f} [{:.2f}, {:.2f}] BLEU points".format(*(it + 0.0 for it in numbers))


@dataclass
class Search:
    """Tries smaller models and keeps what each of them did.

    Args:
        task: the whole model and its text.
        way: how heads are chosen.
        finish: what is done after they are gone.
        goal: what is searched.
        data: validation sentences.
        search: how to translate them.
        resamples: bootstrap resamples of the sentences.
    """

    task: Task
    way: Way
    finish: Finish
    goal: Goal
    data: ParallelText
    search: SearchSettings
    resamples: int
    tried: dict[int, Trial] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whole = self._translations(self.task.translator)
        self._order: Chosen | None = None

    def run(self) -> tuple[Trial, str]:
        """Return the model that the goal asks for, and why it is this one.

        Raises:
            ThresholdError: no model meets the goal.
            UsageError: a goal that no model can have.
        """
        wanted = self.goal.count(self.task.translator.layout)
        if wanted is not None:
            return self._counted(wanted)
        if getattr(self.way, "price", None) is not None and self.goal.max_bleu_loss is None:
            return self._priced()
        if self.goal.max_bleu_loss is None:
            raise UsageError(
                "say how small the model shall be: a number of heads, a share, or a loss of BLEU"
            )
        return self._smallest()

    def _counted(self, heads: int) -> tuple[Trial, str]:
        """Make the model with so many heads."""
        trial = self.trial(heads)
        if not trial.accepted:
            raise ThresholdError(
                f"with {heads} heads the validation loss is {trial.loss}, more than the "
                f"{self.goal.max_bleu_loss:g} allowed by its {self.goal.by}: keep more heads"
            )
        return trial, f"{heads} heads were asked for"

    def _priced(self) -> tuple[Trial, str]:
        """Make the model that a fixed price leaves."""
        price, total = float(getattr(self.way, "price", 0.0)), len(self.task.candidates)
        chosen = self.way.choice(self.task, None)
        left = total if chosen.left is None else chosen.left
        if left in (0, total):
            what = "all" if left == 0 else "none"
            try_ = price / 4 if left == 0 else price * 4
            raise ThresholdError(
                f"lambda {price:g} closes {what} of the {total} heads: try {try_:g}, or ask for a "
                "number of heads"
            )
        return self._tried(left, chosen, Stopwatch()), f"lambda {price:g} leaves {left} heads"

    def _smallest(self) -> tuple[Trial, str]:
        """Bisect for the smallest model whose loss is allowed."""
        total = len(self.task.candidates)
        refused, accepted = fewest(self.task.translator.layout, total) - 1, total
        while accepted - refused > 1:
            heads = (accepted + refused) // 2
            if self.trial(heads).accepted:
                accepted = heads
            else:
                refused = heads
        limit = f"the {self.goal.max_bleu_loss:g} allowed by its {self.goal.by}"
        if accepted == total:
            nearest = max(self.tried.values(), key=lambda it: it.heads)
            raise ThresholdError(
                f"no smaller model stays within {limit}: with {nearest.heads} of {total} heads "
                f"the validation loss is {nearest.loss}; allow more, train on for longer, or "
                "measure on more sentences"
            )
        trial = self.tried[accepted]
        if refused in self.tried:
            more = self.tried[refused]
            return trial, f"with {refused} heads the loss is {more.loss}, more than {limit}"
        return trial, "no heads are left to remove"

    def trial(self, heads: int) -> Trial:
        """Choose, cut, train on and measure, or return what was found before."""
        if heads not in self.tried:
            clock = Stopwatch()
            self._tried(heads, self._chosen(heads), clock)
        return self.tried[heads]

    def _chosen(self, heads: int) -> Chosen:
        if not self.way.one_order:
            return self.way.choice(self.task, heads)
        if self._order is None:
            self._order = self.way.choice(self.task, heads)
        return self._order

    def _tried(self, heads: int, chosen: Chosen, clock: Stopwatch) -> Trial:
        removed = chosen.removed(heads)
        cut = chosen.translator.without(removed)
        model = self.finish.finished(self.task, cut, str(heads), converged=chosen.converged)
        said = self._translations(model)
        generator = np.random.default_rng(self.task.seed)
        sides = (self.whole, said, self.data.target)
        difference = paired("bleu", *sides, generator, resamples=self.resamples)
        losses, tokens = reference_losses(model, self.data)
        self.tried[heads] = Trial(
            heads=heads,
            model=model,
            chosen=chosen,
            removed=removed,
            bleu=bleu(said, self.data.target, generator, resamples=1).score,
            difference=difference,
            nll=sum(losses) / sum(tokens),
            accepted=self.goal.allows(difference),
            seconds=clock.seconds,
        )
        return self.tried[heads]

    def _translations(self, translator: Translator) -> list[str]:
        return [it.text for it in translator.translate(self.data.source, self.search)]
