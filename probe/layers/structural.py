"""Structural probes: is the whole dependency tree in the geometry of the states?

Hewitt & Manning (2019) look for a linear map B under which squared distances are distances in
the tree, and squared norms are depths:

    d_B(i, j)^2 = |B (h_i - h_j)|^2 ~ arcs between i and j,    |B h_i|^2 ~ arcs from the root to i,

by minimising, over sentences, the mean absolute error of all pairs (words),

    1 / |s|^2 sum_{i,j} | d_T(i, j) - d_B(i, j)^2 |,   and   1 / |s| sum_i | depth_i - |B h_i|^2 |.

Judged by UUAS, the share of undirected gold arcs in the minimum spanning tree of the predicted
distances, where punctuation neither stands in the tree nor counts; and by the Spearman
correlation of predicted and true distances from each word, averaged over the words of a
sentence, then over the sentences of each length from 5 to 50, then over lengths. As in the
published code the distance of a word to itself counts, so noise is above 0 in short sentences.

Words that have no vector are left out; distances are those of the whole tree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import rankdata
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ...models.errors import DataError
from ...models.settings import Settings
from ..annotations.sentence import ROOT, AnnotatedSentence
from .examples import Numbers
from .features import Features
from .stacked import one_thread

Array = NDArray[np.float64]
LENGTHS = range(5, 51)


@dataclass(frozen=True)
class Tree:
    """The words of one sentence that have a vector, and the tree above them.

    Args:
        rows: their rows in the store  # [word]
        distances: arcs between them in the whole tree  # [word, word]
        depths: arcs to the root  # [word]
        heads: index among these words, -1 for roots and for heads without a vector  # [word]
        punctuation: which are  # [word]
    """

    rows: Numbers
    distances: Array
    depths: Array
    heads: Numbers
    punctuation: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, sentence: AnnotatedSentence, start: int, aligned: NDArray[np.bool_]) -> Tree:
        """Take a tree from an annotated sentence.

        Args:
            start: row of the sentence's first word.
            aligned: which of its words have a vector  # [word]
        """
        heads = np.array([word.head for word in sentence.words])
        there = np.flatnonzero(aligned)
        renamed = np.full(len(heads) + 1, ROOT)  # the last entry answers for the root's head
        renamed[there] = np.arange(len(there))
        return cls(
            rows=start + there,
            distances=tree_distances(heads)[np.ix_(there, there)],
            depths=np.array(sentence.depths, dtype=np.float64)[there],
            heads=renamed[heads[there]],
            punctuation=np.array([sentence.words[i].upos == "PUNCT" for i in there], dtype=bool),
        )


def tree_distances(heads: Sequence[int] | Numbers) -> Array:
    """Return the number of arcs between all words; infinite between two trees  # [word, word]."""
    size = len(heads)
    distances = np.full((size, size), np.inf)
    np.fill_diagonal(distances, 0)
    for start in range(size):
        # Every way between two words goes up to a common ancestor: mark the ancestors.
        word, arcs = start, 0
        above: dict[int, int] = {}
        while word != ROOT:
            above[word] = arcs
            word, arcs = int(heads[word]), arcs + 1
        for other in range(size):
            word, arcs = other, 0
            while word != ROOT and word not in above:
                word, arcs = int(heads[word]), arcs + 1
            if word != ROOT:
                distances[start, other] = arcs + above[word]
    return distances


class StructuralSettings(Settings):
    """How a structural probe is trained.

    Args:
        rank: rows of B.
        rate: learning rate of Adam; divided by 10 when the validation loss does not fall.
        batch: sentences a step.
        epochs: at most.
        reductions: the learning rate is lowered so often, then training ends.
    """

    rank: int = 64
    rate: float = 3e-3
    batch: int = 20
    epochs: int = 40
    reductions: int = 2


