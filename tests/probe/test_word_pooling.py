"""Attention and states from pieces to words, by hand."""

import pytest
import torch

from headcount.probe.annotations import (
    attention_over_words,
    pooled_states,
    pooling_matrix,
    word_pieces,
)
from headcount.probe.annotations.pooling import positions

# Source `unhappy cat` as `un`, `happy`, `cat` and EOS; target `BOS`, `du` (two words), `x`.
SOURCE = word_pieces([(0, 7), (8, 11)], [(0, 2), (2, 7), (8, 11)])
TARGET = word_pieces([(0, 2), (0, 2), (3, 4)], [(0, 2), (3, 4)])
SOURCE_ORDINARY = torch.tensor([[True, True, True, False]])
TARGET_ORDINARY = torch.tensor([[False, True, True]])


def test_to_a_word_is_the_sum_and_from_a_word_is_the_mean():
    attention = torch.tensor(
        [
            [0.1, 0.2, 0.3, 0.4],
            [0.5, 0.1, 0.2, 0.2],
            [0.0, 0.6, 0.1, 0.3],
            [0.9, 0.1, 0.0, 0.0],
        ],
        dtype=torch.float64,
    )[None, None]
    queries = pooling_matrix(SOURCE_ORDINARY, [SOURCE], average=True, dtype=torch.float64)
    keys = pooling_matrix(SOURCE_ORDINARY, [SOURCE], average=False, dtype=torch.float64)
    found = attention_over_words(attention, queries, keys)
    # unhappy: ((.1+.2) + (.5+.1)) / 2 = .45 to itself, (.3+.2)/2 = .25 to cat; cat: .6 and .1
    expected = torch.tensor([[0.45, 0.25], [0.6, 0.1]], dtype=torch.float64)
    torch.testing.assert_close(found[0, 0], expected)


def test_two_words_on_one_piece_are_one_unit_so_nothing_is_counted_twice():
    attention = torch.tensor([[0.4, 0.3, 0.3, 0.0], [0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 1.0, 0.0]])
    queries = pooling_matrix(TARGET_ORDINARY, [TARGET], average=True, dtype=torch.float32)
    keys = pooling_matrix(SOURCE_ORDINARY, [SOURCE], average=False, dtype=torch.float32)
    found = attention_over_words(attention[None, None], queries, keys)[0, 0]
    torch.testing.assert_close(found, torch.tensor([[0.3, 0.3], [0.0, 1.0]]))
    assert TARGET.unit == (0, 0, 1)


def test_a_batch_is_its_sentences_one_by_one():
    short = word_pieces([(0, 1)], [(0, 1)])
    ordinary = torch.tensor([[True, True, True, False], [True, False, False, False]])
    attention = torch.rand(2, 3, 4, 4, generator=torch.Generator().manual_seed(0))
    queries = pooling_matrix(ordinary, [SOURCE, short], average=True, dtype=torch.float32)
    keys = pooling_matrix(ordinary, [SOURCE, short], average=False, dtype=torch.float32)
    found = attention_over_words(attention, queries, keys)
    assert found.shape == (2, 3, 2, 2)
    torch.testing.assert_close(found[1, :, 0, 0], attention[1, :, 0, 0])
    assert not found[1, :, 1].any() and not found[1, :, :, 1].any()


def test_rows_keep_all_attention_that_goes_to_words():
    generator = torch.Generator().manual_seed(1)
    attention = torch.rand(1, 2, 4, 4, generator=generator).softmax(-1)
    queries = pooling_matrix(SOURCE_ORDINARY, [SOURCE], average=True, dtype=torch.float32)
    keys = pooling_matrix(SOURCE_ORDINARY, [SOURCE], average=False, dtype=torch.float32)
    found = attention_over_words(attention, queries, keys)
    lost = attention[0, :, :3, 3]
    torch.testing.assert_close(found[0, :, 0].sum(-1), 1 - lost[:, :2].mean(-1))


def test_pieces_are_not_positions():
    assert positions(TARGET_ORDINARY, [TARGET]) == [[1, 2]]
    with pytest.raises(ValueError, match="3 pieces but 2 positions"):
        positions(TARGET_ORDINARY, [SOURCE])


STATES = torch.tensor([[1.0, 0.0], [3.0, 2.0], [5.0, 7.0]])


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", [[2.0, 1.0], [5.0, 7.0], [2.0, 1.0]]),
        ("first", [[1.0, 0.0], [5.0, 7.0], [1.0, 0.0]]),
        ("last", [[3.0, 2.0], [5.0, 7.0], [3.0, 2.0]]),
    ],
)
def test_a_word_has_the_mean_first_or_last_state_of_its_pieces(how, expected):
    found = pooled_states(STATES, [(0, 1), (2,), (0, 1)], how)
    torch.testing.assert_close(found, torch.tensor(expected))


def test_a_word_without_pieces_has_no_state():
    with pytest.raises(ValueError, match="leave it out"):
        pooled_states(STATES, [(0,), ()])
    assert pooled_states(STATES, []).shape == (0, 2)
