"""Correlations, concentration, stability and verdicts against numbers worked out by hand."""

import numpy as np
import pytest
import torch
from scipy import stats

from headcount.analyses.ranking import between, kendall, means, resampled, spearman
from headcount.analyses.reliability.agreement import agreement_table, with_leave_one_out
from headcount.analyses.reliability.concentration import concentration_table, gini, top_fifth
from headcount.analyses.reliability.curves import area
from headcount.analyses.reliability.stability import (
    Sample,
    curve_distance,
    halves,
    seeds,
    sizes,
    stability_table,
)
from headcount.analyses.reliability.verdict import Thresholds, verdict_table
from headcount.analyses.result import Table
from headcount.models.errors import UsageError
from headcount.models.gates import HeadLayout
from headcount.probe.importance import HeadScores, Proof

LAYOUT = HeadLayout.from_dict({"encoder": [[0, 1, 2]], "decoder": [[0, 1]], "cross": [[0, 1, 2]]})


def scores(rows, layout=LAYOUT, higher=True, weights=None) -> HeadScores:
    """Scores of made values [sentence, head], every sentence counting the same."""
    values = torch.as_tensor(np.array(rows), dtype=torch.float64)
    weights = torch.ones_like(values) if weights is None else weights
    return HeadScores(layout, values, weights, "made", higher)


def noisy(seed: int, sentences: int = 40, spread: float = 0.1, higher: bool = True) -> HeadScores:
    """A fixed descending truth with noise on every sentence."""
    draw = np.random.default_rng(seed)
    truth = np.linspace(1, 0, len(LAYOUT))
    return scores(truth + draw.normal(0, spread, (sentences, len(LAYOUT))), higher=higher)


def test_correlations_are_scipys_with_ties_and_in_bulk():
    draw = np.random.default_rng(0)
    values = draw.integers(0, 6, (5, 3, 20)).astype(float)  # many ties
    taus, rhos = kendall(values), spearman(values)
    for row in range(5):
        for one in range(3):
            for other in range(3):
                pair = values[row, one], values[row, other]
                expected = stats.kendalltau(*pair).statistic, stats.spearmanr(*pair).statistic
                found = taus[row, one, other], rhos[row, one, other]
                assert found == (pytest.approx(expected[0]), pytest.approx(expected[1]))


def test_a_metric_that_does_not_tell_heads_apart_has_no_correlation():
    tau, rho = between(np.ones(4), np.arange(4.0))
    assert np.isnan(tau)
    assert np.isnan(rho)
    tau, rho = between(np.array([1.0, np.nan, 2, 3]), np.arange(4.0))
    assert np.isnan(tau)
    assert np.isnan(rho)


def test_small_values_that_matter_are_turned_round():
    one = scores([[1.0] * 8, [3.0] * 8], higher=False)
    assert means(one, np.array([[1.0, 1.0], [0, 2]])).tolist() == [[-2.0] * 8, [-3.0] * 8]


def test_agreement_by_site_by_hand():
    #           encoder    decoder  cross
    one = scores([[3, 2, 1, 5, 4, 9, 8, 7]] * 2)
    other = scores([[3, 1, 2, 4, 5, 9, 8, 7]] * 2)
    rows = agreement_table({"one": one, "other": other}, 0, 10, "n").rows.set_index("site")
    assert rows["kendall"]["encoder"] == pytest.approx(1 / 3)  # 2 pairs agree, 1 does not
    assert rows["spearman"]["encoder"] == pytest.approx(0.5)
    assert rows["kendall"]["decoder"] == pytest.approx(-1)
    assert rows["spearman"]["decoder"] == pytest.approx(-1)
    assert rows["kendall"]["cross"] == pytest.approx(1)
    assert rows["kendall"]["all"] == pytest.approx((28 - 2 * 2) / 28)  # 2 of 28 pairs disagree
    assert list(rows["heads"]) == [8, 3, 2, 3]