@dataclass(frozen=True)
class StructuralProbe:
    """A map B under which the tree is a distance or a depth.

    Args:
        kind: what its squared lengths mean.
        map: B transposed  # [width, rank]
        validation: mean absolute error there, in arcs.
        epochs: until the best.
    """

    kind: Literal["distance", "depth"]
    map: Tensor
    validation: float
    epochs: int

    def predict(self, states: Tensor) -> Array:
        """Return squared distances [word, word] or depths [word] of one sentence."""
        with torch.no_grad():
            found = _lengths(self.kind, (states @ self.map)[None])[0]
        return found.double().numpy()


def _lengths(kind: str, points: Tensor) -> Tensor:
    """Return squared distances or norms of mapped states [sentence, word, rank]."""
    norms = (points**2).sum(-1)  # [sentence, word]
    if kind == "depth":
        return norms
    return (norms[:, :, None] + norms[:, None] - 2 * points @ points.mT).clamp(min=0)


def fit_structural(
    features: Features,
    trees: tuple[Sequence[Tree], Sequence[Tree]],
    kind: Literal["distance", "depth"],
    generator: torch.Generator,
    settings: StructuralSettings = StructuralSettings(),
) -> StructuralProbe:
    """Learn B.

    Args:
        features: a layer's words, standardised; the trees' rows count its examples.
        trees: of the training and the validation sentences.
        kind: distances or depths.
        generator: initial B and order.

    Raises:
        DataError: no sentence with two words in either part.
    """
    train, valid = ([it for it in part if len(it) > 1] for part in trees)
    if not train or not valid:
        raise DataError("a structural probe needs training and validation sentences of two words")
    start = torch.rand(features.width, settings.rank, generator=generator) * 0.1 - 0.05
    mapping = start.requires_grad_()  # [width, rank]
    adam = torch.optim.Adam([mapping], settings.rate)
    best = StructuralProbe(kind, mapping.detach().clone(), float("inf"), 0)
    left = settings.reductions
    known, asked = _targets(train, kind), _targets(valid, kind)
    with one_thread():
        for epoch in range(1, settings.epochs + 1):
            order = torch.randperm(len(train), generator=generator).tolist()
            for states, gold, weights in _batches(features, train, known, order, settings.batch):
                adam.zero_grad()
                (weights * (_lengths(kind, states @ mapping) - gold).abs()).sum().backward()
                adam.step()
            error = _error(features, valid, asked, kind, mapping, settings.batch)
            if error < best.validation - 1e-4:
                best = StructuralProbe(kind, mapping.detach().clone(), error, epoch)
            elif left:
                left -= 1
                adam.param_groups[0]["lr"] /= 10
            else:
                break
    return best


Target = tuple[Tensor, Tensor]
"""Gold numbers of a sentence and their weights, [word, word] or [word]."""


def _targets(trees: Sequence[Tree], kind: str) -> list[Target]:
    """Return what a probe should say of every sentence; a sentence's weights sum to 1."""
    found = []
    for tree in trees:
        values = torch.from_numpy(tree.depths if kind == "depth" else tree.distances).float()
        finite = values.isfinite()  # words of two trees have no distance
        found.append((torch.where(finite, values, 0), finite / values.numel()))
    return found


