"""How many sentences a metric needs, on made values whose noise is known."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from headcount.analyses.ranking import between
from headcount.analyses.reliability import ReliabilitySettings
from headcount.analyses.reliability.stability import Sample, stability_table
from headcount.analyses.score_tables import metrics_table
from headcount.analyses.stability import ladder, mean_correlation, sentences_to_stable
from headcount.models.gates import HeadLayout
from headcount.probe.importance import HeadScores
from headcount.probe.stream import Measured

HEADS = 24
LAYOUT = HeadLayout.full({"encoder": 1, "decoder": 1, "cross": 1}, 8)


def noisy(noise: float, sentences: int = 200) -> HeadScores:
    """Heads 0, 1, ..., 23 apart by 1, each sentence with its own noise."""
    draws = np.random.default_rng(0).normal(size=(sentences, HEADS))
    values = torch.from_numpy(np.arange(HEADS) + noise * draws)
    return HeadScores(LAYOUT, values, torch.ones_like(values), "nats")


def generator():
    return np.random.default_rng(7)


def test_the_ladder_ends_with_the_half_and_holds_the_sizes_of_a_study():
    assert ladder(1) == [1]
    assert ladder(2) == [1, 2]
    assert ladder(64) == [1, 2, 5, 10, 20, 50, 64]
    assert ladder(1000) == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    assert set(ReliabilitySettings().sizes) <= set(ladder(1000))


def test_spearman_is_that_of_scipy_with_ties():
    draw = np.random.default_rng(1)
    one, other = draw.integers(0, 5, (6, 12)).astype(float), draw.normal(size=(6, 12))
    expected = [stats.spearmanr(a, b).statistic for a, b in zip(one, other, strict=True)]
    assert between(one, other)[1].tolist() == pytest.approx(expected)


def test_spearman_of_no_order_and_of_no_value_is_undefined():
    one = np.array([[1.0, 1, 1], [1, 2, 3], [1, 2, 3]])
    other = np.array([[1.0, 2, 3], [1, 2, math.nan], [3, 2, 1]])
    assert np.isnan(between(one, other)[1]).tolist() == [True, True, False]


def test_clear_values_are_stable_at_once_and_noise_takes_more():
    assert sentences_to_stable(noisy(0.01), generator()) == (1, pytest.approx(1, abs=1e-3))
    needed = [sentences_to_stable(noisy(noise), generator())[0] for noise in (5, 10, 20)]
    assert needed == sorted(needed)
    assert 1 < needed[0] < needed[-1]


def test_four_times_the_sentences_for_twice_the_noise():
    # The noise of a mean falls with the root of n; the other side has little of it here.
    quiet, loud = (
        mean_correlation(noisy(noise, 4000), size, generator(), 40)
        for noise, size in ((10, 16), (20, 64))
    )
    assert quiet == pytest.approx(loud, abs=0.02)


def test_sentences_that_were_not_measured_count_for_nothing():
    """A metric that measures the first 20 of 200 sentences needs as many as one that got 20."""
    few = noisy(5, 20)
    rows, columns = few.values.shape
    nothing = torch.zeros(180, columns, dtype=torch.float64)
    padded = HeadScores(
        LAYOUT, torch.cat([few.values, nothing]), torch.cat([few.weights, nothing]), "nats"
    )
    table = metrics_table({"random": Measured(padded, 1.0)}, {"random": ()}, 7, "made").rows
    assert table.loc[0, "sentences"] == rows
    assert table.loc[0, "half_correlation"] == sentences_to_stable(few, generator())[1]
    sample = {"random": padded}
    options = {"counts": (5, 50), "draws": 3, "resamples": 10, "seed": 0, "n": "made"}
    found = stability_table(Sample("a", sample), [], None, **options).rows
    assert set(zip(found["across"], found["sentences"], found["others"], strict=True)) == {
        ("halves", 10, 10),
        ("sentences", 5, 15),
    }


def test_what_is_never_stable_has_no_number():
    found, half = sentences_to_stable(noisy(1000), generator())
    assert found is None
    assert half < 0.9


def test_sides_never_share_a_sentence():
    # Nothing but noise: a subset that shared sentences with what it is compared with would agree.
    pure = noisy(1e9)
    assert abs(mean_correlation(pure, 100, generator(), 200)) < 0.1


def test_no_order_one_sentence_and_no_text():
    flat = torch.ones(20, HEADS, dtype=torch.float64)
    flat[::2] = 2
    found, half = sentences_to_stable(
        HeadScores(LAYOUT, flat, torch.ones_like(flat), ""), generator()
    )
    assert found is None
    assert math.isnan(half)
    found, half = sentences_to_stable(noisy(1, sentences=1), generator())
    assert found is None
    assert math.isnan(half)
    same = noisy(0.0)
    assert sentences_to_stable(same, generator()) == (0, 1.0)


def test_a_head_of_which_few_sentences_speak_is_not_stable_early():
    scores = noisy(0.01)
    weights = torch.ones_like(scores.values)
    weights[:-20, 3] = 0
    few = HeadScores(LAYOUT, scores.values * weights, weights, "nats")
    found, half = sentences_to_stable(few, generator())
    assert found is not None
    assert found > 8
    assert half > 0.99
