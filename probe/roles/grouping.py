"""From distances between heads to groups, a map, outliers and twins.

- groups: hierarchical clustering with average linkage (Clark et al. 2019, section 6, look at
  such clusters); a group is what is joined below a height;
- map: classical scaling (Torgerson 1952) to two dimensions, with the share of the squared
  distances that it shows; axes mean nothing, and a share far below 1 says not to trust it;
- outliers: heads of a layer whose mean distance to the others of that layer is more than three
  median absolute deviations above the layer's median;
- twins: two heads that are each other's nearest, and nearer than half the site's median.

Pitfall: of eight numbers one lies beyond 3 MAD rather often. Set the count of outliers beside
that of networks with random weights, and beside other seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from ...models.gates import Head

Array = NDArray[np.float64]
BEYOND = 3.0
"""Median absolute deviations above the median from which a head is an outlier."""


class Merge(NamedTuple):
    """Two groups become one; groups up to the number of heads are the heads themselves."""

    left: int
    right: int
    height: float
    size: int


def merges(distances: Array) -> list[Merge]:
    """Return the steps of average-linkage clustering, from the nearest on.

    Args:
        distances: symmetric [head, head]
    """
    if len(distances) < 2:
        return []
    tree = hierarchy.linkage(squareform(distances, checks=False), method="average")
    return [Merge(int(a), int(b), float(height), int(size)) for a, b, height, size in tree]


def groups(distances: Array, height: float) -> list[int]:
    """Return the group of every head when only groups below a height are joined.

    Args:
        distances: symmetric [head, head]
        height: mean distance.
    """
    if len(distances) < 2:
        return [0] * len(distances)
    tree = hierarchy.linkage(squareform(distances, checks=False), method="average")
    found = hierarchy.fcluster(tree, height, criterion="distance")
    names: dict[int, int] = {}  # numbered by first head, so that the order of scipy is no matter
    return [names.setdefault(int(each), len(names)) for each in found]


def scaled(distances: Array, dimensions: int = 2) -> tuple[Array, float]:
    """Return places of heads on a map, and the share of squared distances that it shows.

    Args:
        distances: symmetric [head, head]
        dimensions: of the map.

    Returns:
        places, mean 0, largest axis first, signs such that each axis' largest is positive
        # [head, dimension]
        1 if the distances are those of points in so many dimensions
    """
    size = len(distances)
    centre = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-centre @ distances**2 @ centre / 2)
    order = np.argsort(values)[::-1][:dimensions]
    places = np.zeros((size, dimensions))
    found = vectors[:, order] * np.sqrt(np.maximum(values[order], 0))
    largest = np.abs(found).argmax(0)
    places[:, : len(order)] = found * np.sign(found[largest, np.arange(len(order))] + 1e-300)
    total = np.abs(values).sum()
    return places, float(np.maximum(values[order], 0).sum() / total) if total else 1.0


def outliers(distances: Array, heads: Sequence[Head]) -> list[bool]:
    """Tell of every head whether it is unlike the rest of its layer.

    Args:
        distances: symmetric [head, head]
        heads: of one site.
    """
    found = [False] * len(heads)
    for layer in {head.layer for head in heads}:
        own = [place for place, head in enumerate(heads) if head.layer == layer]
        if len(own) < 3:  # of two heads both are equally far
            continue
        mean = distances[np.ix_(own, own)].sum(1) / (len(own) - 1)  # [head]
        median = np.median(mean)
        limit = median + BEYOND * np.median(np.abs(mean - median))
        for place, value in zip(own, mean, strict=True):
            found[place] = bool(value > limit)
    return found


def twins(distances: Array) -> list[tuple[int, int]]:
    """Return pairs that are each other's nearest, and nearer than half the median of all pairs.

    Args:
        distances: symmetric [head, head]
    """
    if len(distances) < 3:
        return []
    apart = distances + np.diag(np.full(len(distances), np.inf))
    nearest = apart.argmin(1)
    limit = float(np.median(distances[np.triu_indices(len(distances), 1)])) / 2
    return [
        (one, int(other))
        for one, other in enumerate(nearest)
        if one < other and nearest[other] == one and apart[one, other] < limit
    ]
