"""Which heads two runs agree on, where their networks have the same shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..models.gates import SITES, Head, HeadLayout
from .ranking import between, columns_of
from .reliability.stability import shuffled_within
from .result import Column, Result

Record = dict[str, Any]
TOP = 0.2  # of the heads, the most important

AGREEMENT = (
    Column("run", "text", "a run"),
    Column("baseline", "text", "the run it is compared with"),
    Column("metric", "text", "importance metric"),
    Column("site", "text", "encoder, decoder or cross; all for all of them"),
    Column("heads", "whole", "heads compared"),
    Column("kendall", "number", "Kendall's tau-b of heads by number"),
    Column("spearman", "number", "Spearman's rho of heads by number"),
    Column("chance", "number", "mean rho with the heads of each sublayer shuffled"),
    Column("top", "whole", "heads that count as most important in each run"),
    Column("shared", "whole", "of these, heads that are so in both runs"),
    Column("expected", "number", "shared heads to be expected of two random orders"),
    Column("names", "text", "the shared heads"),
    Column("same_model", "truth", "whether both runs hold the same weights"),
)


def agreement_rows(
    runs: Mapping[str, Mapping[str, Result]], seed: int, remarks: list[str]
) -> list[Record]:
    """Return the rows of `AGREEMENT` for every two runs and every metric that both have.

    Args:
        runs: the Results of each run, by its name.
        seed: of the shuffles.
        remarks: what could not be compared is added here.
    """
    scored = {name: results["score"] for name, results in runs.items() if "score" in results}
    rows: list[Record] = []
    for baseline, run in combinations(scored, 2):
        pair = scored[baseline], scored[run]
        heads = [_heads(result) for result in pair]
        if heads[0] != heads[1]:
            sizes = f"{len(heads[0])} and {len(heads[1])} heads"
            remarks.append(
                f"{baseline} and {run} have different heads ({sizes}); none are compared."
            )
            continue
        same = pair[0].provenance.model == pair[1].provenance.model
        about = {"run": run, "baseline": baseline, "same_model": same}
        values = [_importance(result, heads[0]) for result in pair]
        for metric in values[0]:
            if metric in values[1]:
                both = values[0][metric], values[1][metric]
                found = _agreement(both, heads[0], np.random.default_rng(seed))
                rows += [{**about, "metric": metric, **row} for row in found]
    return rows


def _heads(result: Result) -> list[Head]:
    """Return the heads that were scored, in the order of the layout."""
    rows = result.tables["heads"].rows[["site", "layer", "head"]].drop_duplicates()
    heads = [Head(str(site), int(layer), int(head)) for site, layer, head in rows.to_numpy()]
    return sorted(heads, key=lambda head: (SITES.index(head.site), head.layer, head.head))


def _importance(result: Result, heads: Sequence[Head]) -> dict[str, Any]:
    """Return every metric's importance of the heads, larger for more  # each [head]."""
    metrics = result.tables["metrics"].rows.set_index("metric")["higher_is_important"]
    found = {}
    for name, rows in result.tables["heads"].rows.groupby("metric", sort=False):
        by_head = rows.set_index(["site", "layer", "head"])["value"]
        values = np.array([by_head.get(tuple(head), np.nan) for head in heads], dtype=np.float64)
        higher = metrics.get(name, True)
        found[str(name)] = values if pd.isna(higher) or higher else -values
    return found


def _agreement(
    both: tuple[Any, Any], heads: Sequence[Head], generator: np.random.Generator
) -> list[Record]:
    """Return one row for all heads and one for each site."""
    layout = HeadLayout.from_dict(
        {
            site: [
                [head.head for head in heads if (head.site, head.layer) == (site, layer)]
                for layer in range(1 + max((h.layer for h in heads if h.site == site), default=-1))
            ]
            for site in SITES
        }
    )
    shuffled = shuffled_within(both[1], layout, generator)  # [shuffle, head]
    rows = []
    for site, columns in columns_of(layout).items():
        one, other = both[0][columns], both[1][columns]
        tau, rho = between(one, other)
        top = max(1, round(TOP * len(columns)))
        best = [set(np.argsort(-it, kind="stable")[:top].tolist()) for it in (one, other)]
        shared = sorted(best[0] & best[1])
        rows.append(
            {
                "site": site,
                "heads": len(columns),
                "kendall": float(tau),
                "spearman": float(rho),
                "chance": float(np.mean(between(one, shuffled[:, columns])[1])),
                "top": top,
                "shared": len(shared),
                "expected": top * top / len(columns),
                "names": ", ".join(str(heads[columns[place]]) for place in shared),
            }
        )
    return rows
