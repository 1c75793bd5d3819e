"""Leave-one-out against models from which the head is cut."""

import numpy as np
import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.models.gates import Head
from headcount.probe.leave_one_out import LeaveOneOut
from headcount.probe.random_order import random_orders

GENERATOR = torch.Generator()


@torch.no_grad()
def corpus_nll(translator, pairs) -> float:
    total = tokens = 0.0
    for batch in translator.batches(pairs.source, pairs.target):
        total += float(translator.token_losses(batch).sum())
        tokens += int(batch.labels.real.sum())
    return total / tokens


def test_every_head_costs_what_the_physically_smaller_model_loses(nano, pairs):
    found = LeaveOneOut().scores(nano, pairs, GENERATOR)
    whole = corpus_nll(nano, pairs)
    for column, head in enumerate(nano.layout):
        cost = corpus_nll(nano.without([head]), pairs) - whole
        assert found.mean[column] == pytest.approx(cost, abs=1e-9)


def test_values_are_by_sentence_and_in_corpus_order(nano, pairs):
    found = LeaveOneOut(tokens=20).scores(nano, pairs, GENERATOR)
    cut = nano.without([Head("cross", 1, 2)])
    one = pairs.select([7])
    cost = corpus_nll(cut, one) - corpus_nll(nano, one)
    assert found.values[7, found.layout.column_of(Head("cross", 1, 2))] == pytest.approx(cost)
    assert found.weights[7].tolist() == [9.0] * len(found.layout)  # eight words and EOS


def test_the_carrier_comes_first_and_idle_heads_cost_exactly_nothing(planted, pairs):
    found = LeaveOneOut().scores(planted, pairs, GENERATOR)
    assert found.removal_order()[-1] == CARRIER
    assert found.mean[found.layout.column_of(CARRIER)] > 1
    # The copier says the previous word, which is wrong: the loss is lower without it.
    assert found.mean[found.layout.column_of(COPIER)] < 0
    idle = [column for column, head in enumerate(found.layout) if head not in (CARRIER, COPIER)]
    assert found.values[:, idle].count_nonzero() == 0


def test_a_model_that_lost_heads_is_scored_by_the_original_names(planted, pairs):
    smaller = planted.without([Head("cross", 0, 1), Head("encoder", 0, 0)])
    found = LeaveOneOut().scores(smaller, pairs, GENERATOR)
    assert found.removal_order()[-1] == CARRIER
    assert len(found.layout) == 16


def test_random_orders_are_permutations_that_repeat_with_the_seed(nano):
    orders = random_orders(nano.layout, 10, np.random.default_rng(4))
    assert all(sorted(order) == sorted(nano.layout) for order in orders)
    assert len({tuple(order) for order in orders}) == 10
    assert orders == random_orders(nano.layout, 10, np.random.default_rng(4))
