"""Bracketed trees over a treebank's words."""

from pathlib import Path

import pytest

from headcount.models.errors import DataError
from headcount.probe.annotations import ConstituentLayer, Span, Treebank
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of

TREES = """\
; tale
(ROOT
  (S
    (NP-SBJ-1 (PRP She))
    (VP (VBZ is)
      (NP-SBJ (-NONE- *T*-1))
      (PRN (-LRB- -LRB-) (ADJP (JJ now) (JJ old(er))) (-RRB- -RRB-)))))
; poem
(ROOT (NP=2 (NN Rain)))

( (S (NP (NP (NN Sun))) (VP (VBZ shines))) )
"""
TREES = TREES.replace("old(er)", "old-LRB-er-RRB-")


def bank(*texts: tuple[str, str]) -> Treebank:
    return Treebank(
        "xx",
        tuple(
            [
                AnnotatedSentence(f"s{number}", text, words_of(text), document)
                for number, (document, text) in enumerate(texts)
            ]
        ),
    )


BANK = bank(("poem", "Rain"), ("tale", "She is ( now old(er) )"), ("poem", "Sun shines"))


def layer(tmp_path: Path, text: str) -> ConstituentLayer:
    path = tmp_path / "trees.ptb"
    path.write_text(text, encoding="utf-8")
    return ConstituentLayer(path=path)


def test_phrases_join_words_document_by_document(tmp_path: Path):
    found = layer(tmp_path, TREES).add_to(BANK)
    rain, tale, sun = found
    assert rain.constituents == (Span("NP", 0, 1),)
    assert tale.constituents == (
        Span("S", 0, 6),
        Span("NP", 0, 1),
        Span("VP", 1, 6),
        Span("PRN", 2, 6),
        Span("ADJP", 3, 5),
    )
    assert sun.constituents == (
        Span("S", 0, 2),
        Span("NP", 0, 1),
        Span("NP", 0, 1),
        Span("VP", 1, 2),
    )
    assert found.counts == {"constituents": 10, "traces": 1, "sentences with constituents": 3}


def test_the_outer_stands_before_the_inner_also_over_the_same_words(tmp_path: Path):
    found = layer(tmp_path, "(ROOT (S (VP (VB Go))))").add_to(bank(("", "Go")))
    assert found.sentences[0].constituents == (Span("S", 0, 1), Span("VP", 0, 1))


def test_without_documents_trees_follow_the_treebank(tmp_path: Path):
    found = layer(tmp_path, "(ROOT (NP (NN Rain)))\n(ROOT (NP (NN Sun)))").add_to(
        bank(("a", "Rain"), ("b", "Sun"))
    )
    assert [sentence.constituents for sentence in found] == [(Span("NP", 0, 1),)] * 2


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("(ROOT (NP (NN Rain))\n", 1, "1 brackets of this tree are never closed"),
        ("\n(ROOT (NP (NN Rain)))\n(ROOT (NP (NN", 3, "3 brackets of this tree are never closed"),
        ("(ROOT (NP (NN Rain))))\n", 1, r"'\)' outside of a tree"),
        ("Rain\n", 1, "'Rain' outside of a tree"),
        ("(ROOT\n(NP (NN Rain) Sun))", 2, "'Sun' after what node 'NP' has"),
        ("(ROOT (NN Rain\n(NP (NN Sun))))", 2, "a bracket after the word 'Rain'"),
        ("(ROOT (NP))", 1, "node 'NP' has no content"),
        ("(ROOT ())", 1, "node '' has no content"),
        ("(ROOT (-NONE- *))", 1, "a tree without words"),
        ("(ROOT (NP (NN Rain)))", 1, "1 trees from here on, but xx has 3 sentences"),
        ("; song\n(ROOT (NP (NN Rain)))", 2, "document 'song' has 0 sentences"),
        (
            TREES.replace("NN Sun", "NN Moon"),
            11,
            "words are not .* 's2': 'Moon' where it has 'Sun'",
        ),
        (TREES.replace("(VP (VBZ shines))", ""), 11, "1 words are not the 2 of sentence 's2'"),
    ],
)
def test_trees_that_are_damaged_or_do_not_fit_are_refused(
    tmp_path: Path, text: str, line: int, reason: str
):
    with pytest.raises(DataError, match=rf"trees.ptb, line {line}: .*{reason}"):
        layer(tmp_path, text).add_to(BANK)
