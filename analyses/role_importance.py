"""Do important heads have roles? Odds, with a null that keeps every site as it is.

A head is IMPORTANT for a metric if it is in the top quarter of the heads of its site. With a, b
the important heads with and without a role, and c, d the others,

    odds ratio = (a + 1/2) (d + 1/2) / ((b + 1/2) (c + 1/2))      (Haldane 1956, Anscombe 1956)

p is Fisher's exact test, one-sided: are roles more frequent among important heads? Sites differ
in both, cross-attention is important and aligns, so p_within is the permutation test that
deals the roles out anew within each site, over all permutations: the important heads with a
role of a site then follow the hypergeometric law, and their sum the laws' convolution. It is
the one to look at for all heads together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from ..models.gates import SITES, Head
from .result import Column, Table

TOP = 0.25
"""Share of a site's heads that count as important."""
COLUMNS = (
    Column("metric", "text", "importance metric"),
    Column("site", "text", "encoder, decoder, cross, or all"),
    Column("important_with", "whole", "important heads with a role"),
    Column("important_without", "whole", "important heads without one"),
    Column("others_with", "whole", "other heads with a role"),
    Column("others_without", "whole", "other heads without one"),
    Column("odds_ratio", "number", "odds of a role among important heads / among the others"),
    Column("p", "number", "Fisher's exact test, one-sided", "probability"),
    Column("p_within", "number", "permutation of roles within sites, one-sided", "probability"),
)


def importance_table(
    scores: pd.DataFrame, heads: Sequence[Head], having: set[Head], n: str
) -> Table:
    """Set the roles of heads beside their importance.

    Args:
        scores: table `heads` of the analysis `score`.
        heads: of the model.
        having: those with a role.
        n: what roles rest on, in words.
    """
    rows = []
    for metric, group in scores.groupby("metric", sort=False):
        rank = {
            Head(row["site"], int(row["layer"]), int(row["head"])): int(row["rank"])
            for row in group.to_dict("records")
        }
        important = top_of_sites(rank, heads)
        for site in (*SITES, "all"):
            own = [head for head in heads if site in (head.site, "all")]
            if own:
                rows.append({"metric": metric, "site": site, **odds(own, important, having)})
    caption = (
        "Whether heads in the top quarter of their site by importance have a role more often than "
        "the other heads."
    )
    return Table.of(caption, COLUMNS, rows, n=n)


def top_of_sites(rank: Mapping[Head, int], heads: Sequence[Head]) -> set[Head]:
    """Return the top quarter of every site, at least one head of each."""
    found: set[Head] = set()
    for site in sorted({head.site for head in heads}):
        own = sorted((head for head in heads if head.site == site), key=rank.__getitem__)
        found.update(own[: max(1, round(TOP * len(own)))])
    return found


def odds(heads: Sequence[Head], important: set[Head], having: set[Head]) -> dict[str, float]:
    """Return the four counts, the odds ratio and both tests."""
    is_important = np.array([head in important for head in heads])
    has = np.array([head in having for head in heads])
    a, b = int((is_important & has).sum()), int((is_important & ~has).sum())
    c, d = int((~is_important & has).sum()), int((~is_important & ~has).sum())
    law = np.ones(1)  # of important heads with a role
    for site in sorted({head.site for head in heads}):
        own = np.array([head.site == site for head in heads])
        drawn = int((is_important & own).sum())
        dealt = stats.hypergeom(own.sum(), (has & own).sum(), drawn)
        law = np.convolve(law, dealt.pmf(np.arange(drawn + 1)))
    return {
        "important_with": a,
        "important_without": b,
        "others_with": c,
        "others_without": d,
        "odds_ratio": math.exp(
            math.log(a + 0.5) + math.log(d + 0.5) - math.log(b + 0.5) - math.log(c + 0.5)
        ),
        "p": float(stats.fisher_exact([[a, b], [c, d]], alternative="greater")[1]),
        "p_within": float(min(1.0, law[a:].sum())),
    }
