"""From distances between heads to groups, a map, outliers and twins.

- groups: hierarchical clustering with average linkage (Clark et al. 2019, section 6, look at
  such clusters); a group is what is joined below a height;
- map: classical scaling (Torgerson 1952) to two dimensions, with the share of the squared
  distances that it shows; axes mean nothing, and a share far below 1 says not to trust it;
- medoids: k heads such that all heads are as near as can be to one of them (Kaufman & Rousseeuw
  1990), with the k of the largest mean silhouette; a medoid is a real head to look at;
- outliers: heads of a layer whose mean distance to the others of that layer is more than three
  median absolute deviations above the layer's median;
- twins: two heads that are each other's nearest, and nearer than half the site's median.

Pitfall: of eight numbers one lies beyond 3 MAD rather often. `one_or_two_by_chance` says how
often; set the count beside that, beside networks with random weights, and beside other seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.metrics import silhouette_samples

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


class Medoids(NamedTuple):
    """Heads grouped around some of them.

    Args:
        medoids: the heads that stand for their groups.
        group: the medoid of every head, by its place in `medoids`.
        width: silhouette of every head (Rousseeuw 1987), -1 to 1: 1 is far from other groups
            [head]
    """

    medoids: tuple[int, ...]
    group: tuple[int, ...]
    width: Array


def k_medoids(distances: Array, count: int) -> tuple[int, ...]:
    """Return the heads to which all heads are nearest in sum, by swaps from a greedy start (PAM).

    Args:
        distances: symmetric [head, head]
        count: how many medoids.
    """
    size = len(distances)
    chosen: list[int] = []
    for _ in range(count):  # the head that helps most, given those before it
        left = [head for head in range(size) if head not in chosen]
        chosen.append(min(left, key=lambda head: distances[[*chosen, head]].min(0).sum()))
    best = distances[chosen].min(0).sum()
    while True:
        trials = [
            [*chosen[:place], head, *chosen[place + 1 :]]
            for place in range(count)
            for head in range(size)
            if head not in chosen
        ]
        costs = [distances[trial].min(0).sum() for trial in trials]
        if not costs or not min(costs) < best - 1e-12:  # not: NaN must end it too
            return tuple(sorted(chosen))
        best = min(costs)
        chosen = trials[costs.index(best)]


def medoids(distances: Array, most: int = 6) -> Medoids | None:
    """Group heads around medoids, as many as have the largest mean silhouette.

    Args:
        distances: symmetric [head, head]
        most: medoids at most.

    Returns:
        None of fewer than four heads, or where all are the same, or where a distance is not
        known: nothing to group.
    """
    if len(distances) < 4 or not distances.any() or not np.isfinite(distances).all():
        return None
    found = []
    for count in range(2, min(most, len(distances) - 1) + 1):
        chosen = k_medoids(distances, count)
        group = distances[list(chosen)].argmin(0)  # [head]
        if len(set(group.tolist())) == count:  # medoids that are the same head twice group nothing
            width = silhouette_samples(distances, group, metric="precomputed")
            found.append(Medoids(chosen, tuple(group.tolist()), width))
    return max(found, key=lambda it: float(it.width.mean())) if found else None


def outliers(distances: Array, heads: Sequence[Head]) -> list[bool]:
    """Tell of every head whether it is unlike the rest of its layer.

    Args:
        distances: symmetric [head, head]
        heads: of one site.
    """
    found = [False] * len(heads)
    for layer in {head.layer for head in heads}:
        own = [place for place, head in enumerate(heads) if head.layer == layer]
        for place, far in zip(own, _far(distances[np.ix_(own, own)][None])[0], strict=True):
            found[place] = bool(far)
    return found


def _far(distances: Array) -> NDArray[np.bool_]:
    """Tell of every head of a layer whether it is an outlier, for many layers of one size.

    Args:
        distances: symmetric [layer, head, head]
    """
    heads = distances.shape[1]
    if heads < 3:  # of two heads both are equally far
        return np.zeros(distances.shape[:2], dtype=bool)
    mean = distances.sum(2) / (heads - 1)  # [layer, head]
    median = np.median(mean, axis=1, keepdims=True)
    limit = median + BEYOND * np.median(np.abs(mean - median), axis=1, keepdims=True)
    return mean > limit


def one_or_two_by_chance(
    distances: Array, generator: np.random.Generator, permutations: int = 1000
) -> float:
    """Return how often a layer has one or two outliers if its distances belonged to no head.

    The distances of the layer's pairs are dealt out anew to the pairs: as unequal as they are,
    but no head is far from all others except by luck.

    Args:
        distances: of one layer, symmetric [head, head]
        generator: deals them.
        permutations: how often.
    """
    upper = np.triu_indices(len(distances), 1)
    pairs = np.tile(distances[upper], (permutations, 1))  # [permutation, pair]
    dealt = np.zeros((permutations, *distances.shape))
    dealt[:, upper[0], upper[1]] = generator.permuted(pairs, axis=1)
    count = _far(dealt + dealt.transpose(0, 2, 1)).sum(1)  # [permutation]
    return float(np.isin(count, (1, 2)).mean())


def at_least(found: int, chances: Sequence[float]) -> float:
    """Return how likely at least so many of independent events are, each with its own chance."""
    law = np.ones(1)  # [events that happened]
    for chance in chances:
        law = np.convolve(law, (1 - chance, chance))
    return float(min(1.0, law[found:].sum()))


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
