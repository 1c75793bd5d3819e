"""The score analysis on translators whose truth is known."""

import dataclasses
import math
import warnings

import pytest
import torch
from made_translators import CARRIER

from headcount.analyses.result import Result
from headcount.analyses.score import USUAL, ScoreSettings, pairs_of_tests, score
from headcount.models.data.parallel_text import ParallelText
from headcount.models.errors import DataError, UsageError
from headcount.probe.confidence import Confidence
from headcount.probe.importance import Proof

SETTINGS = ScoreSettings(sentences=16, resamples=200)
CHANCE = "random"


@pytest.fixture(scope="module")
def result(planted, copying) -> Result:
    return score(planted, copying, SETTINGS, seed=5)


def only(result, name, metric):
    rows = result.tables[name].rows
    return rows[rows["metric"] == metric]


def with_valid(corpus, *lines):
    return dataclasses.replace(corpus, valid=ParallelText("few", list(lines), list(lines)))


def test_every_metric_ranks_the_planted_carrier_first(result):
    heads = result.tables["heads"].rows
    first = heads[heads["rank"] == 1]
    assert tuple(first["metric"]) == USUAL
    found = {
        tuple(row) for row in first[first["metric"] != CHANCE][["site", "layer", "head"]].to_numpy()
    }
    assert found == {CARRIER}


def test_ranks_are_a_permutation_and_follow_the_values(result):
    upwards = {"entropy"}
    for name, of_metric in result.tables["heads"].rows.groupby("metric"):
        ranked = of_metric.sort_values("rank")
        assert list(ranked["rank"]) == list(range(1, 19))
        values = ranked["value"] if name not in upwards else -ranked["value"]
        assert values.is_monotonic_decreasing


def test_intervals_hold_the_value_and_idle_heads_have_none(result):
    heads = result.tables["heads"].rows
    assert (heads["low"] <= heads["value"] + 1e-12).all()
    assert (heads["value"] <= heads["high"] + 1e-12).all()
    for name in ("leave_one_out", "gradient", "fisher", "attention_norm", "weight_norm"):
        idle = heads[(heads["metric"] == name) & (heads["site"] == "encoder")]
        assert idle[["value", "low", "high", "normalised"]].to_numpy().tolist() == [[0.0] * 4] * 6


def test_only_the_validation_split_is_read(result, copying):
    assert result.provenance.data == {"valid": copying.valid.head(16).fingerprint}
    assert result.tables["heads"].n == "16 validation sentences (valid)"


def test_the_training_split_on_request(planted, copying):
    settings = ScoreSettings(split="train", sentences=5, metrics=("confidence",))
    found = score(planted, copying, settings, seed=5)
    assert found.provenance.data == {"train": copying.train.head(5).fingerprint}
    assert found.tables["heads"].n == "5 training sentences (train)"


def test_agreement_of_orders_by_hand(result):
    heads = result.tables["heads"].rows.pivot_table(
        index=["site", "layer", "head"], columns="metric", values="value"
    )
    heads["entropy"] *= -1
    agreement = result.tables["agreement"].rows
    for row in agreement.itertuples():
        one, other = heads[row.metric], heads[row.other]
        assert row.spearman == pytest.approx(one.rank().corr(other.rank()))
    assert len(agreement) == len(USUAL) * (len(USUAL) - 1) / 2


def test_the_same_seed_gives_the_same_tables(planted, copying, result):
    again = score(planted, copying, SETTINGS, seed=5)
    assert again.tables["heads"].rows.equals(result.tables["heads"].rows)
    seconds = ["seconds"]
    one, other = (it.tables["metrics"].rows.drop(columns=seconds) for it in (again, result))
    assert one.equals(other)


def test_the_result_survives_saving(result, tmp_path):
    result.save(tmp_path / "score")
    loaded = Result.load(tmp_path / "score")
    for name, table in result.tables.items():
        assert loaded.tables[name].rows.equals(table.rows)
    assert loaded.settings == result.settings
    assert "BOS and EOS" in loaded.remarks[0]


