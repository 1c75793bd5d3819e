"""The rule of the first sentence, on curves small enough to decide by hand."""

import pandas as pd
import pytest
from made_results import curve_records

from headcount.reports.choice import smallest_within


def curve(**lows):
    """One order a keyword: the lower bounds of the loss at 8 (the whole model), 6, 4, 2 heads."""
    return pd.DataFrame(
        [
            {
                "order": order,
                "draw": 0,
                "heads_left": count,
                "bleu": 30 + low,
                "difference_low": low,
            }
            for order, bounds in lows.items()
            for count, low in zip((8, 6, 4, 2), (0.0, *bounds), strict=True)
        ]
    )


def chosen(table, loss=1.0):
    row = smallest_within(table, loss).chosen
    return None if row is None else (row["order"], int(row["heads_left"]))


def test_the_smallest_count_within_the_loss_is_taken():
    assert chosen(curve(a=(-0.2, -0.9, -3.0))) == ("a", 4)
    assert chosen(curve(a=(-0.2, -0.9, -3.0)), 3.0) == ("a", 2)


def test_a_lucky_dip_below_a_failure_is_not_taken():
    assert chosen(curve(a=(-0.2, -1.4, -0.3))) == ("a", 6)


def test_the_order_with_the_fewest_heads_wins_and_then_the_higher_bleu():
    assert chosen(curve(a=(-0.1, -2.0, -9.0), b=(-0.5, -0.9, -9.0))) == ("b", 4)
    assert chosen(curve(a=(-0.5, -0.8, -9.0), b=(-0.5, -0.6, -9.0))) == ("b", 4)


def test_the_bound_counts_and_not_the_mean():
    table = curve(a=(-1.2, -5.0, -9.0))
    table["bleu"] = 30.0
    assert chosen(table) is None


@pytest.mark.parametrize(("bleu", "loss"), [(9.9, 0.5), (2.0, 1.0), (12.0, 12.0), (12.0, 15.0)])
def test_a_model_that_does_not_translate_or_may_lose_everything_gives_no_answer(bleu, loss):
    table = curve(a=(0.0, 0.0, 0.0))
    table["bleu"] = bleu
    assert smallest_within(table, loss).vacuous and chosen(table, loss) is None
    table["bleu"] = 12.1
    assert not smallest_within(table, 12.0).vacuous and chosen(table, 12.0) == ("a", 2)


def test_the_nearest_miss_is_the_smaller_model_that_surely_loses_least():
    row = smallest_within(curve(a=(-1.4, -3.0, -9.0), b=(-1.2, -4.0, -9.0)), 1.0).nearest
    assert (row["order"], row["heads_left"]) == ("b", 6)


def test_random_orders_are_no_candidates():
    assert chosen(curve(random=(0.0, 0.0, 0.0), a=(-0.2, -4.0, -9.0))) == ("a", 6)
    assert smallest_within(curve(random=(0.0, 0.0, 0.0)), 1.0) is None


def test_a_bound_that_was_not_measured_is_within_nothing():
    assert chosen(curve(a=(float("nan"), -0.1, -0.1))) is None


def test_the_made_run():
    table = pd.DataFrame(curve_records())
    assert chosen(table) == ("leave_one_out", 24)
    assert smallest_within(table, 1.0).whole["bleu"] == pytest.approx(88.9)
    assert smallest_within(table, 1.0).orders == 3
