"""What the comparison of ways makes of its points: by hand, and as the paired bootstrap does."""

import numpy as np
import pytest

from headcount.analyses.points import Measured
from headcount.analyses.pruning.arms import ArmPoint
from headcount.analyses.pruning.curves import (
    against_table,
    overview_table,
    resampled,
    summary_table,
)
from headcount.analyses.pruning.vanishing import roles_of, vanishing_tables
from headcount.analyses.result import Provenance, Result, Table
from headcount.analyses.role_tables import ROLES
from headcount.models.data.parallel_text import ParallelText
from headcount.models.gates import HeadLayout
from headcount.models.quality import paired

TARGET = [f"the {word} dog sleeps near the old {word} tree" for word in "abcdefghijkl"]
TEXT = ParallelText("made", TARGET, TARGET)
LAYOUT = HeadLayout.from_dict({"encoder": [[0, 1]], "decoder": [[0]], "cross": [[0]]})
E0, E1, D0, C0 = LAYOUT.heads


def said(wrong: int) -> list[str]:
    return ["no such words here at all" if at < wrong else line for at, line in enumerate(TARGET)]


def point(name, draw, kept, wrong, loss=10.0, **more) -> ArmPoint:
    found = Measured(said(wrong), [loss] * len(TARGET), [5] * len(TARGET), 100, 1.0)
    return ArmPoint(name, draw, len(kept), tuple(kept), found, **more)


POINTS = [
    point("one", 0, LAYOUT, 0),
    point(
        "one", 0, [E1, C0], 4, 20.0, updates=10, fresh=10, choosing=1.0, training=2.0, measuring=3.0
    ),
    point("one", 0, [C0], 9, 30.0, updates=12, fresh=8, choosing=0.0, training=2.0, measuring=3.0),
    point("two", 0, LAYOUT, 0),
    point("two", 0, [E1, D0], 2, 10.0),
    point("two", 0, [E1], 3, 20.0),
    point("two", 1, LAYOUT, 0),
    point("two", 1, [D0, C0], 6, 30.0),
    point("two", 1, [D0], 7, 40.0),
]


@pytest.fixture(scope="module")
def found():
    return {name: resampled(POINTS, name, TEXT, 400, 3) for name in ("bleu", "chrf", "nll")}


def test_means_and_extremes_of_the_repetitions_by_hand(found):
    order = list(found["bleu"].exact)
    rows = summary_table(found, "n", "i", order).rows.set_index(["order", "heads_left"])
    assert rows.loc[("two", 2), "nll"] == pytest.approx((2 + 6) / 2)
    assert tuple(rows.loc[("two", 2), ["nll_least", "nll_most"]]) == (2, 6)
    # All sentences lose alike, so what the interval covers is the choice of repetitions.
    assert tuple(rows.loc[("two", 2), ["nll_low", "nll_high"]]) == (2, 6)
    assert tuple(rows.loc[("one", 2), ["nll_low", "nll_high"]]) == (4, 4)
    assert rows.loc[("one", 4), "bleu"] == pytest.approx(100)
    assert tuple(rows.loc[("one", 4), ["difference_low", "difference_high"]]) == (0, 0)
    lost = rows.loc[("two", 1), "bleu"] - 100
    assert rows.loc[("two", 1), "bleu_difference"] == pytest.approx(lost)
    assert list(rows["repetitions"]) == [1, 1, 1, 2, 2, 2]


def test_one_repetition_has_the_interval_of_the_paired_bootstrap(found):
    one = [it for it in POINTS if it.draw == 0]
    bleu = resampled(one, "bleu", TEXT, 400, 3)
    rows = against_table(bleu, "n", "i").rows
    row = rows[(rows["order"] == "two") & (rows["heads_left"] == 2)].iloc[0]
    assert row["against"] == "one"
    sides = (said(4), said(2), TARGET)
    expected = paired("bleu", *sides, np.random.default_rng(3), resamples=400)
    assert row["difference"] == pytest.approx(expected.difference)
    bounds = (row["difference_low"], row["difference_high"])
    assert bounds == pytest.approx((expected.low, expected.high))


def of_trainings(name, repetitions):
    """A way on two trainings of the network; every repetition does what its training does."""
    return [
        point(name, draw, kept, 2 + 4 * model if kept else 0, 10.0 + 20 * model, model=model)
        for draw, model in enumerate(np.repeat([0, 1], repetitions).tolist())
        for kept in (LAYOUT, [E1, C0])
    ]


def test_repetitions_of_one_training_are_no_other_trainings():
    """A mean of two drawn trainings is 2, 4 or 6; of six drawn repetitions it is between."""
    found = {
        name: resampled(of_trainings("one", 3), name, TEXT, 400, 3) for name in ("bleu", "nll")
    }
    rows = summary_table(found, "n", "i", [(("one", "all"), 2)]).rows
    assert rows["repetitions"].tolist() == [6]
    assert tuple(rows.loc[0, ["nll", "nll_low", "nll_high"]]) == (4, 2, 6)
    drawn = found["nll"].drawn[("one", "all"), 2]
    assert set(drawn.round(9).tolist()) == {2, 4, 6}


