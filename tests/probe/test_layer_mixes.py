"""Scalar mixes, ridge regression, the hidden-layer probe and CKA on planted states."""

import numpy as np
import pytest
import torch
from scipy.linalg import lstsq
from sklearn.linear_model import Ridge

from headcount.models.errors import DataError
from headcount.probe.layers.cka import linear_cka
from headcount.probe.layers.features import Features
from headcount.probe.layers.mlp import MlpSettings, fit_mlp
from headcount.probe.layers.ridge import Sums, best_ridge, fit_ridge, r_squared
from headcount.probe.layers.scalar_mix import Mix, _Objective, expected_layer, fit_mix
from headcount.probe.layers.stacked import Solution


def layers_of(generator, words, layers=4, width=6):
    states = generator.normal(size=(layers, words, width)).astype(np.float32)
    return [Features.of(it) for it in states], states


def test_a_planted_mix_is_recovered():
    generator = np.random.default_rng(0)
    features, states = layers_of(generator, 4000)
    planted = np.array([0.1, 0.2, 0.6, 0.1])
    mixed = np.tensordot(planted, states, 1)  # [word, width]
    labels = (mixed @ generator.normal(size=(6, 3))).argmax(1)
    mix = fit_mix(features, labels, 3, 0.1)
    assert mix.shares == pytest.approx(planted, abs=0.03)
    assert mix.centre == pytest.approx(1.7, abs=0.08)
    entropy = -(planted * np.log2(planted)).sum()
    assert mix.divergence == pytest.approx(2 - entropy, abs=0.05)
    assert mix.of(features).whole().std() == pytest.approx(1, abs=0.01)


def test_a_planted_layer_has_the_whole_mix_and_nothing_planted_has_none():
    generator = np.random.default_rng(1)
    features, states = layers_of(generator, 1500)
    labels = (states[2] @ generator.normal(size=(6, 3))).argmax(1)
    mix = fit_mix(features, labels, 3, 1.0)
    assert mix.centre == pytest.approx(2, abs=0.1) and mix.divergence > 1.6
    nothing = fit_mix(features, labels, 3, 1e9)  # no weights are allowed, so no layer is wanted
    assert nothing.divergence == pytest.approx(0, abs=0.01)


def test_the_gradient_of_the_mix_is_that_of_differences():
    generator = np.random.default_rng(2)
    features, _ = layers_of(generator, 50, layers=3, width=4)
    objective = _Objective(features, generator.integers(0, 3, size=50), 3, 2.0)
    values = generator.normal(size=3 + 5 * 3)
    _, gradient = objective(values)
    for index in range(len(values)):
        step = np.zeros(len(values))
        step[index] = 1e-2
        slope = (objective(values + step)[0] - objective(values - step)[0]) / 2e-2
        assert gradient[index] == pytest.approx(slope, abs=2e-3)


def test_centre_and_divergence_by_hand():
    none = Solution(torch.zeros(0), 0.0, 0, True)
    even, one = Mix(np.full(4, 0.25), 1.0, none), Mix(np.array([0, 0, 1.0, 0]), 1.0, none)
    assert (even.centre, even.divergence) == (1.5, 0.0)
    assert (one.centre, one.divergence) == (2.0, 2.0)


def test_the_expected_layer_by_hand_and_its_refusal():
    scores = np.array([0.5, 0.7, 0.8, 0.8])
    generator = np.random.default_rng(3)
    draws = scores + generator.normal(0, 0.005, size=(500, 4))
    found = expected_layer(scores, draws)
    assert found.gain == pytest.approx(0.3)
    assert found.value == pytest.approx((1 * 0.2 + 2 * 0.1 + 3 * 0.0) / 0.3)
    assert found.interval[0] < found.value < found.interval[1]
    refused = expected_layer(np.full(4, 0.5), 0.5 + generator.normal(0, 0.01, size=(500, 4)))
    assert refused.value is None and refused.interval is None
    assert refused.gain_interval[0] < 0 < refused.gain_interval[1]


