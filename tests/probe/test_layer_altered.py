"""Sentences out of order: made by hand, and as a property of the built-in corpus."""

import numpy as np
import pytest

from headcount.models.data import miniature
from headcount.probe.annotations import AnnotatedSentence, Word, aligned_text
from headcount.probe.layers.tasks import task
from headcount.probe.layers.tasks.altered import (
    INVERSION,
    SHIFT,
    altered,
    clauses,
    inverted,
    shifted,
)

DRAW = np.random.default_rng(0)


def sentence(text, words):
    """A sentence from (form, part of speech, head, relation), its words in order."""
    made, start = [], 0
    for form, upos, head, relation in words:
        start = text.index(form, start)
        made.append(Word(form, start, start + len(form), upos=upos, head=head, relation=relation))
        start += len(form)
    return AnnotatedSentence("s", text, tuple(made), has_tree=True)


TWO = sentence(
    "The dog slept, and Ada ran away.",
    [
        ("The", "DET", 1, "det"), ("dog", "NOUN", 2, "nsubj"), ("slept", "VERB", -1, "root"),
        (",", "PUNCT", 6, "punct"), ("and", "CCONJ", 6, "cc"), ("Ada", "PROPN", 6, "nsubj"),
        ("ran", "VERB", 2, "conj"), ("away", "ADV", 6, "advmod"), (".", "PUNCT", 2, "punct"),
    ],
)  # fmt: skip


def forms(made):
    """What the text has at every word's place."""
    return [made.text[word.start : word.end] for word in made.words]


def test_two_clauses_change_places_and_their_capital_with_them():
    assert clauses(TWO) == (3, 5, 8)
    made = inverted(TWO, DRAW)
    assert made.text == "Ada ran away, and the dog slept."
    assert forms(made) == ["Ada", "ran", "away", ",", "and", "the", "dog", "slept", "."]
    assert not made.has_tree and not any(word.upos for word in made.words)
    # A name keeps its capital where it comes to stand in the middle.
    rest = [("ran", "VERB", -1, "root"), ("and", "CCONJ", 4, "cc"), ("dogs", "NOUN", 4, "nsubj"),
            ("slept", "VERB", 1, "conj"), (".", "PUNCT", 1, "punct")]  # fmt: skip
    ada = sentence("Ada ran and dogs slept.", [("Ada", "PROPN", 1, "nsubj"), *rest])
    assert inverted(ada, DRAW).text == "Dogs slept and Ada ran."
    he = sentence("He" + ada.text[3:], [("He", "PRON", 1, "nsubj"), *rest])
    assert inverted(he, DRAW).text == "Dogs slept and he ran."


@pytest.mark.parametrize("change", ["no subject", "no conjunction", "no tree", "more behind"])
def test_other_sentences_are_not_inverted(change):
    words = [(it.form, it.upos, it.head, it.relation) for it in TWO.words]
    if change == "no subject":
        words[5] = ("Ada", "PROPN", 6, "obj")
    if change == "no conjunction":
        words[4] = ("and", "CCONJ", 6, "advmod")
    if change == "more behind":
        words[7] = ("away", "ADV", 2, "advmod")
    made = sentence(TWO.text, words)
    if change == "no tree":
        made = AnnotatedSentence("s", made.text, made.words)
    assert inverted(made, DRAW) is None


def test_two_neighbours_inside_change_places():
    text = "Ada saw old bats"
    words = [("Ada", "PROPN", 1, ""), ("saw", "VERB", -1, ""), ("old", "ADJ", 3, ""),
             ("bats", "NOUN", 1, "")]  # fmt: skip
    made = {shifted(sentence(text, words), np.random.default_rng(it)).text for it in range(20)}
    assert made == {"Ada old saw bats", "Ada saw bats old"}
    one = shifted(sentence(text, words), DRAW)
    assert sorted(forms(one)) == sorted(text.split()) and forms(one) == one.text.split()
    assert shifted(sentence("Ada saw.", [*words[:2], (".", "PUNCT", 1, "")]), DRAW) is None


def test_a_shifted_word_is_never_one_of_a_written_form_of_two():
    fused = Word("zu", 5, 8), Word("dem", 5, 8)
    made = AnnotatedSentence("s", "Geht zum See", (Word("Geht", 0, 4), *fused, Word("See", 9, 12)))
    assert shifted(made, DRAW) is None


def test_both_labels_are_equally_frequent_and_no_sentence_has_both():
    corpus = miniature.generate(seed=3, sentences=120, valid=1, test=1, unseen=1)
    originals = [pair.source for pair in aligned_text(corpus.train, "train")]
    kept, made, origins = altered(originals, np.random.default_rng(1), 100)
    assert [it.text for it in kept] == [it.text for it in originals]
    for name in (SHIFT, INVERSION):
        as_it_is = {n for n, it in enumerate(kept) if it.comment(name) == "kept"}
        changed = [o for o, it in zip(origins, made, strict=True) if it.comment(name)]
        assert len(as_it_is) - len(changed) in (0, 1) and (changed or name == INVERSION)
        assert not as_it_is & set(changed)
    for it, origin in zip(made, origins, strict=True):
        original = originals[origin]
        assert it.text != original.text
        assert sorted(word.lower() for word in forms(it)) == sorted(
            word.lower() for word in forms(original)
        )
        labels = {name for name in task for each in task[name].read(it) if each.label}
        assert labels == ({SHIFT} if it.comment(SHIFT) else {INVERSION})
    again = altered(originals, np.random.default_rng(1), 100)
    assert [it.text for it in again[1]] == [it.text for it in made]
