"""What the `reliability` analysis is asked, and of how much text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from ...models.data.parallel_text import ParallelText
from ...models.settings import Settings
from ...models.translator import SearchSettings, Translator
from ...probe.importance import Metric, metric
from ..score import USUAL
from .verdict import LEAVE_ONE_OUT, Thresholds


class ReliabilitySettings(Settings):
    """How much is asked of the metrics, and on how much text.

    What is not said is what a run of minutes can afford; a study asks for more sentences,
    more points of the curves, BLEU and the greedy order.

    Args:
        metrics: members of the `metric` family; leave-one-out is added, for all are compared
            with it. None takes those that were scored, or the usual ones.
        options: options of single metrics, `{"gradient": {"absolute": "token"}}`.
        split: `valid`, or `train` where validation text is too short; never test text.
        sentences: the first so many sentences of it measure importance.
        resamples: bootstrap resamples of the sentences.
        splits: random splits for stability.
        sizes: numbers of sentences that are compared with the other sentences, each where at
            least as many are left.
        curve_sentences: so many other validation sentences measure the removal curves.
        shares: of all heads, how many are left at each point of a curve.
        draws: random orders.
        bleu: whether the smaller models of the curves translate as well.
        search: how they do.
        greedy: whether to make the greedy order; None makes it for at most `greedy_heads`.
        greedy_heads: the largest model whose greedy order is made without being asked.
        greedy_sentences: the first so many of `sentences` make it.
        random_networks: networks with random weights.
        random_sentences: the first so many of `sentences` measure importance in them.
        proof_sentences: sentences on which metrics prove themselves.
        thresholds: where a metric becomes believable.
        jobs: processes that translate; 0 takes one a core on a CPU and one on a GPU.
    """

    metrics: tuple[str, ...] | None = None
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    split: Literal["valid", "train"] = "valid"
    sentences: int = Field(default=100, ge=1)
    resamples: int = Field(default=200, ge=1)
    splits: int = Field(default=20, ge=1)
    sizes: tuple[int, ...] = (50, 100, 200, 500, 1000)
    curve_sentences: int = Field(default=50, ge=0)
    shares: tuple[float, ...] = (1, 3 / 4, 1 / 2, 1 / 4, 1 / 8, 0)
    draws: int = Field(default=3, ge=1)
    bleu: bool = False
    search: SearchSettings = SearchSettings(beam=1)
    greedy: bool | None = None
    greedy_heads: int = 24
    greedy_sentences: int = Field(default=50, ge=1)
    random_networks: int = Field(default=1, ge=0)
    random_sentences: int = Field(default=50, ge=1)
    proof_sentences: int = Field(default=4, ge=1)
    thresholds: Thresholds = Thresholds()
    jobs: int = 0

    def members(self) -> dict[str, Metric]:
        """Return the metrics with their options by name, leave-one-out among them.

        Raises:
            UsageError: an unknown metric, or an unknown option of one.
        """
        for name in self.options:
            metric[name]
        names = dict.fromkeys((*(self.metrics or USUAL), LEAVE_ONE_OUT))
        return {
            name: metric[name].from_dict(self.options.get(name, {}), f"reliability.options.{name}")
            for name in names
        }

    def makes_greedy(self, heads: int) -> bool:
        """Say whether the greedy order is made for a model of so many heads."""
        return self.greedy if self.greedy is not None else heads <= self.greedy_heads


@dataclass(frozen=True)
class Other:
    """Another model, or the same model's other text, to compare with.

    Args:
        name: for tables.
        translator: the model.
        text: validation text of it.
    """

    name: str
    translator: Translator
    text: ParallelText
