"""Mean maps by relative position and block heads, by hand."""

from dataclasses import replace

import pytest
import torch
from test_head_roles import ENCODER, Shown

from headcount.models.gates import HeadLayout
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of
from headcount.probe.roles import RelativeObserver, joined, walk
from headcount.probe.roles.relative import by_offset

TWO = HeadLayout.full({"encoder": 1}, 2)


def marked(text: str) -> AnnotatedSentence:
    words = [replace(it, upos="PUNCT" if it.form == "," else "X") for it in words_of(text)]
    return AnnotatedSentence(text, text, tuple(words))


def observed(weights, text: str):
    """What is summed of one sentence; keys are its words and EOS."""
    translator = Shown(TWO, {ENCODER: weights})
    sides = joined(translator, [(marked(text), marked("x"))])
    observer = RelativeObserver(TWO, 1, furthest=2)
    walk(translator, sides, [observer])
    return observer.found


@pytest.mark.parametrize("furthest", [1, 2, 9])
def test_diagonals_are_summed(furthest):
    maps = torch.rand(2, 3, 4, 6, generator=torch.Generator().manual_seed(0))
    expected = torch.zeros(2, 3, 2 * furthest + 2)
    for query in range(4):
        for key in range(6):
            offset = key - query
            bin = offset + furthest if abs(offset) <= furthest else -1
            expected[:, :, bin] += maps[:, :, query, key]
    assert torch.allclose(by_offset(maps, furthest), expected, atol=1e-5)


def test_a_mean_map_leaves_out_eos_and_counts_pairs():
    # Three words and EOS. Head 0 looks at the word itself with 0.6 and EOS with 0.4; head 1 at
    # the last word.
    own = torch.eye(3, 4) * 0.6
    own[:, 3] = 0.4
    last = torch.zeros(3, 4)
    last[:, 2] = 1.0
    eos = torch.full((1, 4), 0.25)  # EOS asks as well and is not counted
    found = observed(torch.stack([torch.cat([own, eos]), torch.cat([last, eos])])[None], "a b c")
    assert found.offsets == range(-2, 3)
    assert found.mean()[0, 2] == pytest.approx(0.6)  # offset 0
    assert found.mean()[1, 2:5].tolist() == pytest.approx([1 / 3, 1 / 2, 1.0])
    assert torch.isnan(found.mean()[0, 5])  # nothing is further away than 2
    assert found.mass().sum(1).tolist() == pytest.approx([0.6, 1.0])


def test_a_block_head_stays_inside_more_than_distance_explains():
    # a b , c d EOS: blocks a b and c d. Head 0 looks at the other word of its block. Head 1
    # looks one word to the right, wherever that is.
    size = 6
    block, right = torch.zeros(size, size), torch.zeros(size, size)
    for query, key in ((0, 1), (1, 0), (2, 5), (3, 4), (4, 3), (5, 5)):
        block[query, key] = 1.0
    for query in range(size):
        right[query, min(query + 1, size - 1)] = 1.0
    found = observed(torch.stack([block, right])[None], "a b , c d").blocks()
    assert found.inside[0].tolist() == pytest.approx([1.0, 0.5])
    # Head 0: offsets +1 and -1 have 4 pairs each, of which 2 have weight 1; 2 are in a block.
    assert found.expected[0, 0] == pytest.approx((2 * 2 / 4 + 2 * 2 / 4) / 4)
    # Head 1: all 4 pairs at +1 have weight 1, and 2 of them are in a block.
    assert found.expected[0, 1] == pytest.approx(2 / 4)
    assert found.lead[0, 1] == pytest.approx(0.0)


def test_a_sentence_of_one_block_asks_for_none():
    even = torch.full((1, 2, 4, 4), 0.25)
    assert observed(even, "a b c").asked.sum() == 0


def test_resampled_blocks_of_the_same_sentences_are_the_same():
    even = torch.full((1, 2, 6, 6), 1 / 6)
    found = observed(even, "a b , c d")
    once, twice = found.blocks(), found.blocks(torch.tensor([[2]]).numpy())
    assert twice.lead.tolist() == once.lead.tolist()