def test_intervals_come_from_the_same_resamples_of_both_metrics():
    one = noisy(0)
    same = HeadScores(LAYOUT, one.values * 7, one.weights, "other unit")
    unlike = noisy(1, spread=0.6)
    measured = {"one": one, "same": same, "unlike": unlike}
    rows = agreement_table(measured, 0, 200, "n").rows
    rows = rows[rows["site"] == "all"].set_index(["metric", "other"])
    # Were the two resampled apart, noise would make the lower bound smaller than 1.
    assert rows.loc[("one", "same"), "kendall_low"] == pytest.approx(1)
    low, value, high = rows.loc[("one", "unlike"), ["kendall_low", "kendall", "kendall_high"]]
    assert low < value <= high
    pairs = zip(resampled(one, 0, 200), resampled(unlike, 0, 200), strict=True)
    expected = [stats.kendalltau(*pair).statistic for pair in pairs]
    assert low == pytest.approx(np.percentile(expected, 2.5))


def test_faithfulness_is_the_agreement_with_leave_one_out():
    measured = {"one": noisy(0), "leave_one_out": noisy(1), "two": noisy(2, higher=False)}
    agreement = agreement_table(measured, 0, 20, "n")
    faithful = with_leave_one_out(agreement).rows
    faithful = faithful[faithful["site"] == "all"].set_index("metric")
    assert list(faithful.index) == ["one", "two"]
    assert faithful["kendall"]["one"] > 0.5
    assert faithful["kendall"]["two"] < -0.5


def test_one_sentence_has_values_but_no_intervals():
    measured = {"one": noisy(0, 1), "leave_one_out": noisy(1, 1)}
    row = agreement_table(measured, 0, 20, "n").rows.iloc[0]
    assert np.isfinite(row["kendall"])
    assert np.isnan(row["kendall_low"])
    assert np.isnan(row["spearman_high"])
    assert halves(measured["one"], 5, np.random.default_rng(0)) == []
    table = concentration_table({"one": measured["one"]}, [], 0, 20, "n").rows
    assert table["value"].notna().all()
    assert table["low"].isna().all()


def test_gini_by_hand():
    assert gini(np.array([2.0, 2, 2, 2])) == pytest.approx(0)
    assert gini(np.array([0.0, 0, 0, 8])) == pytest.approx(3 / 4)
    # Sorted 1 2 3 4: (-3 x 1 - 1 x 2 + 1 x 3 + 3 x 4) / (4 x 10).
    assert gini(np.array([4.0, 1, 3, 2])) == pytest.approx(10 / 40)
    mean_difference = np.abs(np.subtract.outer([4.0, 1, 3, 2], [4.0, 1, 3, 2])).mean()
    assert gini(np.array([4.0, 1, 3, 2])) == pytest.approx(mean_difference / (2 * 2.5))
    assert gini(np.array([-5.0, 0, 0, 8])) == pytest.approx(3 / 4)
    assert np.isnan(gini(np.array([-5.0, 0, 0, 0])))


def test_top_fifth_by_hand():
    assert top_fifth(np.array([1.0, 1, 1, 1, 6])) == pytest.approx(0.6)
    assert top_fifth(np.array([1.0, 1, 1, 1, 4, 4])) == pytest.approx(8 / 12)  # two of six
    assert top_fifth(np.array([-9.0, 1, 1, 1, 1])) == pytest.approx(0.25)


def test_concentration_stands_beside_random_weights():
    few = scores([[8, 0, 0, 0, 0, 0, 0, 0]] * 3)
    even = scores([[1] * 8] * 3)
    lopsided = scores([[4, 4, 0, 0, 0, 0, 0, 0]] * 3)
    entropy = noisy(0, 3, higher=False)
    table = concentration_table(
        {"few": few, "entropy": entropy},
        [{"few": even, "entropy": entropy}, {"few": lopsided, "entropy": entropy}],
        0,
        10,
        "n",
    ).rows.set_index(["metric", "measure"])
    row = table.loc[("few", "gini")]
    assert (row["value"], row["low"], row["high"]) == (7 / 8, 7 / 8, 7 / 8)
    assert row["random_weights"] == pytest.approx((0 + 6 / 8) / 2)
    assert (row["random_low"], row["random_high"]) == (0, 6 / 8)
    assert table.loc[("few", "top_fifth"), "value"] == 1
    assert table.loc["entropy"][["value", "random_weights"]].isna().all().all()


