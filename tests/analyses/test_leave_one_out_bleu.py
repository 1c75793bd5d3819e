"""BLEU without each head: the test against sacrebleu's own."""

import pytest
from made_translators import CARRIER
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from headcount.analyses.leave_one_out_bleu import bleu_table
from headcount.analyses.score import ScoreSettings, score
from headcount.models.gates import Head
from headcount.models.translator import SearchSettings

SEED = 12345  # sacrebleu's own
GREEDY = SearchSettings()


@pytest.fixture(scope="module")
def text(copying):
    return copying.valid.head(24)


@pytest.fixture(scope="module")
def rows(planted, text):
    table = bleu_table(planted, text, GREEDY, SEED, n="24", resamples=300)
    assert "300 resamples" in table.interval
    assert "nrefs:1" in table.caption
    return table.rows.set_index(["site", "layer", "head"])


def test_the_carrier_costs_all_and_idle_heads_nothing(rows):
    carrier = rows.loc[CARRIER]
    assert carrier["difference"] < -50
    assert carrier["low"] <= carrier["difference"] <= carrier["high"] < 0
    assert carrier["p"] == pytest.approx(1 / 301)
    assert carrier["p_holm"] == pytest.approx(18 / 301)
    idle = rows.loc[rows.index.get_level_values("site") == "encoder"]
    assert (idle[["difference", "low", "high"]] == 0).all(axis=None)
    assert (idle["p_holm"] == 1).all()


def test_difference_and_p_are_sacrebleus_own(rows, planted, text):
    gates = planted.layout.closing([CARRIER])
    named = [
        (name, [it.text for it in planted.translate(text.source, GREEDY, gates=gates)])
        for name, gates in (("whole", None), ("without", gates))
    ]
    metrics = {"bleu": BLEU(references=[list(text.target)])}
    theirs = PairedTest(named, metrics, references=None, test_type="bs", n_samples=300, n_jobs=1)
    _, found = theirs()
    whole, without = found["BLEU"]
    carrier = rows.loc[CARRIER]
    assert carrier["difference"] == pytest.approx(without.score - whole.score)
    assert carrier["p"] == pytest.approx(without.p_value)


def test_the_analysis_makes_the_table_on_request(planted, copying):
    settings = ScoreSettings(metrics=("confidence",), sentences=6, bleu=True)
    found = score(planted, copying, settings, seed=1)
    assert len(found.tables["bleu"].rows) == 18
    assert found.tables["bleu"].n == "6 validation sentences (valid)"
    assert "nrefs:1" in found.provenance.signatures["bleu"]
    assert "bleu" not in score(planted, copying, settings.with_changes(bleu=False), seed=1).tables


def test_a_cut_model_is_compared_by_the_original_names(planted, text):
    smaller = planted.without([Head("cross", 1, 0), Head("encoder", 0, 0)])
    rows = bleu_table(smaller, text.head(6), GREEDY, SEED, n="6", resamples=50).rows
    assert len(rows) == 16
    worst = rows.loc[rows["difference"].idxmin()]
    assert (worst["site"], worst["layer"], worst["head"]) == CARRIER
