"""The built-in corpus in the common form: direct, and by way of its exported files."""

from dataclasses import replace
from pathlib import Path

import pytest

from headcount.models.data import miniature
from headcount.models.errors import DataError
from headcount.probe.annotations import (
    AlignedText,
    ConlluReader,
    MiniatureGoldLayer,
    MiniatureReader,
    PharaohReader,
    Span,
    Treebank,
    aligned_text,
    focus_of,
    read_annotations,
)
from headcount.probe.annotations.miniature import _entities
from headcount.probe.annotations.sentence import AnnotatedSentence, Word


@pytest.fixture(scope="module")
def corpus() -> miniature.MiniatureCorpus:
    return miniature.generate(seed=5, sentences=120)


@pytest.fixture(scope="module")
def direct(corpus: miniature.MiniatureCorpus) -> AlignedText:
    return aligned_text(corpus.train, "train")


@pytest.mark.parametrize("side", ["source", "target"])
def test_the_exported_files_give_the_same_sentences(
    corpus: miniature.MiniatureCorpus, direct: AlignedText, tmp_path: Path, side: str
):
    miniature.write_gold(corpus, tmp_path)
    path = tmp_path / ("train.en.conllu" if side == "source" else "train.de.conllu")
    read = read_annotations(ConlluReader(path=path), [MiniatureGoldLayer()])
    assert read.sentences == tuple(getattr(pair, side) for pair in direct)
    assert read.counts["texts that differ"] == 0


def test_the_exported_alignment_gives_the_same_links(
    corpus: miniature.MiniatureCorpus, direct: AlignedText, tmp_path: Path
):
    miniature.write_gold(corpus, tmp_path)
    source, target, alignments = (
        tmp_path / f"train.{x}" for x in ("en.conllu", "de.conllu", "align")
    )
    read = PharaohReader(source=source, target=target, alignments=alignments).read()
    assert [pair.sure for pair in read] == [pair.sure for pair in direct]
    assert read.counts == direct.counts


def test_every_layer_is_there_and_has_the_corpus_labels(
    corpus: miniature.MiniatureCorpus, direct: AlignedText
):
    for made, pair in zip(corpus.train, direct, strict=True):
        for before, after in ((made.source, pair.source), (made.target, pair.target)):
            assert after.depths == tuple(word.depth for word in before.words)
            assert [(s.words[0], s.label) for s in after.supersenses or ()] == [
                (index, word.supersense)
                for index, word in enumerate(before.words)
                if word.supersense
            ]
            labels = [word.entity for word in before.words]
            for span in after.entities or ():
                assert set(labels[span.start : span.end]) == {span.label}
                labels[span.start : span.end] = [""] * (span.end - span.start)
            assert not any(labels)


def test_focus_names_the_words_in_question(corpus: miniature.MiniatureCorpus, direct: AlignedText):
    seen = 0
    for made, pair in zip(corpus.train, direct, strict=True):
        if made.focus.source >= 0 and made.focus.source_cue >= 0:
            assert focus_of(pair.source) == (made.focus.source, made.focus.source_cue)
            seen += 1
        else:
            assert focus_of(pair.source) is None
    assert 0 < seen < len(direct)


def test_neighbours_are_one_entity_only_where_the_tree_joins_them():
    def word(head: int) -> Word:
        return Word("x", 0, 1, head=head)

    names = ["PERSON", "PERSON", ""]
    assert _entities([word(2), word(2), word(-1)], names) == (
        Span("PERSON", 0, 1),
        Span("PERSON", 1, 2),
    )
    assert _entities([word(2), word(0), word(-1)], names) == (Span("PERSON", 0, 2),)
    assert _entities([word(1), word(2), word(-1)], names) == (Span("PERSON", 0, 2),)


def test_the_reader_generates_the_part_that_is_asked_for():
    part = MiniatureReader(seed=2, sentences=40, part="valid").read()
    assert part.pairs == aligned_text(miniature.generate(2, 40).valid, "valid").pairs


@pytest.mark.parametrize(
    ("comments", "role", "reason"),
    [
        ((("constituents", "NP:1-2"),), "", "'NP:1-2' is no constituent"),
        ((("constituents", "S:1-1"),), "agent", "'agent' is no role"),
        ((("constituents", "S:1-1"),), "agent:2", "'agent:2' is no role"),
        ((), "", "no gold annotation of the built-in corpus"),
    ],
)
def test_gold_that_is_damaged_or_missing_is_refused(
    comments: tuple[tuple[str, str], ...], role: str, reason: str
):
    word = Word("x", 0, 1, misc=(("Role", role),))
    sentence = replace(AnnotatedSentence("s", "x", (word,)), comments=comments)
    with pytest.raises(DataError, match=reason):
        MiniatureGoldLayer().add_to(Treebank("xx", (sentence,)))