def _batches(
    features: Features,
    trees: Sequence[Tree],
    targets: Sequence[Target],
    order: Sequence[int],
    size: int,
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield states, gold numbers and their weights; a batch's weights sum to 1."""
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        lengths = [len(trees[index]) for index in chosen]
        rows = np.concatenate([trees[index].rows for index in chosen])
        flat = torch.from_numpy(features.select(rows).whole())
        states = pad_sequence(list(flat.split(lengths)), batch_first=True)  # [sentence, word, w]
        shape = [len(chosen)] + [max(lengths)] * targets[0][0].ndim
        gold, weights = torch.zeros(shape), torch.zeros(shape)
        for place, index in enumerate(chosen):
            values, own = targets[index]
            corner: tuple[Any, ...] = (place, *[slice(len(trees[index]))] * values.ndim)
            gold[corner], weights[corner] = values, own / len(chosen)
        yield states, gold, weights


def _error(
    features: Features, trees: Sequence[Tree], targets: Sequence[Target], kind: str,
    mapping: Tensor, size: int,
) -> float:  # fmt: skip
    """Return the mean absolute error over sentences, in arcs."""
    total = 0.0
    with torch.no_grad():
        order = range(len(trees))
        for states, gold, weights in _batches(features, trees, targets, order, size):
            errors = weights * (_lengths(kind, states @ mapping) - gold).abs()
            total += float(errors.sum()) * len(states)
    return total / len(trees)


@dataclass(frozen=True)
class Structure:
    """How well a structural probe finds trees.

    Args:
        arcs: right and all gold arcs of every sentence (distance), or whether the root is the
            word of least depth and 1 (depth)  # [sentence, 2]
        spearman: correlation, mean over the lengths 5 to 50; NaN without such sentences.
    """

    arcs: Array
    spearman: float

    @property
    def accuracy(self) -> float:
        """Return UUAS, or the share of roots that are found; NaN without arcs."""
        right, total = self.arcs.sum(0)
        return float(right / total) if total else float("nan")


def judge_structure(features: Features, trees: Sequence[Tree], probe: StructuralProbe) -> Structure:
    """Judge a probe on test sentences."""
    arcs = np.zeros((len(trees), 2))
    by_length: dict[int, list[float]] = defaultdict(list)
    for index, tree in enumerate(trees):
        if len(tree) < 2:
            continue
        found = probe.predict(torch.from_numpy(features.select(tree.rows).whole()))
        if probe.kind == "distance":
            arcs[index] = _arcs(tree, found)
            value = float(_spearman(found, tree.distances).mean())
        else:
            roots = np.flatnonzero((tree.depths == 0) & ~tree.punctuation)
            words = np.flatnonzero(~tree.punctuation)
            if len(roots) == 1:
                arcs[index] = words[found[words].argmin()] == roots[0], 1
            value = float(_spearman(found[None], tree.depths[None])[0])
        if len(tree) in LENGTHS and np.isfinite(value):
            by_length[len(tree)].append(value)
    means = [float(np.mean(values)) for values in by_length.values()]
    return Structure(arcs, float(np.mean(means)) if means else float("nan"))


def _arcs(tree: Tree, distances: Array) -> tuple[int, int]:
    """Return right and gold arcs between words that are no punctuation."""
    words = np.flatnonzero(~tree.punctuation)
    gold = {
        frozenset((int(word), int(tree.heads[word])))
        for word in words
        if tree.heads[word] != ROOT and not tree.punctuation[tree.heads[word]]
    }
    found = spanning_tree(distances[np.ix_(words, words)])
    right = {frozenset((int(words[a]), int(words[b]))) for a, b in found}
    return len(gold & right), len(gold)


def spanning_tree(distances: Array) -> list[tuple[int, int]]:
    """Return the arcs of a minimum spanning tree (Prim 1957)."""
    size = len(distances)
    if size < 2:
        return []
    nearest = np.zeros(size, dtype=np.int64)  # the tree's word that is nearest to each word
    away = distances[0].astype(np.float64).copy()
    away[0] = np.inf
    inside = np.zeros(size, dtype=bool)
    inside[0] = True
    arcs = []
    for _ in range(size - 1):
        word = int(np.where(inside, np.inf, away).argmin())
        if inside[word]:
            break
        arcs.append((int(nearest[word]), word))
        inside[word] = True
        closer = (distances[word] < away) & ~inside
        nearest[closer], away[closer] = word, distances[word][closer]
    return arcs


def _spearman(one: Array, other: Array) -> Array:
    """Return the rank correlation of each row's finite pairs, NaN where one of them is constant.

    Args:
        one, other: [row, word]
    """
    there = np.isfinite(one) & np.isfinite(other)
    if len(one) > 1 and not there.all():
        return np.concatenate(
            [_spearman(a[None], b[None]) for a, b in zip(one, other, strict=True)]
        )
    ranks = (rankdata(it[there].reshape(len(one), -1), axis=1) for it in (one, other))
    a, b = (it - it.mean(1, keepdims=True) for it in ranks)
    with np.errstate(invalid="ignore"):
        found: Array = (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))
    return found
