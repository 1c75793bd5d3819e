"""How alike two metrics order the same heads: Kendall's tau-b and Spearman's rho, in bulk.

    tau-b = (concordant - discordant) / sqrt(pairs untied in a x pairs untied in b)
    rho   = Pearson's correlation of the ranks, ties given their mean rank

(Kendall 1945; Spearman 1904). Both are -1 for opposite orders, 0 for unrelated and 1 for
equal ones. Where a metric gives all heads the same value there is no order and neither is
defined: they are NaN then and stay NaN.

Bootstrap intervals need thousands of them for every pair of metrics. For a row of values let
s be the signs of all differences between two heads; then the numerator of tau-b is the
product s_a . s_b and its denominator the product of their lengths, so all metrics against
all metrics are one matrix product for each resample. Rho is the same with centred ranks.

Pitfall: a resample is noisier than the sample it was drawn from, and noise takes order away;
so a correlation often lies near the upper end of its own interval.

Before anything is compared, values are turned so that larger means more important.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..models.gates import SITES, HeadLayout
from ..probe.importance import HeadScores

Array = NDArray[np.float64]
ALL = "all"
_HELD = 8_000_000  # signs held at once: 32 MB


def oriented(scores: HeadScores, values: Array) -> Array:
    """Return values turned so that larger means more important  # as given."""
    return values if scores.higher_is_important else -values


def means(scores: HeadScores, counts: Array) -> Array:
    """Return every head's importance over several choices of sentences.

    Args:
        scores: what a metric found.
        counts: how often each sentence is taken  # [choice, sentence]

    Returns:
        importance, larger for more; NaN where no sentence counts  # [choice, head]
    """
    weights = scores.weights.numpy()  # [sentence, head]
    total = counts @ weights  # [choice, head]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = counts @ (scores.values.numpy() * weights) / total  # [choice, head]
    return oriented(scores, mean)


def resampled(scores: HeadScores, seed: int, resamples: int) -> Array:
    """Return importance over bootstrap resamples of the sentences  # [resample, head].

    Metrics that were measured on the same sentences get the same resamples from one seed. A
    single sentence cannot be resampled and gives NaN.
    """
    if len(scores) < 2:
        return np.full((resamples, len(scores.layout)), np.nan)
    return oriented(scores, scores.resampled(np.random.default_rng(seed), resamples).numpy())


def columns_of(layout: HeadLayout) -> dict[str, list[int]]:
    """Return the gate columns of all heads and of each site that has heads."""
    sites = {site: [i for i, head in enumerate(layout) if head.site == site] for site in SITES}
    return {ALL: list(range(len(layout))), **{site: at for site, at in sites.items() if at}}


def kendall(values: Array) -> Array:
    """Return tau-b of every row with every other.

    Args:
        values: importance of heads by several metrics  # [..., metric, head]

    Returns:
        NaN where a metric does not tell the heads apart  # [..., metric, metric]
    """
    first, second = np.triu_indices(values.shape[-1], 1)
    flat = values.reshape(-1, *values.shape[-2:])  # [row, metric, head]
    size = values.shape[-2]
    result = np.empty((len(flat), size, size))  # [row, metric, metric]
    step = max(1, _HELD // max(size * len(first), 1))
    for start in range(0, len(flat), step):
        rows = flat[start : start + step]
        # Sums of signs are whole numbers far below 2^24, so float32 holds them exactly.
        signs = np.sign(rows[..., first] - rows[..., second]).astype(np.float32)
        result[start : start + step] = _cosines(signs)
    return result.reshape(*values.shape[:-1], size)


def spearman(values: Array) -> Array:
    """Return rho of every row with every other, shapes as in `kendall`."""
    ranks = stats.rankdata(values, axis=-1)  # [..., metric, head]
    ranks = np.where(np.isnan(values).any(-1, keepdims=True), np.nan, ranks)
    return _cosines(ranks - ranks.mean(-1, keepdims=True))


def _cosines(rows: Array | NDArray[np.float32]) -> Array:
    """Return the cosine of every row with every other; NaN where a row is zero."""
    products = (rows @ rows.swapaxes(-1, -2)).astype(np.float64)  # [..., metric, metric]
    lengths = np.sqrt(np.diagonal(products, axis1=-2, axis2=-1))  # [..., metric]
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = products / (lengths[..., :, None] * lengths[..., None, :])
    return np.asarray(np.clip(cosines, -1, 1))


def between(one: Array, other: Array) -> tuple[Array, Array]:
    """Return tau-b and rho of matching rows [..., head]  # two of [...]."""
    pair = np.stack(np.broadcast_arrays(one, other), axis=-2)  # [..., 2, head]
    return kendall(pair)[..., 0, 1], spearman(pair)[..., 0, 1]


def bounds(drawn: Array) -> tuple[Array, Array]:
    """Return the 2.5 and 97.5 percentiles over the first axis, NaN where nothing is defined."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "All-NaN slice", RuntimeWarning)
        low, high = np.nanpercentile(drawn, (2.5, 97.5), axis=0)
    return np.asarray(low), np.asarray(high)
