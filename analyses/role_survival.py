"""Which roles go first when heads are removed? Survival of heads with a role, order by order.

An order of removal gives every head a time: the share of heads that went before it. Heads of a
family of roles are set beside the heads without, as patients of two groups are:

    mean time          of both groups; 0.5 is expected of a random order
    p                  log-rank test (Mantel 1966), two-sided: do the two groups go alike?
    p_within           permutation of who has the role within each site, of the mean time

Encoder heads go first and cross heads last in most orders, and roles differ between sites as
well, so p_within is the one to look at. Random orders are shown as one, what the same table says
of nothing: times are means of the draws, and so is what is left of the heads of each draw.

Pitfall: an order by confidence removes heads that look at many tokens first, and a head that
looks at one offset is confident by definition. Look at orders that know nothing of attention:
leave-one-out, gradient, LRP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ..models.gates import Head
from .removal import RANDOM
from .result import Column, Table

Array = NDArray[np.float64]
ANY = "any"
PERMUTATIONS = 2000
TIME = "share of heads gone before, 0 to 1"
SURVIVAL = (
    Column("order", "text", "order of removal: a metric, or random (mean of the draws)"),
    Column("family", "text", "family of roles, or any of them but rest"),
    Column("having", "whole", "heads with such a role"),
    Column("lacking", "whole", "heads without"),
    Column("time", "number", "mean time of heads with such a role", TIME),
    Column("time_low", "number", "lower bound of the interval", TIME),
    Column("time_high", "number", "upper bound of the interval", TIME),
    Column("time_lacking", "number", "mean time of heads without", TIME),
    Column("left_half", "number", "of heads with it, left when half of all heads are", "share"),
    Column("left_quarter", "number", "of heads with it, left when a quarter is", "share"),
    Column("p", "number", "log-rank test, two-sided; empty for random", "probability"),
    Column("p_within", "number", "permutation within sites, two-sided", "probability"),
)


def survival_table(
    removals: pd.DataFrame,
    heads: Sequence[Head],
    having: Mapping[str, set[Head]],
    *,
    resamples: int,
    seed: int,
    n: str,
) -> Table:
    """Set heads with roles beside heads without, for each order of removal.

    Args:
        removals: table `removals` of the analysis `prune`.
        heads: of the model.
        having: heads with a role, by family.
        resamples: of the heads, for the intervals.
        seed: of resamples and permutations.
        n: what roles rest on, in words.
    """
    rows = []
    for order, steps in removals.groupby("order", sort=False):
        times = _times(steps, heads)
        for family, group in having.items():
            has = np.array([head in group for head in heads])
            if has.any() and not has.all():
                found = compared_times(times, has, heads, resamples, seed)
                if order == RANDOM:
                    found["p"] = None
                rows.append({"order": str(order), "family": family, **found})
    caption = "When heads with a role go, beside heads without, if heads are removed in an order."
    how = f"95 % percentile bootstrap over heads, {resamples} resamples"
    return Table.of(caption, SURVIVAL, rows, n=n, interval=how)


def _times(steps: pd.DataFrame, heads: Sequence[Head]) -> Array:
    """Return the time of every head in every draw; heads that never go have 1  # [draw, head]."""
    column = {head: place for place, head in enumerate(heads)}
    draws = steps["draw"].unique()
    times = np.ones((len(draws), len(heads)))  # [draw, head]
    for draw, rows in enumerate(steps.groupby("draw")):
        for row in rows[1].to_dict("records"):
            head = Head(str(row["site"]), int(row["layer"]), int(row["head"]))
            if head in column:
                times[draw, column[head]] = (int(row["step"]) - 1) / len(heads)
    return times


def compared_times(
    times: Array, has: NDArray[np.bool_], heads: Sequence[Head], resamples: int, seed: int
) -> dict[str, object]:
    """Compare the times of heads with a role and of those without.

    Args:
        times: share of heads that go before, in every draw of the order; 1 for a head that
            never goes [draw, head]
        has: whether a head has the role [head]
        heads: in the same order; they say the sites.
    """
    generator = np.random.default_rng(seed)
    # Every head's mean time is near a half where there are many draws; what is left is of each.
    left = {share: float((times[:, has] >= 1 - share).mean()) for share in (0.5, 0.25)}
    times = times.mean(0)  # [head]
    own, others = times[has], times[~has]
    drawn = own[generator.integers(len(own), size=(resamples, len(own)))].mean(1)  # [resample]
    low, high = np.percentile(drawn, (2.5, 97.5)) if resamples else (np.nan, np.nan)
    never = [stats.CensoredData(it[it < 1], right=it[it >= 1]) for it in (own, others)]
    sites = np.array([head.site for head in heads])
    by_site = [(times[sites == site], int(has[sites == site].sum())) for site in sorted({*sites})]
    expected = sum(float(here.mean()) * count for here, count in by_site)
    off = abs(own.sum() - expected)
    totals = np.zeros(PERMUTATIONS)  # the mean time of the group is its total, up to a constant
    for here, count in by_site:
        dealt = generator.permuted(np.tile(here, (PERMUTATIONS, 1)), axis=1)  # [permutation, head]
        totals += dealt[:, :count].sum(1)
    beyond = int((np.abs(totals - expected) >= off - 1e-12).sum())
    return {
        "having": len(own),
        "lacking": len(others),
        "time": own.mean(),
        "time_low": low,
        "time_high": high,
        "time_lacking": others.mean(),
        "left_half": left[0.5],
        "left_quarter": left[0.25],
        "p": float(stats.logrank(*never).pvalue),
        "p_within": (beyond + 1) / (PERMUTATIONS + 1),
    }