def test_halves_and_sizes_grow_with_what_there_is():
    clear, blurred = noisy(0, 60, 0.05), noisy(0, 60, 2.0)
    found = {
        name: {row["site"]: row for row in halves(it, 40, np.random.default_rng(1))}
        for name, it in (("clear", clear), ("blurred", blurred))
    }
    assert found["clear"]["all"]["spearman"] > 0.97
    assert found["blurred"]["all"]["spearman"] < 0.8
    row = found["blurred"]["all"]
    assert row["spearman_brown"] == pytest.approx(2 * row["spearman"] / (1 + row["spearman"]))
    assert row["spearman_low"] < row["spearman"] < row["spearman_high"]
    assert (row["sentences"], row["others"]) == (30, 30)
    rows = sizes(blurred, (5, 20, 30, 31, 500), 40, np.random.default_rng(1))
    rows = [row for row in rows if row["site"] == "all"]
    assert [(row["sentences"], row["others"]) for row in rows] == [(5, 55), (20, 40), (30, 30)]
    assert rows[0]["spearman"] < rows[2]["spearman"]


def test_halves_are_disjoint():
    # Sentence i speaks of head i alone, so two disjoint halves can never agree.
    alone = scores(np.eye(8))
    rows = halves(alone, 30, np.random.default_rng(0))
    every = next(row for row in rows if row["site"] == "all")
    assert every["kendall_high"] < 0


def test_a_metric_that_reads_no_text_is_not_asked_about_sentences():
    fixed = scores([[8, 7, 6, 5, 4, 3, 2, 1]] * 50)
    assert halves(fixed, 5, np.random.default_rng(0)) == []
    assert sizes(fixed, (5,), 5, np.random.default_rng(0)) == []


def permuted(one: HeadScores, layout: HeadLayout) -> HeadScores:
    """The same heads under other numbers, within each sublayer."""
    columns = list(range(len(layout)))
    for at in layout.slices.values():
        columns[at] = columns[at][::-1]
    return HeadScores(layout, one.values[:, columns], one.weights, one.unit)


def test_seeds_that_differ_by_numbering_alone_are_found_equal():
    layout = HeadLayout.full({"encoder": 2, "decoder": 2, "cross": 2}, 4)
    draw = np.random.default_rng(3)
    one = scores(np.repeat(draw.normal(size=(1, 24)) ** 2, 5, 0), layout)
    other = permuted(one, layout)
    pair = [Sample("a", {"m": one}), Sample("b", {"m": other})]
    rows = {
        (row["compared"], row["site"]): row for row in seeds("m", pair, np.random.default_rng(0))
    }
    assert rows["heads", "all"]["spearman"] < 0.9
    assert rows["sublayers", "all"]["spearman"] == pytest.approx(1)
    assert rows["ranked", "all"]["spearman"] == pytest.approx(1)
    assert 0 < rows["ranked", "all"]["chance"] < 0.9
    assert rows["shape", "all"]["distance"] == 0
    assert rows["heads", "all"]["detail"] == "a / b"


def test_levels_of_sublayers_make_numbers_look_alike_and_chance_says_so():
    layout = HeadLayout.full({"encoder": 1, "decoder": 1, "cross": 1}, 8)
    level = np.repeat([0.0, 10, 20], 8)
    draw = np.random.default_rng(0)
    one, other = (scores([level + draw.normal(size=24)] * 3, layout) for _ in range(2))
    rows = seeds("m", [Sample("a", {"m": one}), Sample("b", {"m": other})], draw)
    row = next(row for row in rows if (row["compared"], row["site"]) == ("heads", "all"))
    assert row["spearman"] > 0.8
    assert row["chance"] == pytest.approx(row["spearman"], abs=0.08)
    row = next(row for row in rows if (row["compared"], row["site"]) == ("heads", "cross"))
    assert abs(row["chance"]) < 0.1


def test_three_seeds_are_compared_two_by_two_and_must_have_the_same_heads():
    samples = [Sample(name, {"m": noisy(seed)}) for seed, name in enumerate("abc")]
    rows = seeds("m", samples, np.random.default_rng(0))
    assert {row["detail"] for row in rows} == {"a / b", "a / c", "b / c"}
    fewer = scores(np.ones((4, 7)), LAYOUT.without([LAYOUT.heads[0]]))
    with pytest.raises(UsageError, match="different heads"):
        seeds("m", [samples[0], Sample("cut", {"m": fewer})], np.random.default_rng(0))


def test_distance_of_curves_by_hand():
    # Shares of the largest k: 1, 1 and 1/2, 1.
    assert curve_distance(np.array([0.0, 5]), np.array([2.0, 2])) == pytest.approx(0.5)
    assert np.isnan(curve_distance(np.array([-1.0, 0]), np.array([2.0, 2])))


