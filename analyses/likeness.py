"""Which heads of a site are alike, and which are unlike the rest: the tables of `roles` on that.

| table | one row |
| --- | --- |
| `likeness` | two heads of a site: distance of their maps, CKA of their outputs, overlap |
| `map` | a head: its group, its place on a flat map, whether it is an outlier of its layer |
| `merges` | a step of the clustering |
| `outliers` | a network and a site: how many heads are unlike their layer |
| `layers` | a network and a layer: outliers, gap, variance and gradient (`probe/roles/spread.py`) |

The last two have the networks with random weights too, which is what the model was before
training. "One or two heads in a layer are unlike the rest" says something only where those have
fewer, and where the layer's distances, dealt out anew to its pairs of heads, give fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..models.gates import SITES, Attention, Head
from ..models.translator import Translator
from ..probe.roles import Side, walk
from ..probe.roles.grouping import (
    at_least,
    groups,
    merges,
    one_or_two_by_chance,
    outliers,
    scaled,
    twins,
)
from ..probe.roles.redundancy import LikenessObserver, expected_overlap, overlaps
from ..probe.roles.spread import Spread, spread_by_layer
from .columns import HEAD
from .result import Column, Table

SPREAD = 50
"""Sentences for the spread of layers, which needs a backward and is steady after a few."""
NEAR = 0.5
"""Groups are what is joined below this share of the largest height."""
Array = NDArray[np.float64]
DISTANCE = "0: one map, 1: unlike as chance"
PAIRS = (
    Column("site", "text", "encoder, decoder or cross"),
    Column("layer", "whole", "layer of one head, 0-based"),
    Column("head", "whole", "its original id, 0-based"),
    Column("other_layer", "whole", "layer of the other head"),
    Column("other_head", "whole", "its original id"),
    Column("distance", "number", "Jensen-Shannon distance of their maps, normalised", DISTANCE),
    Column("cka", "number", "linear CKA of their outputs", "0 to 1"),
    Column("overlap", "number", "mean squared cosine of the spaces they write to", "0 to 1"),
    Column("expected_overlap", "number", "of random spaces: head width / width", "0 to 1"),
    Column("twins", "truth", "each other's nearest, nearer than half the site's median"),
)
MAP = (
    *HEAD,
    Column("x", "number", "place on the flat map, larger axis", "distance"),
    Column("y", "number", "place on the flat map, smaller axis", "distance"),
    Column("shown", "number", "share of the site's squared distances that the map shows", "0 to 1"),
    Column("group", "whole", f"group, joined below {NEAR:.0%} of the largest height"),
    Column("mean_distance", "number", "mean distance to the other heads of its layer", DISTANCE),
    Column("outlier", "truth", "whether that is beyond median + 3 MAD of its layer"),
)
MERGES = (
    Column("site", "text", "encoder, decoder or cross"),
    Column("step", "whole", "step of average-linkage clustering, 0-based"),
    Column("left", "whole", "a head (its place in the site), or heads + the step that made it"),
    Column("right", "whole", "the group that it is joined with"),
    Column("height", "number", "mean distance of the two", DISTANCE),
    Column("size", "whole", "heads of the joined group"),
)
OUTLIERS = (
    Column("network", "text", "trained, or random weights"),
    Column("number", "whole", "which of them, 0-based"),
    Column("site", "text", "encoder, decoder or cross"),
    Column("heads", "whole", "heads of the site"),
    Column("outliers", "whole", "heads beyond median + 3 MAD of their layer"),
    Column("layers", "whole", "layers of the site"),
    Column("layers_with_one_or_two", "whole", "layers with one or two such heads"),
    Column("by_chance", "number", "layers that have them if distances belong to no head, mean"),
    Column("p", "number", "so many or more layers by that chance", "probability"),
    Column("median_distance", "number", "median distance of all pairs of the site", DISTANCE),
)
LAYERS = (
    Column("network", "text", "trained, or random weights"),
    Column("number", "whole", "which of them, 0-based"),
    Column("site", "text", "encoder, decoder or cross"),
    Column("layer", "whole", "layer, 0-based"),
    Column("heads", "whole", "heads of the layer"),
    Column("outliers", "whole", "heads beyond median + 3 MAD"),
    Column(
        "by_chance", "number", "how often one or two are, if distances belong to no head", "share"
    ),
    Column("gap", "number", "mean distance of the maps of its heads", DISTANCE),
    Column("variance", "number", "between what its heads add, over its mean square", "share"),
    Column("gradient", "number", "root mean square of dL/d(heads' outputs), by token", "nats"),
)


@dataclass(frozen=True)
class Likeness:
    """What was found of one site.

    Args:
        heads: of the site.
        distances, cka, overlap: of all pairs  # each [head, head]
        expected: overlap of random spaces.
        spread: of its layers.
    """

    heads: tuple[Head, ...]
    distances: Array
    cka: Array
    overlap: Array
    expected: float
    spread: Mapping[Attention, Spread]

    @property
    def layers(self) -> list[int]:
        """Return the layers that have heads."""
        return sorted({head.layer for head in self.heads})

    def of_layer(self, layer: int) -> Array:
        """Return the distances between the heads of a layer  # [head, head]."""
        own = [place for place, head in enumerate(self.heads) if head.layer == layer]
        return self.distances[np.ix_(own, own)]


