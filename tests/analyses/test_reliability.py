"""The reliability analysis on the planted network, where the right answers are known."""

import tomllib

import numpy as np
import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.analyses.reliability import Other, ReliabilitySettings, reliability
from headcount.analyses.reliability.curves import greedy_order
from headcount.analyses.result import Result
from headcount.analyses.toml_text import toml_text
from headcount.models.data.parallel_text import Corpus
from headcount.models.errors import UsageError
from headcount.models.planted import planted_text
from headcount.models.reinitialised import with_random_weights
from headcount.probe.leave_one_out import losses_without_each

SETTINGS = ReliabilitySettings(
    metrics=("gradient", "leave_one_out", "random"),
    sentences=16,
    curve_sentences=8,
    sizes=(4, 8, 16),
    splits=5,
    resamples=50,
    draws=3,
    shares=(1, 0.5, 1 / 18, 0),
    random_networks=1,
    bleu=True,
    greedy_sentences=4,
    jobs=1,
)


@pytest.fixture(scope="module")
def result(planted, copying) -> Result:
    other = Other("far text", planted, copying.tests["far"])
    seed = Other("the same model", planted, copying.valid)
    return reliability(planted, copying, SETTINGS, 0, seeds=[seed], domain=other)


def rows(result, table, **values):
    found = result.tables[table].rows
    for column, value in values.items():
        found = found[found[column] == value]
    return found


def test_the_greedy_order_ends_with_the_carrier(planted, copying):
    order = greedy_order(planted, copying.valid.head(6), lambda *_: None).heads
    assert order[-1] == CARRIER
    # The copier costs the model something, so it goes first; of equals goes the last.
    assert order[0] == COPIER
    idle = [head for head in planted.layout if head not in (CARRIER, COPIER)]
    assert list(order[1:-1]) == idle[::-1]


def test_the_greedy_order_is_that_of_measuring_anew(nano, copying):
    data = copying.valid.head(6)
    order = greedy_order(nano, data, lambda *_: None).heads
    left = list(nano.layout)
    for head in order[:3]:
        smaller = nano.without([it for it in nano.layout if it not in left])
        cost = sum(
            losses_without_each(smaller, batch).sum(0)
            for batch in smaller.batches(data.source, data.target)
        )
        assert smaller.layout.heads[int(cost.argmin())] == head
        left.remove(head)
    assert sorted(order) == sorted(nano.layout)


def test_areas_lie_where_the_truth_is(result):
    areas = result.tables["areas"].rows.set_index(["measure", "order"])
    # BLEU is 100 until the last head goes: 1 less half of the last 1/18.
    for order in ("gradient", "leave_one_out", "greedy"):
        assert areas.loc[("bleu", order), "area"] == pytest.approx(1 - 0.5 / 18)
        assert areas.loc[("nll", order), "against_random_high"] < 0
        assert areas.loc[("bleu", order), "against_random_low"] > 0
    assert abs(areas.loc[("nll", "gradient"), "against_greedy"]) < 0.01
    assert np.isnan(areas.loc[("nll", "greedy"), "against_greedy"])
    assert np.isnan(areas.loc[("nll", "random"), "against_random"])
    assert areas.loc[("nll", "random"), "low"] <= areas.loc[("nll", "random"), "area"]
    # The random METRIC is chance itself and has no order of its own.
    assert set(areas.loc["nll"].index) == {"gradient", "leave_one_out", "random", "greedy"}


def test_no_sentence_makes_an_order_and_is_measured_on_it(result, copying):
    data = result.provenance.data
    assert data["valid"] == copying.valid.select(range(16)).fingerprint
    assert data["valid, for the curves"] == copying.valid.select(range(16, 24)).fingerprint
    tests = {text.fingerprint for text in copying.tests.values()}
    assert not tests & {data["valid"], data["valid, for the curves"]}


def test_verdicts(result):
    verdict = result.tables["verdict"].rows.set_index("metric")
    assert list(verdict.index) == ["gradient", "leave_one_out", "random"]
    assert not verdict["believable"]["random"]
    assert "what every metric has to beat" in verdict["why"]["random"]
    assert verdict["believable"]["leave_one_out"]


def test_the_same_model_under_another_name_is_found_equal(result):
    for compared in ("heads", "sublayers", "ranked"):
        row = rows(result, "stability", metric="gradient", across="seeds", compared=compared)
        row = row[row["site"] == "all"].iloc[0]
        assert row["spearman"] > 0.9
        assert row["detail"] == "this model / the same model"


def test_what_could_not_be_asked_is_said(result):
    assert "16 sentences are too few to compare 16 with as many others" in result.remarks[-2]
    assert "far text is foreign to the model by 0.0" in result.remarks[-1]


def test_a_trained_network_is_more_concentrated_than_random_weights(result):
    row = rows(result, "concentration", metric="gradient", measure="gini").iloc[0]
    assert row["value"] > 0.9 > row["random_weights"] > 0
    read = min(16, SETTINGS.random_sentences)
    assert result.tables["concentration"].n.endswith(f"; random weights on the first {read}")


def test_random_weights_keep_shape_and_vocabulary_and_repeat_with_the_seed(planted):
    def made(seed):
        return with_random_weights(planted, torch.Generator().manual_seed(seed))

    assert made(1).layout == planted.layout
    assert made(1).fingerprint == made(1).fingerprint
    assert len({made(1).fingerprint, made(2).fingerprint, planted.fingerprint}) == 3
    assert not any(weight.requires_grad for weight in made(1).network.parameters())
    with pytest.raises(UsageError, match="no random start"):
        with_random_weights(object(), torch.Generator())


def test_one_sentence_is_answered_without_intervals_and_curves(planted):
    one = planted_text("one", 4, 8).select([5])
    corpus = Corpus("one", "xx", "xx", one, one, {"test": one}, "made")
    result = reliability(planted, corpus, SETTINGS, 0)
    assert "curves" not in result.tables
    assert "No validation sentences are left for removal curves" in result.remarks[0]
    faithful = rows(result, "faithfulness", metric="gradient", site="all").iloc[0]
    assert np.isfinite(faithful["kendall"])
    assert np.isnan(faithful["kendall_low"])
    assert rows(result, "stability", across="halves").empty
    verdict = rows(result, "verdict", metric="leave_one_out").iloc[0]
    assert "its removal curve was not measured" in verdict["why"]


def test_greedy_is_left_out_for_many_heads_and_bleu_on_request(planted, copying):
    settings = SETTINGS.with_changes(bleu=False, greedy_heads=10)
    result = reliability(planted, copying, settings, 0)
    assert set(result.tables["areas"].rows["measure"]) == {"nll"}
    assert result.provenance.signatures == {}
    assert "greedy" not in set(result.tables["areas"].rows["order"])
    assert any("--greedy" in remark for remark in result.remarks)


def test_the_result_survives_saving(result, tmp_path):
    result.save(tmp_path)
    again = Result.load(tmp_path)
    for name, table in result.tables.items():
        assert again.tables[name].rows.equals(table.rows)


def test_a_wrong_metric_is_named(planted, copying):
    with pytest.raises(UsageError, match="did you mean 'gradient'"):
        reliability(planted, copying, ReliabilitySettings(metrics=("gradent",)), 0)


def test_the_settings_survive_the_file_of_a_run():
    for settings in (ReliabilitySettings(), SETTINGS):
        text = toml_text({"reliability": settings.model_dump(mode="json")})
        again = tomllib.loads(text)["reliability"]
        assert ReliabilitySettings.from_dict(again) == settings
