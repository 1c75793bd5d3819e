"""Means, intervals, ranks and orders of hand-made scores."""

import numpy as np
import pytest
import torch

from headcount.models.errors import DataError, UsageError
from headcount.models.gates import Head, HeadLayout
from headcount.probe.importance import HeadScores, metric

LAYOUT = HeadLayout.from_dict({"encoder": [[0, 1]], "cross": [[0, 3]]})


def scores(values, weights, **more) -> HeadScores:
    as_tensor = [torch.tensor(part, dtype=torch.float64) for part in (values, weights)]
    return HeadScores(LAYOUT, *as_tensor, unit="nats", **more)


def test_mean_is_weighted_by_what_a_sentence_counts():
    found = scores([[1.0, 2, 3, 4], [5, 6, 7, 8]], [[1.0, 1, 3, 0], [3, 1, 1, 2]])
    assert found.mean.tolist() == [4.0, 4.0, 4.0, 8.0]


def test_mean_without_any_counting_sentence_is_refused():
    with pytest.raises(DataError, match="ordinary token"):
        _ = scores([[1.0, 2, 3, 4]], [[1.0, 1, 1, 0]]).mean


def test_normalised_has_length_one_in_every_attention_and_keeps_zeros():
    found = scores([[3.0, -4, 0, 0]], [[1.0] * 4])
    assert found.normalised.tolist() == pytest.approx([0.6, -0.8, 0, 0])


def test_ranks_put_the_largest_first_and_ties_in_layout_order():
    assert scores([[2.0, 5, 2, 9]], [[1.0] * 4]).ranks().tolist() == [3, 2, 4, 1]


def test_removal_order_starts_with_the_least_important():
    found = scores([[2.0, 5, 2, 9]], [[1.0] * 4])
    assert [str(head) for head in found.removal_order()] == [
        "cross.0.0",
        "encoder.0.0",
        "encoder.0.1",
        "cross.0.3",
    ]


def test_a_metric_where_low_means_important_is_turned_round():
    found = scores([[2.0, 5, 2, 9]], [[1.0] * 4], higher_is_important=False)
    assert found.removal_order()[0] == Head("cross", 0, 3)


def test_bootstrap_resamples_sentences_as_wholes():
    values = np.random.default_rng(0).normal(size=(40, 4))
    found = scores(values.tolist(), np.ones((40, 4)).tolist())
    drawn = found.resampled(np.random.default_rng(1), 4000).numpy()  # [resample, head]
    standard_error = values.std(0) / np.sqrt(40)
    np.testing.assert_allclose(drawn.mean(0), values.mean(0), atol=0.02)
    np.testing.assert_allclose(drawn.std(0), standard_error, rtol=0.08)


def test_the_family_offers_its_members_with_one_line_of_help():
    assert {"confidence", "gradient", "leave_one_out"} <= set(metric)
    assert all(metric.summary(name).endswith(".") for name in metric)


def test_an_unknown_option_of_a_metric_is_an_error():
    with pytest.raises(UsageError, match="did you mean 'absolute'"):
        metric["gradient"].from_dict({"absolut": "token"})