def test_every_metric_is_proved_or_says_that_it_is_not(result):
    metrics = result.tables["metrics"].rows.set_index("metric")
    proofs = result.tables["proofs"].rows
    assert proofs["holds"].all()
    assert dict(proofs.groupby("metric").size()).items() <= dict(metrics["proofs"]).items()
    assert metrics.loc[CHANCE, "proofs"] == 0
    assert metrics["proofs_hold"].isna()[CHANCE]
    assert result.tables["proofs"].n == "4 of 16 validation sentences (valid)"


def test_a_proof_that_fails_stands_beside_the_numbers(planted, copying, monkeypatch):
    wrong = Proof("one is two", error=1.0, tolerance=0.5, unit="ones")
    monkeypatch.setattr(Confidence, "prove", lambda *given: (wrong, Proof("fine", 0.0, 0.0)))
    found = score(planted, copying, SETTINGS.with_changes(metrics=("confidence",)), seed=5)
    assert only(found, "proofs", "confidence")["holds"].tolist() == [False, True]
    assert only(found, "metrics", "confidence")["proofs_hold"].tolist() == [False]
    assert len(only(found, "heads", "confidence")) == 18


def test_a_metric_that_reads_no_text_has_no_interval_and_needs_no_sentence(result):
    for name in ("weight_norm", CHANCE):
        heads = only(result, "heads", name)
        assert (heads["high"] - heads["low"]).abs().max() < 1e-12
        assert only(result, "metrics", name)["stable_sentences"].tolist() == [0]


def test_a_single_sentence_gives_values_without_width(nano, copying):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = score(nano, with_valid(copying, "oak fir elm"), SETTINGS, seed=1)
    heads = found.tables["heads"].rows
    assert heads["value"].notna().all()
    assert (heads["high"] - heads["value"]).abs().max() < 1e-12
    assert (heads["value"] - heads["low"]).abs().max() < 1e-12
    metrics = found.tables["metrics"].rows
    assert metrics["stable_sentences"].isna().all()
    assert metrics["half_correlation"].isna().all()


def test_a_correlation_with_what_has_no_order_is_undefined(nano, copying):
    # One word: each decoder query that counts sees one key that counts, so is every head.
    cut = nano.without([head for head in nano.layout if head.site != "decoder"])
    settings = ScoreSettings(metrics=("entropy", "gradient"), resamples=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = score(cut, with_valid(copying, "oak", "fir", "elm", "ash"), settings, seed=1)
    assert only(found, "heads", "entropy")["value"].tolist() == [0.0] * 6
    row = found.tables["agreement"].rows.iloc[0]
    assert math.isnan(row["kendall"])
    assert math.isnan(row["spearman"])


def test_pairs_that_stand_in_a_test_split_are_said(planted, copying):
    known = copying.test.select([5, 6])
    mixed = ParallelText("mixed", ["oak oak", *known.source], ["elm", *known.target])
    assert pairs_of_tests(mixed, copying) == 2
    settings = ScoreSettings(metrics=("weight_norm",))
    found = score(planted, dataclasses.replace(copying, valid=mixed), settings, seed=0)
    assert "2 of the 3 sentence pairs also stand in a test split." in found.remarks


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


def test_a_test_split_is_refused_with_the_reason():
    with pytest.raises(UsageError, match="never on test text"):
        ScoreSettings.from_dict({"split": "test"})


@pytest.mark.parametrize("name", USUAL)
def test_no_sentences_are_an_error_of_every_metric(planted, copying, name):
    with pytest.raises(DataError, match="at least one"):
        score(planted, with_valid(copying), ScoreSettings(metrics=(name,)), seed=0)


def test_text_without_an_ordinary_token_is_an_error_without_noise(planted, copying):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match="ordinary token"):
            score(planted, with_valid(copying, "", ""), ScoreSettings(), seed=0)


def test_the_weights_are_as_they_were(nano, copying):
    before = [weight.clone() for weight in nano.network.parameters()]
    score(nano, copying, SETTINGS.with_changes(sentences=4), seed=0)
    after = list(nano.network.parameters())
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))
    assert all(weight.grad is None for weight in after)
