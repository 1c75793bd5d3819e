"""Is importance concentrated in few heads? The Gini coefficient and the share of the top fifth.

    G = sum over i of (2 i - H - 1) x_i / (H sum of x),   x ascending, i = 1 ... H

is 0 when all heads are worth the same and (H - 1) / H when one head has everything (Gini
1912). The share of the top fifth is what the ceil(H / 5) largest have of the sum. A value
below zero (a head without which the model is better) counts as zero: there is no negative
share of a sum.

A metric whose small values matter, such as entropy, has no zero that means nothing, so
neither number is defined for it. Pitfall: any metric is concentrated to some degree, also in
a network that has learnt nothing; so the same network with random weights stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...probe.importance import HeadScores
from ..ranking import Array, bounds, means, resampled
from ..result import Column, Table

CONCENTRATION = (
    Column("metric", "text", "importance metric"),
    Column("measure", "text", "gini, or top_fifth: share of the largest fifth of the heads"),
    Column("value", "number", "of the positive parts, 0 to 1; NaN: not defined"),
    Column("low", "number", "lower bound of the interval"),
    Column("high", "number", "upper bound of the interval"),
    Column("random_weights", "number", "mean over networks with random weights"),
    Column("random_low", "number", "smallest of those networks"),
    Column("random_high", "number", "largest of those networks"),
    Column("networks", "whole", "networks with random weights"),
)


def gini(values: Array) -> Array:
    """Return the Gini coefficient of the positive parts [..., head]  # [...]."""
    ascending = np.sort(np.where(values < 0, 0, values), axis=-1)  # [..., head]
    count = values.shape[-1]
    places = 2 * np.arange(1, count + 1) - count - 1  # [head]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((ascending * places).sum(-1) / (count * ascending.sum(-1)))


def top_fifth(values: Array) -> Array:
    """Return the share of the largest fifth of the positive parts [..., head]  # [...]."""
    ascending = np.sort(np.where(values < 0, 0, values), axis=-1)  # [..., head]
    top = -(-values.shape[-1] // 5)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(ascending[..., -top:].sum(-1) / ascending.sum(-1))


MEASURES = {"gini": gini, "top_fifth": top_fifth}


def concentration_table(
    measured: Mapping[str, HeadScores],
    untrained: Sequence[Mapping[str, HeadScores]],
    seed: int,
    resamples: int,
    n: str,
) -> Table:
    """Return both measures of each metric, for the model and for random weights.

    Args:
        measured: metrics of the model by name.
        untrained: the same metrics of networks with random weights, one mapping a network.
        seed: draws the resamples.
        resamples: bootstrap resamples of the sentences.
        n: what it rests on, in words.
    """
    records: list[dict[str, Any]] = []
    for name, scores in measured.items():
        own = means(scores, np.ones((1, len(scores))))[0]  # [head]
        drawn = resampled(scores, seed, resamples)  # [resample, head]
        chance = [means(it[name], np.ones((1, len(it[name]))))[0] for it in untrained]
        for measure, function in MEASURES.items():
            row: dict[str, Any] = {"metric": name, "measure": measure}
            row["networks"] = len(chance)
            if scores.higher_is_important:
                low, high = bounds(function(drawn))
                row |= {"value": float(function(own)), "low": float(low), "high": float(high)}
                found = [float(function(it)) for it in chance]
                if found:
                    row["random_weights"] = float(np.mean(found))
                    row |= {"random_low": min(found), "random_high": max(found)}
            records.append(row)
    return Table.of(
        "How far importance is concentrated in few heads, beside the same network with random "
        "weights. Values below zero count as zero; a metric whose small values matter has none.",
        CONCENTRATION,
        records,
        n=n,
        interval=f"95 % percentile bootstrap over sentences, {resamples} resamples",
    )
