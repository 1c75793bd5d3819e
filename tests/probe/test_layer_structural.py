"""Structural probes: trees by hand, and a planted tree metric."""

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from headcount.models.errors import DataError
from headcount.probe.annotations import AnnotatedSentence, Word
from headcount.probe.layers.features import Features
from headcount.probe.layers.structural import (
    StructuralSettings,
    Tree,
    _spearman,
    fit_structural,
    judge_structure,
    spanning_tree,
    tree_distances,
)

WIDTH = 14
SETTINGS = StructuralSettings(rank=WIDTH, rate=0.02, batch=10, epochs=40)


def sentence_of(heads, tags=None):
    tags = tags or ["NOUN"] * len(heads)
    words = [
        Word(f"w{i}", 3 * i, 3 * i + 2, upos=tag, head=head)
        for i, (head, tag) in enumerate(zip(heads, tags, strict=True))
    ]
    text = " ".join(word.form for word in words)
    return AnnotatedSentence("s", text, tuple(words), has_tree=True)


def random_heads(generator, words):
    """A random tree: each word hangs on one that was placed before it."""
    order = generator.permutation(words)
    heads = np.full(words, -1)
    for place in range(1, words):
        heads[order[place]] = order[generator.integers(0, place)]
    return heads.tolist()


def planted(seed, sentences=60, words=10):
    """States whose squared distances are tree distances, rotated, with four idle dimensions.

    A word's vector is its head's plus a unit vector of its own, so that |h_i - h_j|^2 counts
    the arcs between them, and |h|^2 the arcs to the root.
    """
    generator = np.random.default_rng(seed)
    rotation = np.linalg.qr(generator.normal(size=(WIDTH, WIDTH)))[0]
    states, trees, start = [], [], 0
    for _ in range(sentences):
        size = int(generator.integers(5, words + 1))
        heads = random_heads(generator, size)
        own = np.zeros((size, WIDTH))
        for word in np.argsort(sentence_of(heads).depths):
            if heads[word] >= 0:
                own[word] = own[heads[word]]
                own[word, word] += 1
        own[:, words:] = generator.normal(size=(size, WIDTH - words))
        states.append(own @ rotation)
        trees.append(Tree.of(sentence_of(heads), start, np.ones(size, bool)))
        start += size
    return Features.of(np.concatenate(states).astype(np.float32)), trees


@pytest.fixture(scope="module")
def metric():
    return planted(0)


def test_distances_in_a_tree_by_hand():
    #  1 <- 0, root 1, 1 -> 2 -> 3
    assert tree_distances([1, -1, 1, 2]).tolist() == [
        [0, 1, 2, 3],
        [1, 0, 1, 2],
        [2, 1, 0, 1],
        [3, 2, 1, 0],
    ]
    assert tree_distances([-1, -1])[0, 1] == np.inf


def test_a_spanning_tree_by_hand():
    points = np.array([0.0, 10.0, 1.0, 2.5])
    arcs = {frozenset(arc) for arc in spanning_tree(abs(points[:, None] - points))}
    assert arcs == {frozenset(arc) for arc in ((0, 2), (2, 3), (3, 1))}
    assert spanning_tree(np.zeros((1, 1))) == []
    zeros = spanning_tree(np.zeros((4, 4)))  # equal words still make a tree
    assert len(zeros) == 3 and {a for arc in zeros for a in arc} == {0, 1, 2, 3}


def test_rank_correlations_row_by_row_are_those_of_scipy():
    generator = np.random.default_rng(3)
    found, gold = generator.normal(size=(4, 6)), generator.integers(0, 3, size=(4, 6)) * 1.0
    gold[1, 2] = np.inf  # a word of another tree
    rows = _spearman(found, gold)
    for row, one, other in zip(rows, found, gold, strict=True):
        there = np.isfinite(other)
        assert row == pytest.approx(spearmanr(one[there], other[there]).statistic)
    assert np.isnan(_spearman(np.array([[1.0, 2.0], [1.0, 2.0]]), np.ones((2, 2)))).all()


def test_a_planted_tree_metric_is_found(metric):
    features, trees = metric
    generator = torch.Generator().manual_seed(0)
    probe = fit_structural(features, (trees[:40], trees[40:48]), "distance", generator, SETTINGS)
    found = judge_structure(features, trees[48:], probe)
    assert found.accuracy == 1.0
    assert found.spearman > 0.95


def test_planted_depths_are_found(metric):
    features, trees = metric
    generator = torch.Generator().manual_seed(0)
    probe = fit_structural(features, (trees[:40], trees[40:48]), "depth", generator, SETTINGS)
    found = judge_structure(features, trees[48:], probe)
    assert found.accuracy > 0.8  # the share of roots that are found
    assert found.spearman > 0.9


def test_states_without_a_tree_do_not_give_one(metric):
    features, trees = metric
    noise = np.random.default_rng(1).normal(size=(len(features), WIDTH)).astype(np.float32)
    generator = torch.Generator().manual_seed(0)
    few = SETTINGS.with_changes(epochs=5)
    probe = fit_structural(
        Features.of(noise), (trees[:40], trees[40:48]), "distance", generator, few
    )
    found = judge_structure(Features.of(noise), trees[48:], probe)
    assert found.accuracy < 0.5  # a random tree of 10 words has 20 % of the arcs
    assert found.spearman < 0.5  # each word's distance to itself is always right


def test_punctuation_is_no_arc_and_words_without_a_vector_are_left_out():
    sentence = sentence_of([1, -1, 1, 1], ["NOUN", "VERB", "NOUN", "PUNCT"])
    tree = Tree.of(sentence, 7, np.array([True, True, False, True]))
    assert tree.rows.tolist() == [7, 8, 10]
    assert tree.heads.tolist() == [1, -1, 1]
    states = np.zeros((11, 2), np.float32)
    states[10] = 5
    generator = torch.Generator().manual_seed(0)
    features = Features.of(states)
    probe = fit_structural(
        features, ([tree], [tree]), "distance", generator, StructuralSettings(rank=2, epochs=1)
    )
    assert judge_structure(features, [tree], probe).arcs.tolist() == [[1, 1]]
    with pytest.raises(DataError, match="two words"):
        fit_structural(features, ([], [tree]), "distance", generator)
