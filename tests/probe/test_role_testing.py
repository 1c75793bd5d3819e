"""Effects, intervals and corrected tests of roles, against numbers worked out by hand."""

import numpy as np
import pytest
import torch
from scipy import stats

from headcount.models.gates import Head
from headcount.probe.roles.answers import ArcScores
from headcount.probe.roles.questions import Arc
from headcount.probe.roles.testing import compared, holm

HEADS = (Head("encoder", 0, 0), Head("encoder", 0, 1))
NSUBJ = Arc("nsubj", "dependent->head")


def scores(right, by_place, by_chance, asked) -> ArcScores:
    """Of one kind of question and one place a column; rows are sentences."""
    right, by_place, asked = (
        torch.tensor(it, dtype=torch.int16) for it in (right, by_place, asked)
    )
    return ArcScores(
        HEADS,
        (NSUBJ,),
        right=right[:, None, :],
        places=("-1", "+1"),
        by_place=by_place[:, None, :],
        by_chance=torch.tensor(by_chance, dtype=torch.float64)[:, None],
        asked=asked[:, None],
        unseen=0,
    )


def test_the_effect_is_the_lead_over_the_strongest_baseline():
    # Sentences 0, 1 choose: head 0 and place +1. Sentences 2, 3, 4 score.
    made = scores(
        right=[[3, 0], [2, 1], [4, 1], [2, 2], [3, 0]],
        by_place=[[0, 2], [1, 1], [9, 1], [9, 2], [9, 1]],
        by_chance=[0.5, 0.5, 1.0, 0.5, 0.5],
        asked=[4, 3, 4, 3, 3],
    )
    found = compared(made, [0, 1], [2, 3, 4], generator=np.random.default_rng(0), resamples=500)
    assert [(it.head, it.chosen) for it in found] == [(HEADS[0], True), (HEADS[1], False)]
    first, second = found
    assert (first.questions, first.sentences, first.place) == (10, 3, "+1")
    assert (first.accuracy, first.baseline, first.chance, first.floor) == (0.9, 0.4, 0.2, 0.0)
    assert first.effect == pytest.approx(0.5)
    assert second.effect == pytest.approx(-0.1)
    assert first.low <= first.effect <= first.high
    # Leads over the place are 3, 0, 2; over chance 3, 1.5, 2.5; over nothing 4, 2, 3.
    assert first.p == pytest.approx(stats.norm.sf(5 / 13**0.5))
    assert second.p == pytest.approx(stats.norm.sf(-1 / 1**0.5))  # leads 0, 0, -1
    assert first.holds(0.05) and not first.holds(0.06) and not second.holds(0.0)


def test_random_weights_are_a_baseline_too():
    made = scores([[2, 0], [2, 1]], [[0, 0], [0, 0]], [0.1, 0.1], [2, 2])
    floor = scores([[0, 2], [1, 2]], [[0, 0], [0, 0]], [0.1, 0.1], [2, 2])
    worse = scores([[1, 0], [2, 2]], [[0, 0], [0, 0]], [0.1, 0.1], [2, 2])
    draw = np.random.default_rng(0)
    first, _ = compared(made, [0], [1], [worse, floor], generator=draw, resamples=0)
    assert first.floor == 1.0 and first.effect == 0.0 and np.isnan(first.low)
    assert first.p == 0.5  # no lead at all
    with pytest.raises(ValueError, match="the same questions"):
        other = scores([[2, 0], [2, 1]], [[0, 0], [0, 0]], [0.1, 0.1], [2, 1])
        compared(made, [0], [1], [other], generator=draw)
    with pytest.raises(ValueError, match="both choose and score"):
        compared(made, [0, 1], [1], generator=draw)


def test_kinds_without_questions_on_a_side_are_left_out():
    made = scores([[2, 0], [0, 0]], [[0, 0], [0, 0]], [0.1, 0.0], [2, 0])
    assert compared(made, [0], [1], generator=np.random.default_rng(0)) == []
    assert compared(made, [1], [0], generator=np.random.default_rng(0)) == []


def test_the_interval_has_its_width_from_sentences_and_not_from_words():
    """Ten sentences right in all of five words and ten in none: sd of the mean 0.5/sqrt 20."""
    right = [[0, 0]] + [[5, 0]] * 10 + [[0, 0]] * 10
    made = scores(right, [[0, 0]] * 21, [0.0] * 21, [5] * 21)
    draw = np.random.default_rng(0)
    first, _ = compared(made, [0], range(1, 21), generator=draw, resamples=4000)
    assert first.effect == 0.5
    half = 1.96 * 0.5 / 20**0.5
    assert first.low == pytest.approx(0.5 - half, abs=0.03)
    assert first.high == pytest.approx(0.5 + half, abs=0.03)


def test_sign_flips_are_about_exact():
    """Twelve leads of 1: exactly one flip in 2^12 is as large."""
    made = scores([[1, 1]] * 13, [[0, 0]] * 13, [0.0] * 13, [1] * 13)
    first, _ = compared(made, [0], range(1, 13), generator=np.random.default_rng(0), resamples=0)
    assert first.p == pytest.approx(2**-12, rel=0.2)


def test_holm_by_hand():
    # Sorted: .01 x 4, .02 x 3, .03 x 2 = .06, .04 x 1, which may not fall below the one before.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_is_between_no_correction_and_bonferronis():
    drawn = np.random.default_rng(0).uniform(size=40)
    corrected = np.array(holm(drawn.tolist()))
    assert (corrected >= drawn).all()
    assert (corrected <= np.minimum(1, drawn * 40) + 1e-12).all()
    assert (np.diff(corrected[drawn.argsort()]) >= 0).all()


def test_no_head_has_a_role_where_all_are_chance():
    """Heads that guess: over 200 corpora hardly one has any role by Holm."""
    draw = np.random.default_rng(1)
    false = 0
    for _ in range(200):
        right = draw.binomial(4, 0.25, size=(60, 2))
        made = scores(right.tolist(), [[0, 0]] * 60, [1.0] * 60, [4] * 60)
        found = compared(made, range(30), range(30, 60), generator=draw, resamples=0)
        false += any(p <= 0.05 for p in holm([it.p for it in found]))
    assert false <= 20  # 10 are expected, 20 is three standard deviations above
