"""Online codes in bits."""

from itertools import pairwise

import numpy as np
import pytest

from headcount.probe.layers.features import Features
from headcount.probe.layers.mdl import SHARES, block_ends, code_of, online_codes


def test_the_published_block_ends():
    assert block_ends(10_000) == [10, 20, 40, 80, 160, 320, 625, 1250, 2500, 5000, 10_000]
    assert block_ends(10) == [1, 2, 5, 10]
    assert SHARES[-1] == 1


def test_a_code_by_hand():
    code = code_of(3, 4, [np.array([1.0, 0.5]), np.array([0.25])])
    assert code.blocks == (6.0, 1.5, 0.25)
    assert code.online == 7.75 and code.uniform == 12.0 and code.examples == 6
    assert code.compression == pytest.approx(12 / 7.75)


def test_a_useless_probe_costs_the_uniform_code():
    # A penalty without end allows no weights and no bias: all classes are equally likely.
    generator = np.random.default_rng(0)
    features = Features.of(generator.normal(size=(400, 5)).astype(np.float32))
    labels = generator.choice(3, size=400, p=(0.8, 0.1, 0.1))
    sentences = np.arange(400) // 4
    code = online_codes(features, [(labels, 3, 1e12)], sentences, np.random.default_rng(1))[0]
    assert code.uniform == pytest.approx(400 * np.log2(3))
    assert code.online == pytest.approx(code.uniform, rel=1e-4)


def test_the_online_code_is_what_each_prefix_says_of_the_next_block():
    # No features: each prefix can only learn how frequent the labels are. With the small
    # penalty its probabilities are the shares so far, computed here by counting.
    labels = np.tile([0, 0, 1], 200)
    features = Features.of(np.zeros((600, 1), np.float32))
    code = online_codes(features, [(labels, 2, 1e-4)], np.arange(600), np.random.default_rng(4))[0]
    ranks = np.random.default_rng(4).permutation(600)
    ends = block_ends(600)
    for block, (start, stop) in enumerate(pairwise(ends[3:]), start=4):
        shares = np.bincount(labels[ranks < start], minlength=2) / start
        if shares.min() > 0:
            inside = labels[(ranks >= start) & (ranks < stop)]
            assert code.blocks[block] == pytest.approx(-np.log2(shares[inside]).sum(), rel=0.02)
    assert code.blocks[0] == 1.0 and code.examples == 600


def test_what_is_easier_to_read_is_shorter_and_random_labels_do_not_compress():
    generator = np.random.default_rng(2)
    labels = generator.integers(0, 3, size=900)
    clear = np.eye(3)[labels] + generator.normal(0, 0.2, size=(900, 3))
    blurred = np.eye(3)[labels] + generator.normal(0, 1.0, size=(900, 3))
    shuffled = generator.permutation(labels)
    sentences = np.arange(900) // 3
    order = [np.random.default_rng(5) for _ in range(2)]
    first, noise = online_codes(
        Features.of(clear.astype(np.float32)),
        [(labels, 3, 1.0), (shuffled, 3, 100.0)],
        sentences,
        order[0],
    )
    second = online_codes(
        Features.of(blurred.astype(np.float32)), [(labels, 3, 1.0)], sentences, order[1]
    )[0]
    assert first.online < second.online < second.uniform
    assert first.compression > 5
    assert noise.compression == pytest.approx(1, abs=0.06)


def test_a_class_not_yet_sent_costs_a_finite_number_of_bits():
    labels = np.array([0] * 50 + [1] * 50 + [2])
    features = Features.of(np.eye(101, dtype=np.float32))
    code = online_codes(features, [(labels, 3, 1.0)], np.arange(101), np.random.default_rng(0))[0]
    assert np.isfinite(code.online)
