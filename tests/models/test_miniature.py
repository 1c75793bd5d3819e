"""The built-in corpus: its sizes, its splits, and that it is the same everywhere."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import islice
from random import Random
from time import process_time

import pytest

from headcount.models.data.miniature import (
    AnnotatedPair,
    MiniatureCorpus,
    generate,
    held_out,
    pairs,
)
from headcount.models.data.miniature.annotation import write
from headcount.models.data.miniature.corpus import drafts
from headcount.models.data.miniature.sentences.family import WEIGHTS, Grammar, phenomenon


@pytest.fixture(scope="module")
def corpus() -> MiniatureCorpus:
    return generate(seed=1, sentences=1_200, valid=100, test=200, unseen=40)


def every_pair(corpus: MiniatureCorpus) -> list[AnnotatedPair]:
    return [pair for part in corpus.splits.values() for pair in part]


def lemma_pairs(pair: AnnotatedPair) -> set[tuple[str, str]]:
    """Verb and object, adjective and noun: read off the finished tree."""
    words = pair.source.words
    found = set()
    for word in words:
        if word.relation == "obj" and word.upos == "NOUN":
            found.add((words[word.head].lemma, word.lemma))
        if word.relation == "amod" and word.lemma != "many":
            found.add((word.lemma, words[word.head].lemma))
    return found


def test_the_parts_have_the_sizes_asked_for(corpus: MiniatureCorpus) -> None:
    sizes = {name: len(part) for name, part in corpus.splits.items()}
    assert sizes == {"train": 1_200, "valid": 100, "test": 200, "unseen": 40}


def test_no_source_and_no_target_occurs_twice(corpus: MiniatureCorpus) -> None:
    everything = every_pair(corpus)
    assert len({pair.source.text for pair in everything}) == len(everything)
    assert len({pair.target.text for pair in everything}) == len(everything)


def test_unseen_combinations_are_in_no_other_part(corpus: MiniatureCorpus) -> None:
    known = {pair for part in (corpus.train, corpus.valid, corpus.test) for pair in part}
    seen = set().union(*(lemma_pairs(pair) for pair in known))
    words = {word.form.lower() for pair in corpus.train for word in pair.source.words}
    assert not any(held_out(*combination) for combination in seen)
    for pair in corpus.unseen:
        new = {combination for combination in lemma_pairs(pair) if held_out(*combination)}
        assert new and not new & seen
        assert {word.form.lower() for word in pair.source.words} <= words


def test_every_phenomenon_occurs_and_is_registered(corpus: MiniatureCorpus) -> None:
    assert set(WEIGHTS) == set(phenomenon)
    assert {pair.phenomenon for pair in corpus.train} == set(WEIGHTS)


def test_lengths_are_3_to_25_words_and_moderate_on_average(corpus: MiniatureCorpus) -> None:
    for side in ("source", "target"):
        lengths = [len(getattr(pair, side).words) for pair in every_pair(corpus)]
        assert min(lengths) >= 3 and max(lengths) <= 25
        assert 8.5 <= sum(lengths) / len(lengths) <= 11


def test_one_source_has_one_target() -> None:
    """Drawn with repetition, before duplicates are dropped."""
    targets: dict[str, str] = {}
    for _, draft in islice(drafts(Grammar(Random(11))), 3_000):
        source, target = (write(side.tokens)[0] for side in (draft.english, draft.german))
        assert targets.setdefault(source, target) == target


@pytest.mark.slow
def test_one_source_has_one_target_in_many() -> None:
    targets: dict[str, str] = {}
    for _, draft in islice(drafts(Grammar(Random(12))), 100_000):
        source, target = (write(side.tokens)[0] for side in (draft.english, draft.german))
        assert targets.setdefault(source, target) == target


def test_the_same_seed_gives_the_same_pairs_in_another_process(corpus: MiniatureCorpus) -> None:
    code = (
        "from itertools import islice\n"
        "from hashlib import sha256\n"
        "from headcount.models.data.miniature import pairs\n"
        "print(sha256(repr(list(islice(pairs(5), 100))).encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(digests) == 1
    assert next(pairs(5)).source.text != next(pairs(6)).source.text


@pytest.mark.slow
def test_the_default_corpus_has_its_vocabulary_and_its_rare_words() -> None:
    started = process_time()
    corpus = generate(seed=0)
    seconds = process_time() - started
    assert seconds < 20  # half of that on an idle core
    assert {name: len(part) for name, part in corpus.splits.items()} == {
        "train": 20_000,
        "valid": 500,
        "test": 1_000,
        "unseen": 500,
    }
    english: Counter[str] = Counter()
    german: set[str] = set()
    for pair in corpus.train:
        english.update({word.form.lower() for word in pair.source.words})
        german.update(word.form for word in pair.target.words)
    rare = [word for word, sentences in english.items() if sentences * 4_000 < 20_000]
    assert len(english) >= 600 and len(german) >= 600
    assert len(rare) >= 100
    ranked = [count for _, count in english.most_common()]
    assert ranked[0] > 10 * ranked[50] > 30 * ranked[500]  # a long tail
