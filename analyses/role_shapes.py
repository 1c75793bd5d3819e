"""Which shapes do attention maps have, whatever they mean? Blocks, and groups without a teacher.

The shape of a head is how a mean query divides its attention among the words at each distance
and the tokens before and behind the text. Heads are grouped around medoids by the
Jensen-Shannon distance of their shapes, as many as have the largest mean silhouette. A
silhouette is found in anything; set it beside that of networks with random weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from ..models.gates import SITES, Head
from ..probe.roles import KINDS, RelativeMap, SinkMass
from ..probe.roles.answers import MARGIN
from ..probe.roles.grouping import medoids
from ..probe.roles.redundancy import divergences
from .columns import HEAD
from .result import Column, Table
from .role_tables import BY_SENTENCE, SHARE, Weights, largest_of

Array = NDArray[np.float64]
BLOCKS = (
    *HEAD,
    Column("inside", "number", "attention to words of the same block", SHARE),
    Column("expected", "number", "the same by the head's mean map by distance", SHARE),
    Column("lead", "number", "inside - expected", SHARE),
    Column("lead_low", "number", "lower bound of the interval", SHARE),
    Column("lead_high", "number", "upper bound of the interval", SHARE),
    Column("random", "number", "the largest lead of any head with random weights", SHARE),
    Column("effect", "number", "lead, less the random one if that is above 0", SHARE),
    Column("effect_low", "number", "lower bound of the interval", SHARE),
    Column("effect_high", "number", "upper bound of the interval", SHARE),
    Column("role", "truth", "whether effect is 10 points or more, and its interval above 0"),
)
SHAPES = (
    Column("network", "text", "trained, or random weights"),
    Column("number", "whole", "which of them, 0-based"),
    *HEAD,
    Column("group", "whole", "group of the head among those of its site"),
    Column("medoid", "text", "the head that stands for the group"),
    Column("distance", "number", "Jensen-Shannon distance from the medoid", "0 to 1"),
    Column("silhouette", "number", "how far from other groups: 1 far, 0 between", "-1 to 1"),
    Column("mean_silhouette", "number", "mean of all heads of the site", "-1 to 1"),
)


def blocks_table(
    own: RelativeMap, floors: Sequence[RelativeMap], weights: Weights, n: str
) -> Table:
    """Return how far every head stays inside a stretch between punctuation marks.

    Args:
        own: of the model.
        floors: of networks with random weights.
        weights: how often each resample has a sentence [resample, sentence]
        n: how many sentences, in words.

    Returns:
        no row for heads of sites without blocks.
    """
    found = own.blocks()
    random = largest_of(
        [torch.from_numpy(it.blocks().lead[0]).nan_to_num(0)[:, None] for it in floors],
        own.layout.heads,
    )
    lead = own.blocks(weights).lead  # [resample, head]
    several = int((own.asked.amax(1) > 0).sum())
    rows = []
    for column, head in enumerate(own.layout):
        if np.isnan(found.lead[0, column]):
            continue
        drawn = lead[:, column][~np.isnan(lead[:, column])]
        low, high = np.percentile(drawn, (2.5, 97.5)) if len(drawn) else (np.nan, np.nan)
        floor = max(0.0, random[head.site][0]) if floors else 0.0
        effect = float(found.lead[0, column]) - floor
        rows.append(
            {
                **head._asdict(),
                "inside": found.inside[0, column],
                "expected": found.expected[0, column],
                "lead": found.lead[0, column],
                "lead_low": low,
                "lead_high": high,
                "random": random[head.site][0] if floors else None,
                "effect": effect,
                "effect_low": low - floor,
                "effect_high": high - floor,
                "role": effect >= MARGIN and low - floor > 0,
            }
        )
    caption = (
        "How much attention stays inside the query's own stretch between punctuation marks, and "
        "how much would by distance alone."
    )
    of = f"{several} sentences with two blocks or more, of {n}"
    return Table.of(caption, BLOCKS, rows, n=of, interval=BY_SENTENCE)


def shapes_table(networks: Sequence[tuple[RelativeMap, SinkMass]], n: str) -> Table:
    """Return the groups of heads by the shape of their maps.

    Args:
        networks: what was seen of the model, then of those with random weights.
        n: how many sentences, in words.
    """
    rows = []
    for number, (means, sinks) in enumerate(networks):
        which = {"network": "random" if number else "trained", "number": max(0, number - 1)}
        heads, shapes = means.layout.heads, shapes_of(means, sinks)
        for site in SITES:
            own = [column for column, head in enumerate(heads) if head.site == site]
            rows += [which | row for row in _grouped(shapes[own], [heads[it] for it in own])]
    caption = (
        "Heads of a site grouped around medoids by how they divide attention among distances, "
        "and tokens before and behind the text."
    )
    return Table.of(caption, SHAPES, rows, n=n)


def shapes_of(means: RelativeMap, sinks: SinkMass) -> torch.Tensor:
    """Return the shape of every head: shares of attention by distance, and of BOS and EOS.

    Returns:
        rows sum to 1  # [head, bin]
    """
    special = [KINDS.index(kind) for kind in ("start", "end")]
    return torch.cat([means.mass(), sinks.shares()[:, special]], dim=1)


def _grouped(shapes: torch.Tensor, heads: Sequence[Head]) -> list[dict[str, object]]:
    if not heads:
        return []
    distances = divergences(shapes[None].float()).clamp(min=0).sqrt().numpy()  # [head, head]
    np.fill_diagonal(distances, 0)
    found = medoids(distances)
    if found is None:
        return []
    return [
        {
            **head._asdict(),
            "group": found.group[column],
            "medoid": str(heads[found.medoids[found.group[column]]]),
            "distance": distances[column, found.medoids[found.group[column]]],
            "silhouette": found.width[column],
            "mean_silhouette": found.width.mean(),
        }
        for column, head in enumerate(heads)
    ]
