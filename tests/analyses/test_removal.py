"""Orders of removal and the points on them."""

import numpy as np
import pytest

from headcount.analyses.removal import (
    Point,
    RemovalOrder,
    head_counts,
    orders_by_chance,
    orders_by_metric,
)
from headcount.analyses.score import ScoreSettings, score
from headcount.models.errors import UsageError
from headcount.models.gates import Head, HeadLayout

LAYOUT = HeadLayout.from_dict({"encoder": [[0, 1]], "cross": [[0]]})


def test_counts_of_the_miniature_model():
    shares = (1, 7 / 8, 3 / 4, 5 / 8, 1 / 2, 3 / 8, 1 / 4, 1 / 8, 1 / 16, 0)
    assert head_counts(72, shares) == [72, 63, 54, 45, 36, 27, 18, 9, 4, 0]


def test_the_whole_model_is_always_measured():
    assert head_counts(12, (0.5,)) == [12, 6]


def test_a_share_above_one_is_refused():
    with pytest.raises(UsageError, match="write 0 to 1"):
        head_counts(12, (50,))


def test_a_point_removes_the_first_heads_of_its_order():
    order = RemovalOrder("gradient", 0, (Head("cross", 0, 0), *LAYOUT.heads[:2]))
    assert Point(order, 3).removed == frozenset()
    assert Point(order, 2).removed == {Head("cross", 0, 0)}
    assert Point(order, 0).removed == set(LAYOUT.heads)


def test_points_of_different_orders_can_be_one_model():
    orders = orders_by_chance(LAYOUT, 5, np.random.default_rng(0))
    assert {order.draw for order in orders} == set(range(5))
    assert len({Point(order, 0).removed for order in orders}) == 1


def test_orders_are_read_from_the_ranks(planted, copying):
    scores = score(planted, copying, ScoreSettings(sentences=8, resamples=10), seed=0)
    (order,) = orders_by_metric(scores, ["leave_one_out"], planted.layout)
    ranks = scores.tables["heads"].rows.query("metric == 'leave_one_out'")
    by_head = {tuple(row[:3]): row[3] for row in ranks[["site", "layer", "head", "rank"]].values}
    assert [by_head[head] for head in order.heads] == list(range(18, 0, -1))
    with pytest.raises(UsageError, match="was not measured"):
        orders_by_metric(scores, ["relevance"], planted.layout)
    with pytest.raises(UsageError, match="other heads"):
        orders_by_metric(scores, None, LAYOUT)
