"""The search for the smaller model that a goal asks for.

A number, a share or a price say which model to make. For an allowed loss the smallest model
within it is searched by bisection over the number of heads: every model that is tried is
chosen, cut, trained on and compared with the whole model on the same validation sentences.

For a gain of speed the largest model that is so much faster is searched in the same way: whole
and smaller model decode the same validation sentences in turn, and the median of the ratios
of their times counts. What is faster depends on the heads alone, so it is measured before
fine-tuning. Together with an allowed loss, the model that is found has to stay within it.

Pitfall: bisection takes it that more heads are never worse. Neighbouring numbers of heads
differ by noise, so a smaller model that would pass can be missed, never one accepted that
did not pass. Pitfall: what passed on validation text was selected there; its loss on test
text is the one to report, and can be larger.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...models.data.parallel_text import ParallelText
from ...models.errors import ThresholdError, UsageError
from ...models.gates import Head
from ...models.quality import Difference, bleu, paired
from ...models.translator import SearchSettings, Translator
from ..points import reference_losses
from ..provenance import Stopwatch
from .finish import Finish
from .goal import Goal
from .way import Chosen, Task, Way

SPEED_ROUNDS = 3
"""Times that whole and smaller model are timed in turn."""
LEAST, MOST = 0.1, 10.0
"""Prices in nats, for all heads together, that are proposed after one that did far too little
or far too much: between them some heads close and some stay in the models that we know."""


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
        task: the model that is cut, the whole one, and the text.
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
        self.whole = self._translations(self.task.whole)
        self.least = self.way.least(self.task.candidates, self.task.translator.layout)
        self._order: Chosen | None = None

    def run(self) -> tuple[Trial, str]:
        """Return the model that the goal asks for, and why it is this one.

        Raises:
            ThresholdError: no model meets the goal.
            UsageError: a goal that no model can have.
        """
        wanted = self.goal.count(self.task.translator.layout)
        if wanted is not None:
            if wanted < self.least:
                raise UsageError(
                    f"{wanted} heads cannot be left where every sublayer keeps {self.way.minimum} "
                    f"(--minimum): {self.least} have to stay"
                )
            return self._counted(wanted)
        if self.goal.speedup is not None:
            return self._faster(self.goal.speedup)
        if getattr(self.way, "price", None) is not None and self.goal.max_bleu_loss is None:
            return self._priced()
        if self.goal.max_bleu_loss is None:
            raise UsageError(
                "say how small the model shall be: a number of heads, a share, a loss of BLEU, or "
                "a speedup"
            )
        return self._smallest()

    def _counted(self, heads: int, why: str = "") -> tuple[Trial, str]:
        """Make the model with so many heads."""
        trial = self.trial(heads)
        if not trial.accepted:
            raise ThresholdError(
                f"with {heads} heads the validation loss is {trial.loss}, more than the "
                f"{self.goal.max_bleu_loss:g} allowed by its {self.goal.by}: keep more heads"
            )
        return trial, why or f"{self.goal.where}{heads} heads were asked for"

    def _faster(self, wanted: float) -> tuple[Trial, str]:
        """Bisect for the largest model that decodes `wanted` times as fast."""
        fast, slow = self.least, len(self.task.candidates)
        best = self._speedup(fast)
        if best < wanted:
            raise ThresholdError(
                f"no smaller model decodes {wanted:g} times as fast: with {fast} heads it is "
                f"{best:.2f} times; heads alone cannot give more here"
            )
        found = best
        while slow - fast > 1:
            heads = (fast + slow) // 2
            speedup = self._speedup(heads)
            if speedup >= wanted:
                fast, found = heads, speedup
            else:
                slow = heads
        said = f"with {fast} heads decoding is {found:.2f} times as fast, with {slow} it is not"
        return self._counted(fast, said)

    def _speedup(self, heads: int) -> float:
        """Return how many times as fast the cut model decodes: the median of interleaved pairs."""
        chosen = self._chosen(heads)
        cut = chosen.translator.without(chosen.removed(heads))
        ratios = []
        for _ in range(SPEED_ROUNDS):
            seconds = []
            for model in (self.task.whole, cut):
                clock = Stopwatch()
                model.translate(self.data.source, self.search)
                seconds.append(clock.seconds)
            ratios.append(seconds[0] / seconds[1])
        return float(np.median(ratios))

    def _priced(self) -> tuple[Trial, str]:
        """Make the model that a fixed price leaves."""
        clock = Stopwatch()
        price, total = float(getattr(self.way, "price", 0.0)), len(self.task.candidates)
        chosen = self.way.choice(self.task, None)
        left = total if chosen.left is None else chosen.left
        if left in (0, total):
            what, longer = ("all", "") if left == 0 else ("none", " or train for longer")
            try_ = min(price / 4, MOST) if left == 0 else max(price * 4, LEAST)
            raise ThresholdError(
                f"lambda {price:g} closes {what} of the {total} heads: try {try_:g}{longer}, or "
                "ask for a number of heads"
            )
        said = f"lambda {price:g} leaves {left} heads"
        if left < self.least:
            left, said = self.least, f"{said}, but {self.least} have to stay (--minimum)"
        return self._tried(left, chosen, clock), said

    def _smallest(self) -> tuple[Trial, str]:
        """Bisect for the smallest model whose loss is allowed."""
        total = len(self.task.candidates)
        refused, accepted = self.least - 1, total
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
        model = self.finish.finished(self.task, cut, str(heads), trained=chosen.trained)
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
