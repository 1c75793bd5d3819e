"""The attention norm against vectors that are formed."""

import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.models.gates import Attention
from headcount.probe.attention_metric import Seen
from headcount.probe.attention_norm import AttentionNorm, value_lengths

GENERATOR = torch.Generator()


class OneHead:
    """A translator of whose heads only the output weights are known."""

    def head_weights(self, name):
        return self

    output = torch.tensor([[[3.0, 0, 4], [0, 2, 0]]])  # [head, head_width, width]


def test_lengths_by_hand():
    values = torch.tensor([[[[1.0, 0], [0, 1], [1, 1], [0, 0]]]])
    found = value_lengths(values, OneHead.output)
    assert found[0, 0].tolist() == pytest.approx([5, 2, 29**0.5, 0])


def test_weights_multiply_lengths_and_are_not_renormalised():
    weights = torch.tensor([[[[0.5, 0.25, 0.25], [1.0, 0, 0]]]])
    values = torch.tensor([[[[1.0, 0], [0, 1], [1, 1]]]])
    queries, keys = torch.tensor([[True, True]]), torch.tensor([[True, True, False]])
    seen = Seen(Attention("cross", 0), weights, values, queries, keys)
    added, defined = AttentionNorm().by_query(OneHead(), seen)
    assert added[0, 0].tolist() == pytest.approx([0.5 * 5 + 0.25 * 2, 5])
    assert defined.all()


def test_a_sentence_against_vectors_formed_one_by_one(nano, pairs):
    found = AttentionNorm(keep_special=True).scores(nano, pairs, GENERATOR)
    batch = next(iter(nano.batches(pairs.source[5:6], pairs.target[5:6])))
    capture = nano.capture(batch, attention=True, values=True)
    for name, columns in nano.layout.slices.items():
        layer = nano.network.attentions[name]
        for number, column in enumerate(range(columns.start, columns.stop)):
            rows = slice(number * layer.head_width, (number + 1) * layer.head_width)
            vectors = capture.values[name][0, number] @ layer.output.weight[:, rows].T
            alpha = capture.attention[name][0, number]
            moved = alpha[:, :, None] * vectors[None]  # [query, key, width]
            expected = moved.norm(dim=-1).sum(1).mean()
            assert found.values[5, column] == pytest.approx(expected.item(), rel=1e-9)


def test_the_planted_heads_come_in_the_order_of_what_they_write(planted, pairs):
    found = AttentionNorm().scores(planted, pairs, GENERATOR)
    assert found.removal_order()[-2:] == [COPIER, CARRIER]
    assert sorted(found.mean.tolist())[:16] == [0] * 16


def test_the_choice_of_tokens_is_said():
    assert "leaves out BOS and EOS" in AttentionNorm().remarks()[0]
    assert "counts BOS and EOS" in AttentionNorm(keep_special=True).remarks()[0]
