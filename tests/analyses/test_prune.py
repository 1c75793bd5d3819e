"""The prune analysis: on a planted model, interrupted, in processes, and proven."""

import pytest
import sacrebleu
from made_translators import CARRIER

from headcount.analyses import points
from headcount.analyses.points import PointStore, measure, measure_all
from headcount.analyses.proof import compared
from headcount.analyses.prune import PruneSettings, prune
from headcount.analyses.result import Result
from headcount.analyses.score import ScoreSettings, score
from headcount.models.errors import UsageError
from headcount.models.translator import SearchSettings

COUNTS = (18, 15, 12, 9, 6, 3, 1, 0)
SETTINGS = PruneSettings(
    draws=3,
    shares=tuple(count / 18 for count in COUNTS),
    sentences=16,
    resamples=200,
    jobs=1,
    examples=3,
    proof_sentences=4,
)
GREEDY = SearchSettings(beam=1)


@pytest.fixture(scope="module")
def scores(planted, copying) -> Result:
    metrics = ("leave_one_out", "gradient", "random")
    settings = ScoreSettings(metrics=metrics, sentences=16, resamples=10)
    return score(planted, copying, settings, seed=0)


@pytest.fixture(scope="module")
def result(planted, copying, scores) -> Result:
    return prune(planted, copying, SETTINGS, 0, scores=scores)


def test_nothing_is_lost_until_the_carrier_goes(result):
    curve = result.tables["curve"].rows
    by_metric = curve[curve["order"] == "leave_one_out"]
    assert tuple(by_metric["heads_left"]) == COUNTS
    assert list(by_metric["bleu"])[:-1] == [pytest.approx(100)] * 7
    assert by_metric["bleu"].iloc[-1] < 20
    assert by_metric["cross_left"].iloc[-2] == 1


def test_a_random_order_loses_all_when_it_meets_the_carrier(result):
    curve, removals = result.tables["curve"].rows, result.tables["removals"].rows
    for draw in range(3):
        own = removals[(removals["order"] == "random") & (removals["draw"] == draw)]
        heads = [tuple(row) for row in own[["site", "layer", "head"]].to_numpy()]
        step = heads.index(CARRIER) + 1
        mine = curve[(curve["order"] == "random") & (curve["draw"] == draw)]
        lost = mine[mine["bleu"] < 50]["heads_left"].max()
        assert lost == max(count for count in COUNTS if count <= 18 - step)


def test_differences_are_paired_with_the_whole_model(result):
    curve = result.tables["curve"].rows
    whole = curve[curve["heads_left"] == 18]
    same = ["bleu_difference", "difference_low", "difference_high"]
    assert (whole[same].to_numpy() == 0).all()
    assert (curve["bleu_low"] <= curve["bleu"] + 1e-9).all()
    assert (curve["bleu"] <= curve["bleu_high"] + 1e-9).all()


def test_parameters_fall_with_every_head(result):
    curve = result.tables["curve"].rows
    own = curve[(curve["order"] == "gradient")]
    steps = own["parameters"].diff().dropna() / own["heads_left"].diff().dropna()
    # A head has 12 rows of 24 weights and a bias in W_Q, W_K, W_V and 12 columns in W_O.
    assert set(steps) == {3 * 12 * (24 + 1) + 24 * 12}


def test_bleu_is_sacrebleus_own_on_the_cut_model(planted, copying, result, scores):
    curve, removals = result.tables["curve"].rows, result.tables["removals"].rows
    row = curve[(curve["order"] == "random") & (curve["heads_left"] == 3)].iloc[0]
    gone = removals[(removals["order"] == "random") & (removals["draw"] == row["draw"])].head(15)
    heads = [h for h in planted.layout if tuple(h) in set(map(tuple, gone.iloc[:, 3:].to_numpy()))]
    said = planted.without(heads).translate(copying.tests["test"].source[:16], GREEDY)
    expected = sacrebleu.corpus_bleu([t.text for t in said], [copying.tests["test"].target[:16]])
    assert row["bleu"] == pytest.approx(expected.score)


def test_area_of_the_metric_beats_chance(result):
    areas = result.tables["area"].rows.set_index(["order", "draw"])["area"]
    # At the full height until one head is left, then the fall: (17 + about a half) / 18.
    assert areas["leave_one_out", 0] == pytest.approx(17.5 / 18, abs=0.01)
    assert (areas["random"] < areas["leave_one_out", 0]).all()


