"""Splits, baselines, control tasks and measures, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from headcount.models.errors import DataError
from headcount.probe.layers.control import (
    control_labels,
    majority,
    most_frequent_by_type,
    unseen_types,
)
from headcount.probe.layers.examples import Examples, Split
from headcount.probe.layers.measures import Judged, intervals


def made(labels, types, sentences, classes=("a", "b", "c")):
    labels, types, sentences = (np.asarray(it) for it in (labels, types, sentences))
    rows = np.arange(len(labels))
    return Examples("made", "word", classes, rows, None, labels, sentences, types)


@given(
    documents=st.lists(st.sampled_from(["", "a", "b", "c", "d"]), min_size=3, max_size=60),
    words=st.integers(1, 5),
    seed=st.integers(0, 1000),
)
def test_no_sentence_or_document_is_in_two_parts(documents, words, seed):
    distinct = len({it for it in documents if it}) + documents.count("")
    if distinct < 3:
        with pytest.raises(DataError, match="three parts"):
            Split.of(documents, np.random.default_rng(seed))
        return
    split = Split.of(documents, np.random.default_rng(seed))
    assert set(split.part) == {0, 1, 2}  # every part has something
    of_document = {}
    for name, part in zip(documents, split.part, strict=True):
        if name:
            assert of_document.setdefault(name, part) == part
    sentences = np.repeat(np.arange(len(documents)), words)
    parts = [set(sentences[split.examples(sentences, it)]) for it in ("train", "valid", "test")]
    assert not (parts[0] & parts[1] or parts[0] & parts[2] or parts[1] & parts[2])
    assert sum(map(len, parts)) == len(documents)


def test_the_parts_have_the_shares_asked_for():
    split = Split.of([""] * 1000, np.random.default_rng(0), (0.7, 0.1, 0.2))
    assert np.bincount(split.part) == pytest.approx([700, 100, 200], abs=2)


def test_rare_labels_are_left_out_of_all_parts_and_counted():
    split = Split(np.array([0, 0, 1, 2]))
    examples = made([0, 0, 1, 1, 2, 1, 0, 2, 1], [0] * 9, [0, 0, 0, 1, 1, 2, 2, 3, 3])
    kept = examples.learnable(split)
    assert kept.classes == ("a", "b") and kept.dropped == 2
    assert kept.labels.tolist() == [0, 0, 1, 1, 1, 0, 1]
    with pytest.raises(DataError, match="1 labels occur"):
        made([0, 0, 1, 0, 0], [0] * 5, [0, 0, 1, 2, 3]).learnable(split)
    with pytest.raises(DataError, match="test part"):
        made([0, 0, 1, 1, 0], [0] * 5, [0, 0, 1, 1, 2]).learnable(split)


def test_baselines_by_hand():
    split = Split(np.array([0, 1, 2]))
    #                    training: type 0 is b, b, a; type 1 is c; test: types 0, 1, 9
    examples = made([1, 1, 0, 2, 0, 1, 2, 1], [0, 0, 0, 1, 0, 0, 1, 9], [0, 0, 0, 0, 1, 2, 2, 2])
    assert majority(examples, split).tolist() == [1, 1, 1]
    assert most_frequent_by_type(examples, split).tolist() == [1, 2, 1]
    assert unseen_types(examples, split).tolist() == [False, False, True]


def test_a_control_label_belongs_to_the_type_and_keeps_the_shares_of_the_task():
    generator = np.random.default_rng(0)
    types = generator.integers(0, 3000, size=20_000)
    labels = generator.choice(3, size=20_000, p=(0.6, 0.3, 0.1))
    examples = made(labels, types, np.arange(20_000) % 300)
    split = Split(np.arange(300) % 3)
    draws = control_labels(examples, split, np.random.default_rng(1), 2)
    for draw in draws:
        assert len({(t, c) for t, c in zip(types, draw, strict=True)}) == len(set(types))
        assert np.bincount(draw) / 20_000 == pytest.approx([0.6, 0.3, 0.1], abs=0.03)
        assert abs(np.corrcoef(draw, labels)[0, 1]) < 0.05
    assert (draws[0] != draws[1]).mean() > 0.4


def judged(labels, predicted, bits, sentences):
    parts = [np.asarray(it) for it in (labels, predicted)]
    return Judged(*parts, np.asarray(bits, float), np.asarray(sentences), 4)


def test_measures_by_hand_and_by_scikit_learn():
    found = judged([0, 0, 1, 2], [0, 1, 1, 1], [1.0, 3.0, 0.5, 2.0], [5, 5, 7, 7])
    assert found.accuracy == 0.5 and found.log_loss == 1.625
    assert found.macro_f1 == pytest.approx((2 / 3 + 0.5 + 0) / 3)
    assert found.macro_f1 == pytest.approx(f1_score(found.labels, found.predicted, average="macro"))
    right, count = found.correct_by_sentence(9)
    assert right[[5, 7]].tolist() == [1, 1] and count[[5, 7]].tolist() == [2, 2]
    assert found.where(found.sentences == 7).accuracy == 0.5


def test_intervals_draw_whole_sentences():
    generator = np.random.default_rng(3)
    right = generator.random(200) < 0.7  # a sentence is right or wrong as a whole
    labels = np.zeros(200 * 10, int)
    found = judged(labels, np.repeat(~right, 10).astype(int), labels, np.repeat(range(200), 10))
    bounds = intervals(found.resampled(np.random.default_rng(0), 2000))["accuracy"]
    half = 1.96 * np.sqrt(0.7 * 0.3 / 200)  # not / 2000
    assert bounds == pytest.approx((found.accuracy - half, found.accuracy + half), abs=0.012)
    again = found.resampled(np.random.default_rng(0), 2000)
    assert intervals(again)["accuracy"] == bounds
    assert again["macro_f1"].mean() == pytest.approx(found.macro_f1, abs=0.01)