def test_ridge_from_sums_equals_scikit_learn_and_needs_no_second_pass():
    generator = np.random.default_rng(4)
    rows = generator.normal(3, 2, size=(80, 5)).astype(np.float32)
    targets = rows @ generator.normal(size=(5, 2)) + generator.normal(size=(80, 2)) + 7
    sums = Sums.of(Features(rows, np.arange(80), block_bytes=100), targets)
    weights = fit_ridge(sums, 3.0)
    model = Ridge(alpha=3.0).fit(rows, targets)
    assert weights[:-1] == pytest.approx(model.coef_.T, abs=1e-6)
    assert weights[-1] == pytest.approx(model.intercept_, abs=1e-5)
    other = generator.normal(3, 2, size=(40, 5)).astype(np.float32)
    gold = other @ generator.normal(size=(5, 2))
    residual = gold - (other @ weights[:-1] + weights[-1])
    direct = 1 - (residual**2).sum(0) / ((gold - gold.mean(0)) ** 2).sum(0)
    assert r_squared(weights, Sums.of(Features.of(other), gold)) == pytest.approx(direct)


def test_ridge_with_almost_no_penalty_is_least_squares_and_validation_chooses():
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(60, 30)).astype(np.float32)
    targets = rows[:, :1] + generator.normal(size=(60, 1))
    train, valid = (
        Sums.of(Features.of(rows[part]), targets[part]) for part in (slice(40), slice(40, 60))
    )
    padded = np.column_stack([rows[:40], np.ones(40)])
    exact = lstsq(padded.astype(float), targets[:40])[0]
    assert fit_ridge(train, 1e-9) == pytest.approx(exact, abs=1e-5)
    assert best_ridge(train, valid, (1e-9, 10.0))[1] == 10.0
    with pytest.raises(DataError, match="finite"):
        Sums.of(Features.of(rows), np.full((60, 1), np.nan))


def test_the_hidden_layer_reads_what_a_line_cannot():
    generator = np.random.default_rng(6)
    rows = generator.normal(size=(900, 2)).astype(np.float32)
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(np.int64)
    features = Features.of(rows)
    parts = [np.arange(0, 500), np.arange(500, 700), np.arange(700, 900)]
    train, valid, test = (features.select(part) for part in parts)
    gold = (labels[parts[0]], labels[parts[1]])
    settings = MlpSettings(hidden=16, rate=0.02, batch=100)
    seeded = torch.Generator().manual_seed(0)
    probe = fit_mlp(train, valid, gold, 2, seeded, settings)
    predicted, bits = probe.predict(test, labels[parts[2]])
    assert (predicted == labels[parts[2]]).mean() > 0.93
    assert bits.mean() < 0.5
    again = fit_mlp(train, valid, gold, 2, torch.Generator().manual_seed(0), settings)
    assert again.validation == probe.validation


def test_cka_of_rotations_is_one_and_of_noise_near_none():
    generator = np.random.default_rng(7)
    rows = generator.normal(50, 1, size=(4000, 8))  # a mean that must not count
    rotation = np.linalg.qr(generator.normal(size=(8, 8)))[0]
    layers = [rows, 3 * rows @ rotation, generator.normal(size=(4000, 8))]
    found = linear_cka([Features(it, np.arange(4000), block_bytes=20_000) for it in layers])
    assert np.diag(found) == pytest.approx([1, 1, 1])
    assert found[0, 1] == pytest.approx(1, abs=1e-4)
    assert found[0, 2] < 0.01
    with pytest.raises(DataError, match="more words"):
        linear_cka([Features.of(rows[:8])])


def test_cka_by_the_formula():
    generator = np.random.default_rng(8)
    x, y = generator.normal(size=(30, 3)), generator.normal(size=(30, 5))
    found = linear_cka([Features.of(x), Features.of(y)])[0, 1]
    x, y = x - x.mean(0), y - y.mean(0)
    norm = np.linalg.norm
    assert found == pytest.approx(norm(y.T @ x) ** 2 / norm(x.T @ x) / norm(y.T @ y), abs=1e-5)
