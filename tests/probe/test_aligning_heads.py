"""Alignment of cross-attention that is written by hand, by hand."""

import pytest
import torch
from test_head_roles import CROSS, Shown, looks

from headcount.models.gates import HeadLayout
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of
from headcount.probe.annotations.treebank import AlignedPair
from headcount.probe.roles import (
    AlignmentObserver,
    AlignmentScores,
    LinkObserver,
    joined,
    walk,
)

TWO = HeadLayout.full({"cross": 1}, 2)


def side(text: str) -> AnnotatedSentence:
    return AnnotatedSentence(text, text, words_of(text))


# Source a b c EOS; target BOS x y. Gold: x is a (sure), y is b (sure) or c (possible).
PAIR = AlignedPair(side("a b c"), side("x y"), ((0, 0), (1, 1)), ((0, 0), (1, 1), (2, 1)))


def observed(first: list[int], second: list[int], *, said: bool) -> AlignmentScores:
    """Two heads, each with a key for BOS, x and y."""
    weights = torch.stack([looks(first, width=4), looks(second, width=4)])[None]
    # The second head is less sure, so that the mean follows the first.
    weights[:, 1] = 0.6 * weights[:, 1] + 0.1
    translator = Shown(TWO, {CROSS: weights})
    sides = joined(translator, [(PAIR.source, PAIR.target)])
    observer = AlignmentObserver(TWO, sides, [PAIR], said=said)
    walk(translator, sides, [observer])
    return observer.scores


def test_links_are_counted_for_heads_their_mean_and_their_union():
    # Read at positions 1 and 2. First: x-a, y-c. Second: x-b, y-b.
    scores = observed([3, 0, 2], [3, 1, 1], said=False)
    assert scores.aligners == ("cross.0.0", "cross.0.1", "cross.0 mean", "mean", "union")
    assert scores.links.tolist() == [[2, 2, 2, 2, 4]]
    assert scores.in_sure.tolist() == [[1, 1, 1, 1, 2]]
    assert scores.in_possible.tolist() == [[2, 1, 2, 2, 3]]
    first, second, _, mean, union = scores.quality()
    assert first == (1.0, 0.5, 0.25)  # 1 - (1 + 2) / (2 + 2)
    assert second == (0.5, 0.5, 0.5)
    assert mean == first
    assert union == pytest.approx((0.75, 1.0, 1 - 5 / 6))


def test_a_word_is_said_one_position_before_it_is_read():
    scores = observed([0, 1, 3], [1, 0, 1], said=True)
    assert scores.in_sure[0, 0] == 2  # BOS says x and looks at a, x says y and looks at b
    assert scores.in_sure[0, 1] == 0
    assert observed([0, 1, 3], [1, 0, 1], said=False).in_sure[0, 1] == 2


def test_attention_on_eos_is_no_link_but_words_are_compared_all_the_same():
    scores = observed([0, 3, 3], [3, 1, 1], said=False)
    # Nothing but EOS: the largest weight among words is a tie, and still one link a word.
    assert scores.links[0, 0] == 2


def test_the_best_head_is_chosen_on_other_sentences_than_it_is_scored_on():
    scores = AlignmentScores(
        ("cross.0.0", "cross.0.1", "cross.0 mean", "mean", "union"),
        links=torch.full((2, 5), 4),
        in_sure=torch.tensor([[1, 3, 4, 4, 4], [2, 1, 4, 4, 4]]),
        in_possible=torch.tensor([[1, 3, 4, 4, 4], [2, 1, 4, 4, 4]]),
        sure=torch.tensor([4, 4]),
    )
    assert scores.held_out([0], [1]) == ("cross.0.1", (0.25, 0.25, 0.75))
    assert scores.held_out([1], [0]) == ("cross.0.0", (0.25, 0.25, 0.75))
    with pytest.raises(ValueError, match="both choose and score"):
        scores.held_out([0], [0])


def test_gold_links_of_words_without_pieces_are_counted():
    class Deaf(Shown):
        def offsets(self, text: str, side: str) -> list[tuple[int, int]]:
            return super().offsets(text, side)[:2] + ([(9, 9)] if side == "source" else [])

    translator = Deaf(TWO, {})
    sides = joined(translator, [(PAIR.source, PAIR.target)])
    assert LinkObserver(TWO, sides, [PAIR], fewest=1).scores.unseen == 1  # c-y
