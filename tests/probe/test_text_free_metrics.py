"""Metrics that read no text: weight norm, and the random null."""

import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.models.data.parallel_text import ParallelText
from headcount.models.errors import DataError
from headcount.probe.importance import metric
from headcount.probe.random_order import Random
from headcount.probe.weight_norm import WeightNorm

NONE = ParallelText("none", [], [])


def test_weight_norm_is_the_product_of_two_frobenius_norms(nano, pairs):
    found = WeightNorm().scores(nano, pairs, torch.Generator())
    attention = nano.network.decoder[1].cross_attention
    value = attention.value.weight[4:8].square().sum().sqrt()
    output = attention.output.weight[:, 4:8].square().sum().sqrt()
    column = [str(head) for head in found.layout].index("cross.1.1")
    assert found.mean[column] == pytest.approx((value * output).item())
    assert found.values.std(0).max() == 0


def test_weight_norm_of_the_planted_heads(planted, pairs):
    found = WeightNorm().scores(planted, pairs, torch.Generator())
    assert found.removal_order()[-2:] == [COPIER, CARRIER]
    assert sorted(found.mean.tolist())[:16] == [0] * 16


def test_weight_norm_of_what_is_left_of_a_cut_model(nano, pairs):
    gone = [head for head in nano.layout if head.site == "encoder" or head.head == 1]
    smaller = nano.without(gone)
    found = WeightNorm().scores(smaller, pairs, torch.Generator())
    whole = WeightNorm().scores(nano, pairs, torch.Generator())
    columns = [whole.layout.column_of(head) for head in found.layout]
    torch.testing.assert_close(found.mean, whole.mean[columns])


def test_random_is_one_draw_a_head_from_the_generator(nano, pairs):
    found = [Random().scores(nano, pairs, torch.Generator().manual_seed(s)) for s in (1, 1, 2)]
    assert torch.equal(found[0].values, found[1].values)
    assert not torch.equal(found[0].values, found[2].values)
    assert found[0].values.std(0).max() == 0
    assert len(set(found[0].mean.tolist())) == len(nano.layout)


@pytest.mark.parametrize("name", ["weight_norm", "random"])
def test_no_sentences_are_an_error_even_so(nano, name):
    with pytest.raises(DataError, match="at least one"):
        metric[name]().scores(nano, NONE, torch.Generator())