def test_band_summarises_the_draws(result):
    curve, band = result.tables["curve"].rows, result.tables["band"].rows
    chance = curve[curve["order"] == "random"].groupby("heads_left")["bleu"]
    for row in band.itertuples():
        assert row.draws == 3
        assert row.mean == pytest.approx(chance.mean()[row.heads_left])
        assert (row.low, row.high) == (chance.min()[row.heads_left], chance.max()[row.heads_left])


def test_cut_and_masked_models_are_the_same_at_every_point_of_the_curve(result):
    proof, curve = result.tables["proof"].rows, result.tables["curve"].rows
    place = ["order", "draw", "heads_left"]
    inner = curve[curve["heads_left"].between(1, 17)]
    assert proof[place].to_numpy().tolist() == inner[place].to_numpy().tolist()
    assert result.tables["proof"].n == "4 sentences (test) a model, beam 5"
    assert (proof["largest_logit_difference"] < 1e-4).all()
    assert (proof["nll_difference"] < 1e-5).all()
    assert (proof["translations_equal"] == proof["sentences"]).all()


def test_the_proof_finds_a_cut_that_went_wrong(planted, copying, monkeypatch):
    gone = [CARRIER, *(h for h in planted.layout if h != CARRIER)][:13]
    data = copying.valid.head(6)
    right = compared(planted, gone, data, GREEDY)
    monkeypatch.setattr(type(planted), "without", lambda self, heads: self)
    wrong = compared(planted, gone, data, GREEDY)
    assert right["largest_logit_difference"] < 1e-4 < 1 < wrong["largest_logit_difference"]
    assert right["translations_equal"] == 6
    assert wrong["translations_equal"] < 6
    assert wrong["nll_difference"] > 0.1


def test_examples_begin_with_the_whole_model_and_say_the_source(result, copying):
    examples = result.tables["examples"].rows
    before = examples[examples["heads_left"] == 18]
    assert list(before["sentence"]) == [0, 5, 10]
    assert list(before["translation"]) == [copying.tests["test"].source[i] for i in (0, 5, 10)]


def test_orders_come_from_validation_and_the_curve_from_test(result, copying):
    data = result.provenance.data
    assert data["test"] == copying.tests["test"].head(16).fingerprint
    assert data["valid"] == copying.valid.head(16).fingerprint
    assert "version:" in result.provenance.signatures["bleu"]


def test_scores_of_another_model_are_refused(nano, copying, scores):
    with pytest.raises(UsageError, match="another model"):
        prune(nano, copying, SETTINGS, 0, scores=scores)


def test_every_model_is_measured_once_and_an_interrupted_curve_goes_on(
    planted, copying, scores, result, tmp_path, monkeypatch
):
    calls, settings = [], SETTINGS.with_changes(proofs=0)

    def counted(*arguments):
        if len(calls) == 7:
            raise KeyboardInterrupt
        calls.append(arguments[1])
        return measure(*arguments)

    monkeypatch.setattr(points, "ROWS", 1)  # one model after the other, and not side by side
    monkeypatch.setattr(points, "measure", counted)
    with pytest.raises(KeyboardInterrupt):
        prune(planted, copying, settings, 0, scores=scores, folder=tmp_path)
    first = list(calls)
    calls.clear()
    monkeypatch.setattr(points, "measure", lambda *a: calls.append(a[1]) or measure(*a))
    resumed = prune(planted, copying, settings, 0, scores=scores, folder=tmp_path)
    assert len(first) == 7
    assert not set(first) & set(calls)
    assert len(set(calls)) == len(calls)
    columns = ["order", "draw", "heads_left", "bleu", "bleu_low", "nll"]
    expected = result.tables["curve"].rows[columns]  # sixteen sentences were: ten models a time
    assert resumed.tables["curve"].rows[columns].equals(expected)


def test_points_of_other_inputs_are_not_taken(planted, copying, tmp_path):
    one, other = (PointStore(tmp_path, {"model": name}) for name in ("one", "other"))
    removed = frozenset([CARRIER])
    one.put(removed, measure(planted, removed, copying.valid.head(2), GREEDY))
    assert one.get(removed) is not None
    assert other.get(removed) is None
    assert one.get(frozenset()) is None


@pytest.mark.slow
def test_processes_measure_what_one_process_measures(planted, copying, tmp_path):
    sets = [frozenset(planted.layout.heads[:count]) for count in range(6)]
    found = [
        measure_all(planted, sets, copying.valid, GREEDY, PointStore(place, {}), jobs, print)
        for place, jobs in ((tmp_path / "one", 1), (tmp_path / "two", 2))
    ]
    assert [one.translations for one in found[0].values()] == [
        one.translations for one in found[1].values()
    ]
    assert [one.losses for one in found[0].values()] == [one.losses for one in found[1].values()]
