"""Which sentences and phenomena lose: on translations that are written by hand."""

import math

import pytest
import sacrebleu

from headcount.analyses.phenomena import by_phenomenon, shown_by
from headcount.analyses.points import Measured
from headcount.analyses.prune_sentences import sentence_tables
from headcount.analyses.removal import Point, RemovalOrder
from headcount.models.data.corpora import CorpusSettings, load_corpus
from headcount.models.data.parallel_text import ParallelText
from headcount.models.gates import Head

HEADS = [Head("encoder", 0, 0), Head("encoder", 0, 1)]
WORDS = ("one", "two", "three", "four", "five", "six")
TARGETS = [f"this is the sentence number {word}" for word in WORDS]
KINDS = ["a", "a", "a", "a", "a", "b"]


@pytest.fixture(scope="module")
def tables():
    order = RemovalOrder("gradient", 0, tuple(HEADS))
    points = [Point(order, 2), Point(order, 1)]
    worse = [*TARGETS[:4], "this is", TARGETS[5].replace("six", "ten")]
    losses = [2.0, 2.0, 2.0, 2.0, 8.0, 3.0]
    measured = {
        points[0].removed: Measured(list(TARGETS), [1.0] * 6, [4] * 6, 10, 1.0),
        points[1].removed: Measured(worse, losses, [4] * 6, 9, 1.0),
    }
    data = ParallelText("made", TARGETS, TARGETS)
    return sentence_tables(points, measured, data, KINDS, 300, 0), worse


def test_the_sentence_that_loses_most_comes_first_and_the_others_not_at_all(tables):
    rows = tables[0]["losses"].rows
    assert list(rows["sentence"]) == [4, 5] and list(rows["place"]) == [1, 2]
    assert list(rows["heads_left"]) == [1, 1]  # the whole model loses nothing
    assert list(rows["phenomenon"]) == ["a", "b"]
    for row in rows.itertuples():
        own = sacrebleu.sentence_chrf(row.translation, [row.reference], eps_smoothing=False).score
        assert row.chrf == pytest.approx(own)
        assert row.chrf_difference == pytest.approx(own - 100)


def test_a_phenomenon_has_the_quality_of_its_sentences(tables):
    found, worse = tables
    rows = found["phenomena"].rows
    assert set(rows["phenomenon"]) == {"a"}  # one sentence of `b` says nothing
    whole, smaller = rows.to_dict("records")
    assert whole["bleu"] == pytest.approx(100) and whole["nll"] == pytest.approx(0.25)
    bleu = sacrebleu.corpus_bleu(worse[:5], [TARGETS[:5]]).score
    assert smaller["bleu"] == pytest.approx(bleu)
    assert smaller["bleu_difference"] == pytest.approx(bleu - 100)
    assert smaller["nll_difference"] == pytest.approx(16 / 20 - 5 / 20)
    # The extremes of a resample: only sentences that lose 1 nat, or only the one that loses 7.
    assert 0.25 <= smaller["nll_difference_low"] < smaller["nll_difference"]
    assert smaller["nll_difference"] < smaller["nll_difference_high"] <= 1.75
    assert whole["nll_difference_low"] == whole["nll_difference_high"] == 0
    assert not any(math.isnan(smaller[name]) for name in ("bleu_low", "difference_high"))


def test_phenomena_are_sorted_by_their_sentences_and_few_are_none():
    assert by_phenomenon(["x"] * 4 + ["y"] * 5 + ["z"] * 6) == {
        "z": [9, 10, 11, 12, 13, 14],
        "y": [4, 5, 6, 7, 8],
    }
    assert by_phenomenon(()) == {}


def test_the_built_in_corpus_says_what_its_test_sentences_show():
    settings = CorpusSettings(name="miniature", sentences=60)
    shown, sources = shown_by(settings), load_corpus(settings).test.source
    asked = [text for text, kind in zip(sources, shown, strict=True) if kind == "question"]
    assert asked and all(text.endswith("?") for text in asked)
    denied = [text for text, kind in zip(sources, shown, strict=True) if kind == "negation"]
    assert denied and all(" not " in text or " no " in f" {text.lower()}" for text in denied)
    assert shown_by(CorpusSettings(name="multi30k")) == ()
