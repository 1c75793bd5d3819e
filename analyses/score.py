"""How much does every head matter? The `score` analysis.

Every chosen metric of the `metric` family is measured on the same validation sentences. The
table `heads` gives each head its value with a bootstrap interval over sentences, the value
normalised within its layer, and its rank; the table `agreement` says how far the metrics
order the heads alike. The rank is what a removal order is made of, and it comes from
validation text alone, so that the test split can judge the smaller models.

Pitfall: neighbouring ranks often mean nothing; look whether the intervals overlap.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import torch
from pydantic import Field
from scipy import stats

from ..models.data.parallel_text import Corpus
from ..models.settings import Settings
from ..models.translator import Translator
from ..probe.importance import HeadScores, Metric, metric
from .analysis import Progress, analysis, silent
from .provenance import Stopwatch, provenance
from .result import Column, Result, Table

HEADS = (
    Column("metric", "text", "importance metric"),
    Column("site", "text", "encoder, decoder or cross"),
    Column("layer", "whole", "layer, 0-based"),
    Column("head", "whole", "original id of the head in its layer, 0-based"),
    Column("value", "number", "importance over all sentences", "see unit"),
    Column("low", "number", "lower bound of the interval", "see unit"),
    Column("high", "number", "upper bound of the interval", "see unit"),
    Column("normalised", "number", "value / l2 norm of the values of its layer"),
    Column("rank", "whole", "1 = most important by this metric; ties in layout order"),
    Column("unit", "text", "unit of value, low and high"),
)
AGREEMENT = (
    Column("metric", "text", "importance metric"),
    Column("other", "text", "metric compared with"),
    Column("kendall", "number", "Kendall's tau-b of the two orders of heads, -1 to 1"),
    Column("spearman", "number", "Spearman's rho of the two orders of heads, -1 to 1"),
)
METRICS = (
    Column("metric", "text", "importance metric"),
    Column("summary", "text", "what it measures"),
    Column("unit", "text", "unit of its values"),
    Column("sentences", "whole", "validation sentences it was measured on"),
    Column("seconds", "number", "time to measure all heads, wall-clock", "seconds"),
    Column("higher_is_important", "truth", "whether a large value means an important head"),
)


class ScoreSettings(Settings):
    """What to measure, and on how much text.

    Args:
        metrics: members of the `metric` family, in the order of the tables.
        options: options of single metrics, `{"gradient": {"absolute": "token"}}`.
        sentences: the first so many sentences of the validation split.
        resamples: bootstrap resamples of the sentences for the intervals.
    """

    metrics: tuple[str, ...] = ("confidence", "gradient", "leave_one_out")
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    sentences: int = 300
    resamples: int = 1000

    def members(self) -> dict[str, Metric]:
        """Return the metrics with their options, by name.

        Raises:
            UsageError: an unknown metric, or an unknown option of one.
        """
        for name in self.options:
            metric[name]
        return {
            name: metric[name].from_dict(self.options.get(name, {}), f"score.options.{name}")
            for name in self.metrics
        }


@analysis("score")
def score(
    translator: Translator,
    corpus: Corpus,
    settings: ScoreSettings,
    seed: int,
    progress: Progress = silent,
) -> Result:
    """Measure the importance of every head on validation text.

    Raises:
        UsageError: an unknown metric, or an unknown option of one.
        DataError: the validation split is empty or holds empty sentences only.
    """
    stopwatch = Stopwatch()
    data = corpus.valid.head(settings.sentences)
    members = settings.members()
    measured: dict[str, HeadScores] = {}
    about: list[dict[str, Any]] = []
    for done, (name, member) in enumerate(members.items()):
        progress(f"score: {name}", done, len(members))
        clock = Stopwatch()
        generator = torch.Generator().manual_seed(seed)
        measured[name] = member.scores(translator, data, generator)
        about.append(_about(name, measured[name], clock.seconds))
    progress("score", len(members), len(members))
    n = f"{len(data)} validation sentences ({data.name})"
    tables = {
        "heads": heads_table(measured, seed, settings.resamples, n),
        "agreement": agreement_table(measured, n),
        "metrics": Table.of("The metrics and what they cost.", METRICS, about, n=n),
    }
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"valid": data.fingerprint},
        device=translator.device,
    )
    remarks = tuple(remark for member in members.values() for remark in member.remarks())
    return Result("score", tables, settings.model_dump(mode="json"), origin, remarks)


def heads_table(measured: dict[str, HeadScores], seed: int, resamples: int, n: str) -> Table:
    """Return one row a metric and head, with the interval over sentences."""
    records = []
    for name, scores in measured.items():
        # Every metric sees the same resamples, so that their intervals can be compared.
        drawn = scores.resampled(np.random.default_rng(seed), resamples)  # [resample, head]
        low, high = np.nanpercentile(drawn.numpy(), (2.5, 97.5), axis=0)  # each [head]
        mean, normalised, ranks = scores.mean, scores.normalised, scores.ranks()
        for column, head in enumerate(scores.layout):
            records.append(
                {
                    "metric": name,
                    **head._asdict(),
                    "value": float(mean[column]),
                    "low": float(low[column]),
                    "high": float(high[column]),
                    "normalised": float(normalised[column]),
                    "rank": int(ranks[column]),
                    "unit": scores.unit,
                }
            )
    return Table.of(
        "How much every head matters, by each metric. Larger means more important.",
        HEADS,
        records,
        n=n,
        interval=f"95 % percentile bootstrap over sentences, {resamples} resamples",
    )


def agreement_table(measured: dict[str, HeadScores], n: str) -> Table:
    """Return the rank correlations of each pair of metrics over all heads."""
    records = []
    for one, other in combinations(measured, 2):
        pair = measured[one].mean.numpy(), measured[other].mean.numpy()  # each [head]
        records.append(
            {
                "metric": one,
                "other": other,
                "kendall": float(stats.kendalltau(*pair).statistic),
                "spearman": float(stats.spearmanr(*pair).statistic),
            }
        )
    caption = "How far two metrics put the heads in the same order."
    return Table.of(caption, AGREEMENT, records, n=n)


def _about(name: str, scores: HeadScores, seconds: float) -> dict[str, Any]:
    """Return a row of the table `metrics`."""
    return {
        "metric": name,
        "summary": metric.summary(name),
        "unit": scores.unit,
        "sentences": len(scores),
        "seconds": seconds,
        "higher_is_important": scores.higher_is_important,
    }