def test_the_whole_table_has_every_kind():
    own, other = Sample("own", {"m": noisy(0)}), Sample("other", {"m": noisy(5)})
    table = stability_table(
        own, [other], other, counts=(10,), draws=5, resamples=20, seed=0, n="n"
    ).rows
    assert list(dict.fromkeys(table["across"])) == ["halves", "sentences", "seeds", "domain"]
    domain = table[(table["across"] == "domain") & (table["site"] == "all")].iloc[0]
    assert domain["spearman_low"] <= domain["spearman"] <= domain["spearman_high"]
    assert domain["detail"] == "other"


def test_area_of_curves_by_hand():
    share = np.array([0.0, 0.5, 1.0])
    assert area(share, np.array([0.0, 1.0, 1.0])) == pytest.approx(0.75)
    assert area(share / 2, np.array([[0.0, 1, 1], [2, 2, 2]])).tolist() == [0.75, 2]
    assert np.isnan(area(np.array([1.0]), np.array([3.0])))


def tables_for(metric: str, tau: float, low: float, gain: float, halves_rho: float):
    """Tables in which one metric has these numbers."""
    columns = {
        "faithfulness": {"metric": metric, "site": "all", "kendall": tau, "kendall_low": low},
        "areas": {
            "order": metric,
            "measure": "nll",
            "against_random": gain,
            "against_random_high": gain + 0.1,
            "against_greedy": 0.2,
        },
    }
    import pandas as pd

    tables = {name: Table("", (), pd.DataFrame([row])) for name, row in columns.items()}
    sizes = [(50, 0.7), (100, 0.95), (200, 0.89), (500, 0.93), (1000, 0.99)]
    rows = [{"across": "halves", "spearman": halves_rho, "sentences": 10}]
    rows += [{"across": "sentences", "spearman": rho, "sentences": n} for n, rho in sizes]
    frame = pd.DataFrame([{"metric": metric, "site": "all", **row} for row in rows])
    return {**tables, "stability": Table("", (), frame)}


GOOD = (Proof("a", 0.0, 1e-6), Proof("b", 0.0, 1e-6))


@pytest.mark.parametrize(
    ("numbers", "proofs", "believable", "first"),
    [
        ((0.5, 0.4, -0.5, 0.95), GOOD, True, "its 2 proofs hold"),
        ((0.2, 0.1, -0.5, 0.95), GOOD, False, "tau 0.20 with leave-one-out is below 0.3"),
        ((0.4, -0.1, -0.5, 0.95), GOOD, False, "tau 0.40 with leave-one-out is not surely"),
        ((np.nan, np.nan, -0.5, 0.95), GOOD, False, "does not tell heads apart"),
        ((0.5, 0.4, -0.05, 0.95), GOOD, False, "0.05 nats a token better than random orders, wh"),
        ((0.5, 0.4, 0.5, 0.95), GOOD, False, "0.50 nats a token worse than random"),
        ((0.5, 0.4, -0.5, 0.7), GOOD, False, "rho 0.70 between halves of the sentences is below"),
        ((0.5, 0.4, -0.5, np.nan), GOOD, True, "whether other sentences say the same was not"),
        ((0.5, 0.4, -0.5, 0.95), (), True, "gives no proof of itself"),
        ((0.5, 0.4, -0.5, 0.95), (Proof("sums", np.nan, 1e-3),), False, "a proof fails (sums: nan"),
    ],
)
def test_verdicts_follow_the_thresholds_and_say_why(numbers, proofs, believable, first):
    tables = tables_for("m", *numbers)
    row = verdict_table(["m"], {"m": proofs}, tables, Thresholds(), "n").rows.iloc[0]
    assert row["believable"] == believable
    assert row["why"].startswith(first)
    assert row["stable_at"] == 500  # 100 is high too, but 200 is not


def test_chance_is_never_believed_and_leave_one_out_needs_no_comparison():
    tables = tables_for("random", 0.9, 0.8, -2.0, 1.0)
    row = verdict_table(["random"], {}, tables, Thresholds(), "n").rows.iloc[0]
    assert not row["believable"]
    tables = tables_for("leave_one_out", np.nan, np.nan, -2.0, 0.9)
    tables.pop("faithfulness")
    row = verdict_table(["leave_one_out"], {}, tables, Thresholds(), "n").rows.iloc[0]
    assert row["believable"]
    assert "exact change" in row["why"]