def likeness(translator: Translator, sides: tuple[Side, Side]) -> list[Likeness]:
    """Compare the heads of each site, in one walk.

    Args:
        translator: the model.
        sides: sentences to read.
    """
    observers = [LikenessObserver(translator.layout, site) for site in SITES]
    walk(translator, sides, observers)
    few = (Side(it.sentences[:SPREAD], it.pieces[:SPREAD]) for it in sides)
    spread = spread_by_layer(translator, (next(few), next(few)))
    return [
        Likeness(
            it.heads,
            it.distances().numpy(),
            it.cka().numpy(),
            overlaps(translator, it.heads).numpy(),
            expected_overlap(translator, it.heads[0]),
            spread,
        )
        for it in observers
        if len(it.heads) > 1 and it.reference  # empty targets compare nothing
    ]


def likeness_tables(
    own: Sequence[Likeness], floors: Sequence[Sequence[Likeness]], n: str, seed: int = 0
) -> dict[str, Table]:
    """Return all tables.

    Args:
        own: of the model, by site.
        floors: of networks with random weights.
        n: how many sentences, in words.
        seed: deals distances out anew.
    """
    networks = [("trained", 0, own), *(("random", i, it) for i, it in enumerate(floors))]
    captions = {
        "likeness": "How alike two heads of a site are: in what they look at, say, and write to.",
        "map": "Heads on a flat map of their distances, with groups and outliers.",
        "merges": "Clustering of the heads of each site by distance, average linkage.",
        "outliers": "Heads unlike the rest of their layer, beside networks with random weights.",
        "layers": "How different the heads of a layer are, before training and after.",
    }
    layers = [
        {"network": kind, "number": number, **row}
        for kind, number, sites in networks
        for it in sites
        for row in _layers(it, np.random.default_rng(seed))
    ]
    rows = {
        "likeness": (PAIRS, [row for it in own for row in _pairs(it)]),
        "map": (MAP, [row for it in own for row in _map(it)]),
        "merges": (MERGES, [row for it in own for row in _merges(it)]),
        "outliers": (
            OUTLIERS,
            [
                {"network": kind, "number": number, **_outliers(it, kind, number, layers)}
                for kind, number, sites in networks
                for it in sites
            ],
        ),
        "layers": (LAYERS, layers),
    }
    return {name: Table.of(captions[name], *it, n=n) for name, it in rows.items()}


def _pairs(found: Likeness) -> list[dict[str, object]]:
    pairs = set(twins(found.distances))
    return [
        {
            **found.heads[one]._asdict(),
            "other_layer": found.heads[other].layer,
            "other_head": found.heads[other].head,
            "distance": found.distances[one, other],
            "cka": found.cka[one, other],
            "overlap": found.overlap[one, other],
            "expected_overlap": found.expected,
            "twins": (one, other) in pairs,
        }
        for one in range(len(found.heads))
        for other in range(one + 1, len(found.heads))
    ]


def _map(found: Likeness) -> list[dict[str, object]]:
    places, shown = scaled(found.distances)
    steps = merges(found.distances)
    group = groups(found.distances, NEAR * steps[-1].height)
    unlike = outliers(found.distances, found.heads)
    rows: list[dict[str, object]] = []
    for column, head in enumerate(found.heads):
        layer = [at for at, it in enumerate(found.heads) if it.layer == head.layer and at != column]
        rows.append(
            {
                **head._asdict(),
                "x": places[column, 0],
                "y": places[column, 1],
                "shown": shown,
                "group": group[column],
                "mean_distance": found.distances[column, layer].mean() if layer else None,
                "outlier": unlike[column],
            }
        )
    return rows


def _merges(found: Likeness) -> list[dict[str, object]]:
    site = found.heads[0].site
    return [
        {"site": site, "step": step, **merge._asdict()}
        for step, merge in enumerate(merges(found.distances))
    ]


def _layers(found: Likeness, generator: np.random.Generator) -> list[dict[str, Any]]:
    unlike = outliers(found.distances, found.heads)
    rows = []
    for layer in found.layers:
        own = found.of_layer(layer)
        site = found.heads[0].site
        here = [far for far, head in zip(unlike, found.heads, strict=True) if head.layer == layer]
        several = len(own) > 1
        rows.append(
            {
                "site": site,
                "layer": layer,
                "heads": len(own),
                "outliers": sum(here),
                "by_chance": one_or_two_by_chance(own, generator) if len(own) > 2 else 0.0,
                "gap": own[np.triu_indices(len(own), 1)].mean() if several else None,
                **found.spread[Attention(site, layer)]._asdict(),
            }
        )
    return rows


def _outliers(
    found: Likeness, kind: str, number: int, layers: Sequence[Mapping[str, Any]]
) -> dict[str, object]:
    site = found.heads[0].site
    own = [it for it in layers if (it["network"], it["number"], it["site"]) == (kind, number, site)]
    some = sum(it["outliers"] in (1, 2) for it in own)
    chances = [it["by_chance"] for it in own]
    upper = found.distances[np.triu_indices(len(found.heads), 1)]
    return {
        "site": site,
        "heads": len(found.heads),
        "outliers": sum(it["outliers"] for it in own),
        "layers": len(own),
        "layers_with_one_or_two": some,
        "by_chance": sum(chances),
        "p": at_least(some, chances),
        "median_distance": float(np.median(upper)),
    }
