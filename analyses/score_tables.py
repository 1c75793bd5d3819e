"""The tables of the `score` analysis.

Every correlation here is of `HeadScores.importance`, which is larger for the more important
head, so that a metric whose low values mean importance agrees with the others in sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from itertools import combinations

import numpy as np

from ..probe.importance import HeadScores, Proof, metric
from ..probe.stream import Measured
from .columns import HEAD
from .ranking import between
from .result import Column, Table
from .stability import NEEDED, sentences_to_stable

HEADS = (
    Column("metric", "text", "importance metric"),
    *HEAD,
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
    Column("sentences", "whole", "sentences it was measured on"),
    Column("seconds", "number", "time to measure all heads by it alone, wall-clock", "seconds"),
    Column("higher_is_important", "truth", "whether a large value means an important head"),
    Column(
        "stable_sentences",
        "whole",
        f"sentences from which on its order agrees with that of all others (rho >= {NEEDED}); "
        "0 where it reads no text, empty where it is not reached",
        "sentences",
    ),
    Column("half_correlation", "number", "Spearman's rho between two halves of the sentences"),
    Column("proofs", "whole", "proofs that the metric gives of itself"),
    Column("proofs_hold", "truth", "whether all of them hold; empty where there is none"),
)
PROOFS = (
    Column("metric", "text", "importance metric"),
    Column("claim", "text", "what must hold"),
    Column("error", "number", "how far it is from holding", "see unit"),
    Column("tolerance", "number", "largest error that is rounding or stated", "see unit"),
    Column("unit", "text", "unit of error and tolerance; empty for a ratio"),
    Column("holds", "truth", "whether error <= tolerance"),
)

CHECKED = "Each metric against another way to its numbers, or a bound that they must keep."


def heads_table(measured: Mapping[str, HeadScores], seed: int, resamples: int, n: str) -> Table:
    """Return one row a metric and head, with the interval over sentences."""
    records = []
    for name, scores in measured.items():
        mean, normalised, ranks = scores.mean, scores.normalised, scores.ranks()  # each [head]
        # Every metric sees the same resamples, so that their intervals can be compared.
        drawn = scores.resampled(np.random.default_rng(seed), resamples)  # [resample, head]
        low, high = np.nanpercentile(drawn.numpy(), (2.5, 97.5), axis=0)  # each [head]
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
        "How much every head matters, by each metric; rank 1 is the most important.",
        HEADS,
        records,
        n=n,
        interval=f"95 % percentile bootstrap over sentences, {resamples} resamples",
    )


def agreement_table(measured: Mapping[str, HeadScores], n: str) -> Table:
    """Return the rank correlations of each pair of metrics over all heads.

    A correlation is undefined (NaN) where a metric gives all heads the same value.
    """
    records = []
    for one, other in combinations(measured, 2):
        tau, rho = between(*(measured[name].importance.numpy() for name in (one, other)))
        names = {"metric": one, "other": other}
        records.append({**names, "kendall": float(tau), "spearman": float(rho)})
    caption = "How far two metrics put the heads in the same order, the most important first."
    return Table.of(caption, AGREEMENT, records, n=n)


def proofs_table(
    proofs: Mapping[str, tuple[Proof, ...]],
    n: str,
    caption: str = CHECKED,
) -> Table:
    """Return one row a metric and claim."""
    records = [
        {"metric": name, **asdict(it), "holds": it.holds}
        for name, given in proofs.items()
        for it in given
    ]
    return Table.of(caption, PROOFS, records, n=n)


def metrics_table(
    measured: Mapping[str, Measured], proofs: Mapping[str, tuple[Proof, ...]], seed: int, n: str
) -> Table:
    """Return one row a metric: what it is, what it cost, how stable it is, and if it is proved."""
    records = []
    for name, (scores, seconds) in measured.items():
        counted = scores.counted  # some metrics measure the first few sentences alone
        stable, half = sentences_to_stable(counted, np.random.default_rng(seed))
        given = proofs[name]
        records.append(
            {
                "metric": name,
                "summary": metric.summary(name),
                "unit": scores.unit,
                "sentences": len(counted),
                "seconds": seconds,
                "higher_is_important": scores.higher_is_important,
                "stable_sentences": stable,
                "half_correlation": half,
                "proofs": len(given),
                "proofs_hold": all(it.holds for it in given) if given else None,
            }
        )
    caption = "The metrics, what they cost, how stable they are, and whether they are proved."
    return Table.of(caption, METRICS, records, n=n)
