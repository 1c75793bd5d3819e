"""Do two metrics put the heads in the same order? At each site, and over all heads.

All heads together can agree merely because one site matters more than another; within a site
that is not so, which is why each is given for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from ...probe.importance import HeadScores
from ..ranking import bounds, columns_of, kendall, means, resampled, spearman
from ..result import Column, Table
from .verdict import LEAVE_ONE_OUT

AGREEMENT = (
    Column("metric", "text", "importance metric"),
    Column("other", "text", "metric compared with"),
    Column("site", "text", "encoder, decoder, cross, or all heads"),
    Column("heads", "whole", "heads compared"),
    Column("kendall", "number", "Kendall's tau-b, -1 to 1; NaN: not defined"),
    Column("kendall_low", "number", "lower bound of the interval"),
    Column("kendall_high", "number", "upper bound of the interval"),
    Column("spearman", "number", "Spearman's rho, -1 to 1; NaN: not defined"),
    Column("spearman_low", "number", "lower bound of the interval"),
    Column("spearman_high", "number", "upper bound of the interval"),
)
FAITHFULNESS = (AGREEMENT[0], *AGREEMENT[2:])


def agreement_table(measured: Mapping[str, HeadScores], seed: int, resamples: int, n: str) -> Table:
    """Return the rank correlations of each pair of metrics, at each site and over all heads.

    Args:
        measured: metrics by name, all on the same sentences.
        seed: draws the resamples, the same for all metrics.
        resamples: bootstrap resamples of the sentences.
        n: what it rests on, in words.
    """
    names = list(measured)
    whole = [means(it, np.ones((1, len(it))))[0] for it in measured.values()]  # each [head]
    drawn = [resampled(it, seed, resamples) for it in measured.values()]  # each [resample, head]
    exact = np.stack(whole)  # [metric, head]
    chance = np.stack(drawn, axis=1)  # [resample, metric, head]
    records: list[dict[str, Any]] = []
    for site, columns in columns_of(next(iter(measured.values())).layout).items():
        found = {
            "kendall": (kendall(exact[:, columns]), bounds(kendall(chance[..., columns]))),
            "spearman": (spearman(exact[:, columns]), bounds(spearman(chance[..., columns]))),
        }
        for one, other in combinations(range(len(names)), 2):
            row: dict[str, Any] = {"metric": names[one], "other": names[other], "site": site}
            row["heads"] = len(columns)
            for name, (value, (low, high)) in found.items():
                row[name] = float(value[one, other])
                row[f"{name}_low"] = float(low[one, other])
                row[f"{name}_high"] = float(high[one, other])
            records.append(row)
    return Table.of(
        "How far two metrics put the heads in the same order.",
        AGREEMENT,
        records,
        n=n,
        interval=f"95 % percentile bootstrap over sentences, {resamples} resamples, "
        "the same for both metrics",
    )


def with_leave_one_out(agreement: Table) -> Table:
    """Return how far each metric orders single heads as leave-one-out does, which is exact."""
    rows = agreement.rows
    ours = rows[(rows["metric"] == LEAVE_ONE_OUT) | (rows["other"] == LEAVE_ONE_OUT)].copy()
    ours["metric"] = ours["metric"].where(ours["metric"] != LEAVE_ONE_OUT, ours["other"])
    ours = ours[[column.name for column in FAITHFULNESS]].reset_index(drop=True)
    caption = "How far each metric orders single heads as leave-one-out does, which is exact."
    return Table(caption, FAITHFULNESS, ours, agreement.n, agreement.interval)
