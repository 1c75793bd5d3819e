"""What changed between two translations is marked, and nothing of the text is lost."""

import random

import pytest
from made_results import HOSTILE

from headcount.reports.differences import Segment, differing, merged


def changed(segments):
    return [segment.text for segment in segments if segment.changed]


def test_one_word_that_changed_is_marked_on_both_sides():
    lost, new = differing("der Hund läuft schnell .", "der Hund rennt schnell .")
    assert (changed(lost), changed(new)) == (["läuft"], ["rennt"])
    assert lost[0] == Segment("der Hund", False)


def test_equal_translations_have_no_mark():
    lost, new = differing("ein Satz .", "ein Satz .")
    assert changed(lost) == changed(new) == []


def test_nothing_against_something():
    assert differing("", "") == ([], [])
    assert differing("", "ein Wort") == ([], [Segment("ein Wort", True)])


@pytest.mark.parametrize("seed", range(20))
def test_the_segments_give_the_texts_back(seed):
    draw = random.Random(seed)
    before, after = (
        "".join(draw.choices(["a", "b", "  ", " ", "\t", "c d", "<i>"], k=30)) for _ in range(2)
    )
    lost, new = differing(before, after)
    assert "".join(s.text for s in lost) == before and "".join(s.text for s in new) == after


def test_long_and_hostile_texts_are_given_back_whole():
    for text in (*HOSTILE, " ".join(map(str, range(1000)))):
        lost, new = differing(text, f"x {text}")
        assert "".join(s.text for s in lost) == text and "".join(s.text for s in new) == f"x {text}"


def test_one_line_has_what_was_lost_before_what_is_new():
    assert merged("der Hund läuft schnell .", "der Hund rennt .") == [
        (0, "der Hund "),
        (2, "läuft schnell"),
        (0, " "),
        (1, "rennt"),
        (0, " "),
        (0, "."),
    ]
    assert merged("ein Satz .", "ein Satz .") == [(0, "ein Satz .")]
    assert merged("", "") == []
    # A space parts a change from what stands before it, though neither text has one there.
    assert merged("ein Satz", "ein") == [(0, "ein"), (0, " "), (2, "Satz"), (0, " ")]


@pytest.mark.parametrize("seed", range(20))
def test_one_line_has_both_texts_in_it(seed):
    draw = random.Random(seed)
    before, after = ("".join(draw.choices(["a", "b ", " ", "c d", "<i>"], k=30)) for _ in range(2))
    pieces = merged(before, after)
    for text, left_out in ((after, 2), (before, 1)):
        assert "".join(t for kind, t in pieces if kind != left_out).split() == text.split()
