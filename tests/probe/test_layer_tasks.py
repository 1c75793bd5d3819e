"""Probing tasks on the built-in corpus and on a sentence by hand."""

import numpy as np
import pytest
import torch

from headcount.models.data import miniature
from headcount.models.errors import DataError
from headcount.probe.annotations import (
    AlignedPair,
    AnnotatedSentence,
    Judgement,
    Role,
    Span,
    Supersense,
    Word,
    aligned_text,
)
from headcount.probe.layers.control import control_labels, unseen_types
from headcount.probe.layers.examples import Split
from headcount.probe.layers.features import Features
from headcount.probe.layers.logistic import predict
from headcount.probe.layers.mlp import MlpSettings, fit_mlp
from headcount.probe.layers.stacked import Problem, solve
from headcount.probe.layers.tasks import Words, aligned_examples, examples_of, task

FROM_MINIATURE = {
    "syntax": ("upos", "relation", "head_distance", "depth", "constituent"),
    "semantics": ("supersense", "role", "entity", "sense", "animacy"),
    "sentence": ("sentence_length", "tree_depth", "main_tense", "subject_number"),
    "morphology": ("number", "tense"),
}


def word(form, start, upos, head, relation, features=(), misc=()):
    end = start + len(form)
    return Word(form, start, end, upos=upos, head=head, relation=relation,
                features=features, misc=misc)  # fmt: skip


PAST = (("Tense", "Past"), ("VerbForm", "Fin"))
SENTENCE = AnnotatedSentence(
    "s",
    "Ada saw bats in London.",
    (
        word("Ada", 0, "PROPN", 1, "nsubj:x", (("Number", "Sing"),), (("Animacy", "human"),)),
        word("saw", 4, "VERB", -1, "root", PAST),
        word("bats", 8, "NOUN", 1, "obj", (), (("Sense", "bat.animal"),)),
        word("in", 13, "ADP", 4, "case"),
        word("London", 16, "PROPN", 1, "obl"),
        word(".", 22, "PUNCT", 1, "punct"),
    ),
    has_tree=True,
    entities=(Span("PER", 0, 1), Span("LOC", 4, 5)),
    supersenses=(
        Supersense((1,), "V", "v.perception"),
        Supersense((2,), "N", "n.ANIMAL"),
        Supersense((3,), "P", "p.Locus", "p.Goal"),
        Supersense((4,), "N", "??"),
    ),
    constituents=(Span("S", 0, 6), Span("NP", 0, 1), Span("VP", 1, 5), Span("PP", 3, 5)),
    roles=(Role(1, 0, "experiencer"), Role(1, 2, "stimulus")),
    judgements=(
        Judgement((1, 0), "volition", 1.2, 1.0),
        Judgement((1, 2), "volition", -0.2, 1.0),  # nobody was sure
        Judgement((1,), "factual", 2.0, 1.0),
    ),
)
WORDS = Words(np.array([0, 6]), np.ones(6, bool), np.arange(6))


def read(name):
    return [(it.word, it.partner, it.label) for it in task[name].read(SENTENCE)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("relation", [(0, 1, "nsubj"), (2, 1, "obj"), (3, 4, "case"), (4, 1, "obl"),
                      (5, 1, "punct")]),
        ("head_distance", [(0, -1, "+1"), (2, -1, "-1"), (3, -1, "+1"), (4, -1, "-3-5"),
                           (5, -1, "-3-5")]),
        ("depth", [(0, -1, "1"), (1, -1, "0"), (2, -1, "1"), (3, -1, "2"), (4, -1, "1"),
                   (5, -1, "1")]),
        ("constituent", [(0, -1, "NP"), (1, -1, "VP"), (2, -1, "VP"), (3, -1, "PP"),
                         (4, -1, "PP"), (5, -1, "S")]),
        ("higher_constituent", [(0, -1, "S"), (1, -1, "S"), (2, -1, "S"), (3, -1, "VP"),
                                (4, -1, "VP")]),
        ("supersense", [(1, -1, "v.perception"), (2, -1, "n.ANIMAL")]),
        ("scene_role", [(3, -1, "p.Locus")]),
        ("preposition_function", [(3, -1, "p.Goal")]),
        ("entity", [(0, -1, "PER"), (4, -1, "LOC")]),
        ("role", [(0, 1, "experiencer"), (2, 1, "stimulus")]),
        ("sense", [(2, -1, "bat.animal")]),
        ("animacy", [(0, -1, "human")]),
        ("number", [(0, -1, "Sing")]),
        ("volition", [(0, 1, "yes")]),
        ("factual", [(1, -1, "yes")]),
        ("main_tense", [(0, -1, "Past")]),
        ("subject_number", [(0, -1, "Sing")]),
        ("sentence_length", [(0, -1, "1")]),
        ("tree_depth", [(0, -1, "2")]),
        ("xpos", []),
    ],
)  # fmt: skip
def test_tasks_by_hand(name, expected):
    assert read(name) == expected


