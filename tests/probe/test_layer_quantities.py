"""Numbers read by ridge regression: a planted depth, and R^2 by hand."""

import numpy as np
import pytest

from headcount.probe.annotations import AnnotatedSentence, Judgement, Word
from headcount.probe.layers.examples import Split
from headcount.probe.layers.quantities import (
    FEWEST,
    PENALTIES,
    Quantity,
    Reading,
    quantities_of,
    read_numbers,
)
from headcount.probe.layers.tasks import Words

SPLIT = Split(np.repeat([0, 1, 2], 60))


@pytest.fixture
def chains():
    """Sentences of three words, each hanging on the one before; one judgement each."""
    heads = (-1, 0, 1)
    return [
        AnnotatedSentence(
            f"{number}",
            "a b c",
            tuple(Word("abc"[i], 2 * i, 2 * i + 1, head=heads[i]) for i in range(3)),
            has_tree=True,
            judgements=(Judgement((0, 1), "volition", number % 5 - 2.0, 1.0),),
        )
        for number in range(180)
    ]


def test_depths_distances_and_judgements_are_told(chains):
    words = Words(3 * np.arange(181), np.ones(540, bool), np.zeros(540, np.int64))
    depth, distance, volition = quantities_of(chains, words, SPLIT)
    assert depth.name == "depth" and depth.values[:3].tolist() == [0, 1, 2]
    assert distance.name == "head distance" and set(distance.values) == {-1}
    assert volition.rows[:2].tolist() == [1, 4] and volition.partners[:2].tolist() == [0, 3]
    nowhere = Words(words.starts, np.zeros(540, bool), words.types)
    assert quantities_of(chains, nowhere, SPLIT) == []
    few = Split(np.array([0] * 170 + [1] * 5 + [2] * 5))
    assert "volition" not in [it.name for it in quantities_of(chains, words, few)] and FEWEST > 5


def test_a_planted_number_is_read_and_noise_is_not(chains):
    generator = np.random.default_rng(0)
    words = Words(3 * np.arange(181), np.ones(540, bool), np.zeros(540, np.int64))
    depth = quantities_of(chains, words, SPLIT)[0]
    noise = generator.normal(size=(540, 6)).astype(np.float32)
    planted = noise.copy()
    planted[:, 2] += 5 * depth.values
    assert read_numbers(planted, depth, SPLIT, PENALTIES).r_squared > 0.9
    assert read_numbers(noise, depth, SPLIT, PENALTIES).r_squared < 0.1


def test_r_squared_by_hand():
    quantity = Quantity(
        "made", np.arange(6), None, np.array([0, 0, 1, 1, 2, 2]), np.array([0.0, 2, 0, 2, 1, 5])
    )
    split = Split(np.array([0, 1, 2]))
    states = np.array([[-1.0], [1], [-1], [1], [-1], [1]])
    found = read_numbers(states, quantity, split, (2.0,))
    # Training: mean 1, centred products 2, sum of squares 2: slope 2 / (2 + 2) = 0.5.
    # Test: predictions 0.5 and 1.5 for 1 and 5: errors 0.25 + 12.25; deviation from 3 is 8.
    assert found.sums.tolist() == [[2, 6, 26, 12.5]]
    assert found.r_squared == pytest.approx(1 - 12.5 / 8)
    assert np.isnan(Reading.explained(np.array([[2.0, 2, 2, 1]]))).all()  # all values equal
