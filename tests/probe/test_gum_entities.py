"""Entities as brackets in MISC."""

from dataclasses import replace

import pytest

from headcount.models.errors import DataError
from headcount.probe.annotations import GumEntityLayer, Span, Treebank
from headcount.probe.annotations.sentence import AnnotatedSentence, Word


def bank(*brackets: str) -> Treebank:
    words = tuple(
        [
            Word("w", 2 * index, 2 * index + 1, misc=(("Entity", each),) if each else ())
            for index, each in enumerate(brackets)
        ]
    )
    return Treebank("xx", (AnnotatedSentence("s", "w " * len(words), words),))


def test_brackets_nest_cross_and_stand_alone():
    treebank = bank(
        "(1-person-new-a-1-sgl", "(2-place-new)", "(3-event-x", "1)(2-place-giv", "3)2)"
    )
    found = GumEntityLayer().add_to(treebank)
    assert found.sentences[0].entities == (
        Span("person", 0, 4),
        Span("place", 1, 2),
        Span("event", 2, 5),
        Span("place", 3, 5),
    )
    assert found.counts == {"entities": 4, "entities in parts": 0}


def test_the_same_entity_may_hold_itself():
    found = GumEntityLayer().add_to(bank("(1-person-a", "(1-person-b)", "1)"))
    assert found.sentences[0].entities == (Span("person", 0, 3), Span("person", 1, 2))


def test_entities_in_parts_are_counted():
    found = GumEntityLayer().add_to(bank("(1[1/2]-person-a)", "(2-place)", "(1[2/2]-person-a)"))
    assert found.sentences[0].entities == (Span("place", 1, 2),)
    assert found.counts["entities in parts"] == 2


@pytest.mark.parametrize(
    ("brackets", "reason"),
    [
        (("(1-person", ""), "word 1: entity 1 begins but never ends"),
        (("", "1)"), "word 2: entity 1 ends before it begins"),
        (("(1-person)?",), r"word 1: '\?' is no bracket"),
        (("", ""), "no Entity= in MISC"),
    ],
)
def test_brackets_that_do_not_match_are_refused(brackets: tuple[str, ...], reason: str):
    with pytest.raises(DataError, match=reason):
        GumEntityLayer().add_to(bank(*brackets))


def test_a_layer_is_put_on_once():
    once = GumEntityLayer().add_to(bank("(1-person-a)"))
    with pytest.raises(DataError, match="sentence 's' has entities already"):
        once.with_layer({"s": replace(once.sentences[0], entities=())}, {})
    once.with_layer({"s": replace(once.sentences[0], roles=())}, {})
    assert once.with_layer({}, {"more": 1}).counts["more"] == 1
