"""Attention entropy against rows worked out by hand."""

import math

import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.models.data.parallel_text import ParallelText
from headcount.models.gates import Attention
from headcount.probe.attention_metric import Seen
from headcount.probe.entropy import Entropy, row_entropy

GENERATOR = torch.Generator()
ALL = torch.ones(1, 3, dtype=torch.bool)


def test_entropy_by_hand():
    rows = torch.tensor([[[[1.0, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]]])
    entropy, total = row_entropy(rows, ALL)
    assert entropy[0, 0].tolist() == pytest.approx([0, math.log(2), math.log(3)])
    assert total[0, 0].tolist() == pytest.approx([1, 1, 1])


def test_left_out_keys_are_left_out_of_the_distribution_too():
    rows = torch.tensor([[[[0.2, 0.2, 0.6], [0, 0.1, 0.9], [0, 0, 1.0]]]])
    entropy, total = row_entropy(rows, torch.tensor([[True, True, False]]))
    assert entropy[0, 0, :2].tolist() == pytest.approx([math.log(2), 0])
    assert total[0, 0].tolist() == pytest.approx([0.4, 0.1, 0])
    assert entropy[0, 0, 2].isnan()


def seen(site: str, weights, keys) -> Seen:
    weights = torch.tensor([[weights]])
    keys = torch.tensor([keys])
    queries = torch.ones(1, weights.shape[2], dtype=torch.bool)
    return Seen(Attention(site, 0), weights, torch.empty(0), queries, keys)


def test_normalised_divides_by_the_keys_that_the_query_sees():
    even = [[1.0, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]]
    causal = seen("decoder", even, [True] * 3)
    assert causal.keys_seen.tolist() == [[1, 2, 3]]
    entropy, defined = Entropy(normalised=True).by_query(None, causal)
    assert entropy[0, 0].tolist() == pytest.approx([0, 1, 1])
    assert defined[0, 0].tolist() == [False, True, True]
    open_to_all = seen("cross", even, [True] * 3)
    entropy, defined = Entropy(normalised=True).by_query(None, open_to_all)
    assert entropy[0, 0].tolist() == pytest.approx([0, math.log(2) / math.log(3), 1])
    assert defined.all()


def test_a_query_without_weight_on_the_keys_counts_nothing():
    _, defined = Entropy().by_query(None, seen("cross", [[0.0, 1.0], [0.5, 0.5]], [True, False]))
    assert defined[0, 0].tolist() == [False, True]


def test_even_idle_heads_have_the_entropy_of_what_they_see(planted):
    data = ParallelText("one", ["oak fir elm"], ["oak fir elm"])
    found = Entropy().scores(planted, data, GENERATOR)
    mean = dict(zip(found.layout, found.mean.tolist(), strict=True))
    idle_causal = next(head for head in found.layout if head.site == "decoder" and head != COPIER)
    idle_encoder = next(head for head in found.layout if head.site == "encoder")
    assert mean[idle_encoder] == pytest.approx(math.log(3))
    assert mean[idle_causal] == pytest.approx((math.log(2) + math.log(3)) / 3)
    share = Entropy(normalised=True).scores(planted, data, GENERATOR)
    assert share.mean[found.layout.column_of(idle_causal)] == pytest.approx(1)
    whole = Entropy(keep_special=True).scores(planted, data, GENERATOR)
    assert whole.mean[found.layout.column_of(idle_encoder)] == pytest.approx(math.log(4))
    assert whole.unit == "nats"
    assert share.unit == "share of the largest entropy"


@pytest.mark.parametrize("options", [{}, {"normalised": True}, {"keep_special": True}])
def test_the_carrier_is_the_sharpest(planted, pairs, options):
    found = Entropy(**options).scores(planted, pairs, GENERATOR)
    assert not found.higher_is_important
    assert found.ranks()[found.layout.column_of(CARRIER)] == 1


def test_what_was_done_is_said():
    assert "renormalises" in Entropy().remarks()[0]
    assert "counts BOS and EOS" in Entropy(keep_special=True).remarks()[0]
    assert "low entropy" in Entropy().remarks()[0]
