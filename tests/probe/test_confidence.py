"""Confidence against attention worked out by hand."""

import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.models.data.parallel_text import ParallelText
from headcount.probe.confidence import Confidence, largest_weight

GENERATOR = torch.Generator()


def test_largest_weight_drops_queries_and_keys_and_does_not_renormalise():
    alpha = torch.tensor([[[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.5, 0.25, 0.25]]]])
    kept = torch.tensor([[False, True, True]])
    found = largest_weight(alpha, kept, kept)
    assert found.tolist() == [[[0.0, pytest.approx(0.6), 0.25]]]


def test_the_carrier_rests_on_its_own_position(planted, pairs):
    found = Confidence().scores(planted, pairs, GENERATOR)
    carrier = found.layout.column_of(CARRIER)
    for line, value in zip(pairs.source, found.values[:, carrier].tolist(), strict=True):
        # Of the m words of the target the last one is read where the source has its EOS.
        words = len(line.split())
        assert value == pytest.approx((words - 1) / words, abs=1e-4)
    words = sum(len(line.split()) for line in pairs.source)
    assert found.mean[carrier] == pytest.approx((words - len(pairs.source)) / words, abs=1e-4)
    assert found.ranks()[carrier] == 1


def test_with_special_tokens_every_query_of_the_carrier_is_sure(planted, pairs):
    found = Confidence(keep_special=True).scores(planted, pairs, GENERATOR)
    assert found.mean[found.layout.column_of(CARRIER)] == pytest.approx(1, abs=1e-4)


def test_the_copier_is_less_sure_than_the_carrier_and_surer_than_nothing(planted, pairs):
    found = Confidence().scores(planted, pairs, GENERATOR)
    assert 0.1 < found.mean[found.layout.column_of(COPIER)] < 0.6


def test_batches_do_not_change_the_values(nano, pairs):
    together = Confidence().scores(nano, pairs, GENERATOR)
    alone = Confidence(tokens=1).scores(nano, pairs, GENERATOR)
    torch.testing.assert_close(alone.values, together.values)
    torch.testing.assert_close(alone.weights, together.weights)


def test_a_sentence_without_an_ordinary_token_counts_nothing(nano):
    found = Confidence().scores(
        nano, ParallelText("odd", ["", "oak fir"], ["oak", "oak"]), GENERATOR
    )
    encoder = found.layout.slices[next(iter(found.layout.slices))]
    assert found.weights[0, encoder].tolist() == [0, 0, 0]
    assert found.weights[0, -1] == 1
    torch.testing.assert_close(found.mean[encoder], found.values[1, encoder])


def test_what_was_left_out_is_said():
    assert "leaves out BOS and EOS" in Confidence().remarks()[0]
    assert "counts BOS and EOS" in Confidence(keep_special=True).remarks()[0]
