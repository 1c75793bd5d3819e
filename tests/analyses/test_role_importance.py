"""Odds of a role among important heads, worked out by hand."""

import math

import pandas as pd
import pytest

from headcount.analyses.role_importance import importance_table, odds, top_of_sites
from headcount.models.gates import Head

ENCODER = [Head("encoder", 0, head) for head in range(8)]
CROSS = [Head("cross", 0, head) for head in range(8)]


def test_odds_by_hand():
    important, having = set(ENCODER[:2]), set(ENCODER[:3])
    found = odds(ENCODER, important, having)
    counts = [
        found[f"{who}_{what}"] for who in ("important", "others") for what in ("with", "without")
    ]
    assert counts == [2, 0, 1, 5]
    assert found["odds_ratio"] == pytest.approx(2.5 * 5.5 / (0.5 * 1.5))
    exact = math.comb(3, 2) * math.comb(5, 0) / math.comb(8, 2)  # both of two drawn have one
    assert found["p"] == pytest.approx(exact)
    assert found["p_within"] == pytest.approx(exact)


def test_sites_that_differ_in_both_do_not_count():
    """All of cross has a role and half of it is important: within sites there is nothing."""
    heads = ENCODER + CROSS
    found = odds(heads, set(CROSS[:4]), set(CROSS))
    assert found["p"] < 0.05 and found["odds_ratio"] > 5
    assert found["p_within"] == pytest.approx(1.0)


def test_roles_are_dealt_out_within_sites_over_all_permutations():
    """Of three heads a site one is important; of the first site one has a role, of the other two.

    Both have one with 1/3 x 2/3, at least one with 1 - 2/3 x 1/3.
    """
    heads = ENCODER[:3] + CROSS[:3]
    important = {ENCODER[0], CROSS[0]}
    both = odds(heads, important, {ENCODER[0], CROSS[0], CROSS[1]})
    assert both["p_within"] == pytest.approx(2 / 9)
    one = odds(heads, important, {ENCODER[1], CROSS[0], CROSS[1]})
    assert one["p_within"] == pytest.approx(1 - 2 / 9)


def test_the_top_quarter_is_of_each_site():
    rank = {head: place for place, head in enumerate(ENCODER + CROSS, start=1)}
    assert top_of_sites(rank, ENCODER + CROSS) == {*ENCODER[:2], *CROSS[:2]}
    assert top_of_sites(rank, ENCODER[:1]) == {ENCODER[0]}


def test_one_row_a_metric_and_site():
    scores = pd.DataFrame(
        [
            {"metric": metric, **head._asdict(), "rank": place if metric == "up" else 17 - place}
            for metric in ("up", "down")
            for place, head in enumerate(ENCODER + CROSS, start=1)
        ]
    )
    table = importance_table(scores, ENCODER + CROSS, set(ENCODER[:2]), "made").rows
    assert table[["metric", "site"]].to_numpy().tolist() == [
        [metric, site] for metric in ("up", "down") for site in ("encoder", "cross", "all")
    ]
    up, down = (table[table["site"] == "encoder"].iloc[row] for row in (0, 1))
    assert (up["important_with"], down["important_with"]) == (2, 0)
    assert up["p"] == pytest.approx(1 / math.comb(8, 2)) and down["p"] == 1.0
