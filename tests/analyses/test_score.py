"""The score analysis on translators whose truth is known."""

import pytest
from made_translators import CARRIER

from headcount.analyses.result import Result
from headcount.analyses.score import ScoreSettings, score
from headcount.models.errors import UsageError

SETTINGS = ScoreSettings(sentences=16, resamples=200)


@pytest.fixture(scope="module")
def result(planted, copying) -> Result:
    return score(planted, copying, SETTINGS, seed=5)


def test_every_metric_ranks_the_planted_carrier_first(result):
    heads = result.tables["heads"].rows
    first = heads[heads["rank"] == 1]
    assert list(first["metric"]) == ["confidence", "gradient", "leave_one_out"]
    assert {tuple(row) for row in first[["site", "layer", "head"]].to_numpy()} == {CARRIER}


def test_ranks_are_a_permutation_and_follow_the_values(result):
    for _, of_metric in result.tables["heads"].rows.groupby("metric"):
        ranked = of_metric.sort_values("rank")
        assert list(ranked["rank"]) == list(range(1, 19))
        assert ranked["value"].is_monotonic_decreasing


def test_intervals_hold_the_value_and_idle_heads_have_none(result):
    heads = result.tables["heads"].rows
    assert (heads["low"] <= heads["value"]).all()
    assert (heads["value"] <= heads["high"]).all()
    idle = heads[(heads["metric"] == "leave_one_out") & (heads["site"] == "encoder")]
    assert idle[["value", "low", "high", "normalised"]].to_numpy().tolist() == [[0.0] * 4] * 6


def test_only_the_validation_split_is_read(result, copying):
    assert result.provenance.data == {"valid": copying.valid.head(16).fingerprint}
    assert result.tables["heads"].n == "16 validation sentences (valid)"


def test_agreement_of_orders_by_hand(result):
    heads = result.tables["heads"].rows.pivot_table(
        index=["site", "layer", "head"], columns="metric", values="value"
    )
    agreement = result.tables["agreement"].rows
    for row in agreement.itertuples():
        one, other = heads[row.metric], heads[row.other]
        assert row.spearman == pytest.approx(one.rank().corr(other.rank()))
    assert len(agreement) == 3


def test_the_same_seed_gives_the_same_tables(planted, copying, result):
    again = score(planted, copying, SETTINGS, seed=5)
    assert again.tables["heads"].rows.equals(result.tables["heads"].rows)


def test_the_result_survives_saving(result, tmp_path):
    result.save(tmp_path / "score")
    loaded = Result.load(tmp_path / "score")
    assert loaded.tables["heads"].rows.equals(result.tables["heads"].rows)
    assert loaded.settings == result.settings
    assert "BOS and EOS" in loaded.remarks[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metrics": ("gradent",)}, "did you mean 'gradient'"),
        ({"options": {"gradent": {}}}, "did you mean 'gradient'"),
        ({"options": {"gradient": {"absolut": "token"}}}, "did you mean 'absolute'"),
    ],
)
def test_what_is_misspelt_is_named(planted, copying, changes, message):
    with pytest.raises(UsageError, match=message):
        score(planted, copying, ScoreSettings(**changes), seed=0)
