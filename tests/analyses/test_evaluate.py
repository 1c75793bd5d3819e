"""Quality of a planted translator, and of the intervals beside it."""

import numpy as np
import pytest
import sacrebleu

from headcount.analyses.analysis import spread
from headcount.analyses.evaluate import EvaluateSettings, evaluate, nll_with_interval
from headcount.analyses.result import Result
from headcount.models.translator import SearchSettings

SETTINGS = EvaluateSettings(beams=(1, 3), resamples=100, examples=2)


@pytest.fixture(scope="module")
def result(nano, copying) -> Result:
    return evaluate(nano, copying, SETTINGS, seed=0)


def test_every_split_is_measured_by_every_search_and_measure(result):
    rows = result.tables["quality"].rows
    found = [tuple(row) for row in rows[["split", "search", "measure"]].to_numpy()]
    of_split = [("greedy", "bleu"), ("greedy", "chrf"), ("beam 3", "bleu"), ("beam 3", "chrf")]
    of_split += [("teacher forcing", "nll")]
    assert found == [(split, *it) for split in ("test", "far") for it in of_split]
    assert (rows["sentences"] == 24).all()


def test_scores_are_sacrebleus(nano, copying, result):
    rows = result.tables["quality"].rows.set_index(["split", "search", "measure"])["value"]
    text = copying.tests["far"]
    said = [it.text for it in nano.translate(text.source, SearchSettings(beam=3))]
    assert rows["far", "beam 3", "bleu"] == pytest.approx(
        sacrebleu.corpus_bleu(said, [text.target]).score
    )
    assert rows["far", "beam 3", "chrf"] == pytest.approx(
        sacrebleu.corpus_chrf(said, [text.target]).score
    )


def test_a_translator_that_copies_has_100_bleu_and_little_loss(planted, copying):
    found = evaluate(planted, copying, SETTINGS, seed=0).tables["quality"].rows
    values = found.set_index(["split", "search", "measure"])["value"]
    assert values["test", "greedy", "bleu"] == pytest.approx(100)
    assert values["test", "teacher forcing", "nll"] < 0.1


def test_nll_is_a_mean_over_tokens_with_an_interval_over_sentences():
    draw = np.random.default_rng(0)
    tokens = draw.integers(3, 20, size=60)
    losses = tokens * draw.normal(2, 0.3, size=60)
    value, low, high = nll_with_interval(losses.tolist(), tokens.tolist(), 4000, seed=1)
    assert value == pytest.approx(losses.sum() / tokens.sum())
    # The delta method: the error of a ratio of sums.
    error = np.sqrt(((losses - value * tokens) ** 2).sum()) / tokens.sum()
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_signatures_and_texts_are_recorded(result, copying):
    origin = result.provenance
    assert set(origin.signatures) == {"bleu", "chrf"}
    assert origin.data == {name: it.fingerprint for name, it in copying.tests.items()}
    model = dict(result.tables["model"].rows.to_numpy().tolist())
    assert model["heads"] == "15"


def test_examples_are_spread_over_the_split(result):
    assert list(result.tables["examples"].rows["sentence"])[:2] == [0, 12]
    assert spread(10, 4) == [0, 2, 5, 7]
    assert spread(2, 5) == [0, 1]
    assert spread(0, 5) == []


def test_every_translation_is_kept_with_its_sentence(planted, copying):
    kinds = ["short" if number % 2 else "long" for number in range(24)]
    found = evaluate(planted, copying, SETTINGS, seed=0, shown=kinds).tables
    sentences, said = found["sentences"].rows, found["translations"].rows
    assert len(sentences) == 2 * 24 and len(said) == 2 * 2 * 24
    own = sentences[sentences["split"] == "test"]
    assert list(own["source"]) == list(copying.test.source)
    assert list(own["phenomenon"]) == kinds
    assert set(sentences[sentences["split"] == "far"]["phenomenon"]) == {""}
    nll = found["quality"].rows.set_index(["split", "measure"])["value"]["test", "nll"]
    assert nll == pytest.approx(own["loss"].sum() / own["tokens"].sum())
    greedy = said[(said["split"] == "test") & (said["search"] == "greedy")]
    assert list(greedy["translation"]) == list(copying.test.target)


def test_quality_by_phenomenon_is_sacrebleus_on_those_sentences(nano, copying):
    kinds = ["rare"] * 4 + ["odd" if number % 2 else "even" for number in range(20)]
    rows = evaluate(nano, copying, SETTINGS, seed=0, shown=kinds).tables["phenomena"].rows
    assert set(rows["split"]) == {"test"} and set(rows["phenomenon"]) == {"odd", "even"}
    said = [it.text for it in nano.translate(copying.test.source, SearchSettings(beam=1))]
    odd = [number for number, kind in enumerate(kinds) if kind == "odd"]
    mine, right = [said[i] for i in odd], [copying.test.target[i] for i in odd]
    row = rows[(rows["search"] == "greedy") & (rows["phenomenon"] == "odd")].iloc[0]
    assert row["bleu"] == pytest.approx(sacrebleu.corpus_bleu(mine, [right]).score)
    assert row["sentences"] == 10
    assert row["exact"] == pytest.approx(sum(a == b for a, b in zip(mine, right, strict=True)) / 10)