def test_a_sentence_without_the_layer_gives_no_examples():
    bare = AnnotatedSentence("s", "Ada", (Word("Ada", 0, 3),))
    lacking = [name for name in task if name != "sentence_length"]
    assert all(list(task[name].read(bare)) == [] for name in lacking)
    with pytest.raises(DataError, match="annotation that it needs"):
        examples_of(task["upos"], [bare], Words(np.array([0]), np.ones(1, bool), np.zeros(1, int)))


def test_words_without_a_vector_and_pairs_with_one_are_no_examples():
    some = Words(WORDS.starts, np.array([True, False, True, True, True, True]), WORDS.types)
    assert examples_of(task["upos"], [SENTENCE], some).rows.tolist() == [0, 2, 3, 4, 5]
    assert examples_of(task["relation"], [SENTENCE], some).rows.tolist() == [3]


def test_the_next_word_is_read_from_the_word_before():
    found = examples_of(task["upos"], [SENTENCE], WORDS, at="next")
    labels = [found.classes[it] for it in found.labels]
    assert found.rows.tolist() == [0, 1, 2, 3, 4]
    assert labels == ["VERB", "NOUN", "ADP", "PROPN", "PUNCT"]
    with pytest.raises(DataError, match="no next word"):
        examples_of(task["relation"], [SENTENCE], WORDS, at="next")


def test_a_target_word_has_the_label_of_its_one_aligned_source_word():
    german = AnnotatedSentence("t", "A B C", tuple([Word(it, 0, 1) for it in "ABC"]))
    links = ((0, 0), (1, 1), (2, 1), (4, 2))
    words = Words(np.array([0, 3]), np.ones(3, bool), np.arange(3))
    pair = AlignedPair(SENTENCE, german, links, links)
    found = aligned_examples(task["upos"], [pair], words)
    assert found.rows.tolist() == [0, 2]  # the second word has two
    assert [found.classes[it] for it in found.labels] == ["PROPN", "PROPN"]


@pytest.fixture(scope="module")
def corpus():
    generated = miniature.generate(seed=3, sentences=250, valid=1, test=1, unseen=1)
    sentences = [pair.source for pair in aligned_text(generated.train, "train")]
    counts = [len(it) for it in sentences]
    forms = [word.form.lower() for it in sentences for word in it.words]
    types = np.unique(np.array(forms), return_inverse=True)[1]
    starts = np.concatenate([[0], np.cumsum(counts)])
    return sentences, Words(starts, np.ones(len(forms), bool), types)


@pytest.mark.parametrize("name", [name for names in FROM_MINIATURE.values() for name in names])
def test_every_task_of_the_built_in_corpus_has_examples_of_several_labels(name, corpus):
    sentences, words = corpus
    found = examples_of(task[name], sentences, words)
    assert len(found.classes) > 1
    assert (np.bincount(found.labels) > 0).all()
    assert np.array_equal(found.sentences, np.sort(found.sentences))
    if found.unit != "sentence":
        inside = (words.starts[found.sentences] <= found.rows) & (
            found.rows < words.starts[found.sentences + 1]
        )
        assert inside.all()


def test_families_are_as_documented():
    for family, names in FROM_MINIATURE.items():
        assert {task[name].family for name in names} == {family}


def test_a_memorising_probe_reaches_the_control_task_and_a_linear_one_less(corpus):
    # States are one random vector a word type: all that can be done is to memorise.
    sentences, words = corpus
    examples = examples_of(task["upos"], sentences, words)
    split = Split.of([""] * len(sentences), np.random.default_rng(0))
    draw = control_labels(examples, split, np.random.default_rng(1), 1)[0]
    vectors = np.random.default_rng(2).normal(size=(words.types.max() + 1, 24))
    features = Features(vectors.astype(np.float32), words.types[examples.rows])
    parts = [split.examples(examples.sentences, it) for it in ("train", "valid", "test")]
    train, valid, test = (features.select(part) for part in parts)
    size = len(examples.classes)
    linear = solve(train, [Problem(draw[parts[0]], size, 1.0)])[0]
    seen = ~unseen_types(examples, split)
    gold = draw[parts[2]]
    at_line = (predict(test, [linear], [gold])[0][0] == gold)[seen].mean()
    seeded = torch.Generator().manual_seed(0)
    settings = MlpSettings(hidden=128, rate=0.02, decay=0.0, epochs=15)
    mlp = fit_mlp(train, valid, (draw[parts[0]], draw[parts[1]]), size, seeded, settings)
    memorised = (mlp.predict(test, gold)[0] == gold)[seen].mean()
    assert memorised > 0.9
    assert at_line < memorised - 0.1