def test_ways_are_compared_on_the_same_trainings():
    points = [*of_trainings("one", 1), *of_trainings("two", 2)]
    rows = against_table(resampled(points, "bleu", TEXT, 400, 3), "n", "i").rows
    apart = rows[rows["heads_left"] == 2]
    assert len(apart) == 2
    assert (apart[["difference", "difference_low", "difference_high"]].abs() < 1e-9).all(axis=None)


def test_a_way_is_as_far_from_another_as_the_other_from_it(found):
    rows = against_table(found["bleu"], "n", "i").rows
    there, back = (rows[rows["order"] == name].reset_index() for name in ("one", "two"))
    assert len(rows) == 2 * 3
    assert there["difference"].to_numpy() == pytest.approx(-back["difference"].to_numpy())
    assert there["difference_low"].to_numpy() == pytest.approx(-back["difference_high"].to_numpy())


def test_the_area_and_the_price_of_a_curve_by_hand(found):
    knees = [
        {"order": it, "where": "all", "heads_left": at} for it in ("one", "two") for at in (2,)
    ]
    table = overview_table(POINTS, found["bleu"], knees, "n", "i").rows.set_index("order")
    bleu = [float(np.mean(found["bleu"].exact[("one", "all"), heads])) for heads in (1, 2, 4)]
    area = ((bleu[0] + bleu[1]) / 2 * 0.25 + (bleu[1] + bleu[2]) / 2 * 0.5) / (0.75 * bleu[2])
    assert table.loc["one", "area"] == pytest.approx(area)
    assert table.loc["one", "area_low"] < area < table.loc["one", "area_high"]
    columns = ["updates", "choosing", "training", "measuring", "repetitions"]
    assert list(table.loc["one", columns]) == [18, 1, 4, 6, 1]  # made apart, a choice shared


def test_sites_and_roles_vanish_as_counted_by_hand():
    roles = {"syntax": [E0, D0]}
    tables = vanishing_tables(POINTS, LAYOUT, roles)
    gone = tables["gone"].rows.set_index(["order", "kind", "group"]).sort_index()
    # Way one: encoder.0.0 and decoder.0.0 are gone with 2 left, encoder.0.1 with 1, cross never.
    assert gone.loc[("one", "site", "encoder"), "gone_at"] == 1.5
    assert gone.loc[("one", "site", "cross"), "gone_at"] == 0
    assert gone.loc[("one", "role", "syntax"), "gone_at"] == 2
    assert gone.loc[("one", "role", "none"), "gone_at"] == 0.5
    assert set(gone.loc["one", "of_all"]) == {(2 + 1 + 2 + 0) / 4}
    # Way two: decoder.0.0 goes with 1 left, or never.
    row = gone.loc[("two", "site", "decoder")]
    assert list(row[["gone_at", "gone_at_least", "gone_at_most"]]) == [0.5, 0, 1]
    shares = tables["groups"].rows.set_index(["order", "group", "heads_left"])
    assert shares.loc[("two", "encoder", 2), "left"] == 0.5
    assert shares.loc[("two", "encoder", 2), "share"] == 0.25
    assert shares.loc[("one", "encoder", 4), "share"] == 1


def test_heads_with_a_role_are_read_by_the_family_of_the_role():
    rows = [
        {**head._asdict(), "family": family, "role": role}
        for head, family, role in [
            (E0, "syntax", "nsubj"),
            (E0, "semantics", "agent"),
            (E0, "syntax", "obj"),
            (C0, "syntax", "nsubj"),
        ]
    ]
    columns = [it for it in ROLES if it.name in rows[0]]
    origin = Provenance("", "", "", 0, "", {}, "", {}, "", 0.0)
    found = roles_of(Result("roles", {"roles": Table.of("made", columns, rows)}, {}, origin))
    assert {family: set(heads) for family, heads in found.items()} == {
        "syntax": {E0, C0},
        "semantics": {E0},
    }


@pytest.mark.parametrize(
    ("where", "groups", "gone_at"),
    [("encoder", ["encoder"], [1.5]), ("encoder+cross", ["encoder", "cross"], [1.5, 0])],
)
def test_where_some_sites_may_go_the_others_are_not_counted(where, groups, gone_at):
    points = [
        point("one", 0, LAYOUT, 0, where=where),
        point("one", 0, [E1, D0, C0], 1, where=where),
    ]
    gone = vanishing_tables(points, LAYOUT, {})["gone"].rows
    assert list(gone["group"]) == groups
    assert list(gone["gone_at"]) == gone_at
