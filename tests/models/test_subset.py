"""Differentiable subset pruning: exactly k heads, sampled and learnt as the theory says."""

import math
from itertools import permutations

import pytest
import torch
from tiny import tiny_batch, tiny_network

from headcount.models.pruning.subset import SubsetGates, hard_top_k, soft_top_k


def subset(heads=2, updates=100, **options) -> SubsetGates:
    layout = tiny_network().layout
    times = {"updates": updates, "ramp": updates // 2, "settle": updates // 5}
    return SubsetGates(layout, layout.heads[:5], heads, **times, **options)


@pytest.mark.parametrize("temperature", [1.0, 0.3, 0.01])
@pytest.mark.parametrize("heads", [0, 1, 3, 5])
def test_the_soft_mask_sums_to_the_number_of_heads(heads, temperature):
    scores = torch.tensor([0.3, -1.0, 2.0, 0.0, 0.5])
    mask = soft_top_k(scores, heads, temperature)
    assert mask.sum().item() == pytest.approx(heads, abs=1e-4)
    assert (mask >= 0).all()


def test_the_soft_mask_of_two_heads_by_hand():
    """Of weights 1 : 2 : 5 at tau = 1: first (1, 2, 5)/8, then exp(r)(1 - m) normalised."""
    mask = soft_top_k(torch.tensor([1.0, 2.0, 5.0]).log(), 2, 1.0)
    first = torch.tensor([1 / 8, 2 / 8, 5 / 8])
    second = torch.tensor([1.0, 2.0, 5.0]) * (1 - first)
    assert mask.tolist() == pytest.approx((first + second / second.sum()).tolist(), abs=1e-6)


def test_the_soft_mask_becomes_the_hard_one():
    scores = torch.tensor([0.3, -1.0, 2.0, 0.0, 0.5])
    assert soft_top_k(scores, 2, 0.01).tolist() == pytest.approx([0, 0, 1, 0, 1], abs=1e-4)
    assert hard_top_k(scores, 2).tolist() == [0, 0, 1, 0, 1]


def test_no_head_is_taken_twice_however_far_its_score_is_above_the_others():
    mask = soft_top_k(torch.tensor([40.0, 22.0, 1.0, 0.0]), 3, 0.1)
    assert mask.tolist() == pytest.approx([1, 1, 1, 0], abs=1e-4)


def test_sets_are_drawn_without_replacement_in_proportion_to_their_weights():
    gates = subset(heads=2)
    weights = torch.tensor([1.0, 2.0, 3.0, 5.0, 9.0])
    with torch.no_grad():
        gates.scores.copy_(weights.log())
    gates.ramp = 1
    gates.heads_at = lambda update: 2  # full noise, two heads
    torch.manual_seed(1)
    draws = torch.stack([gates.gates()[0, :5] for _ in range(2000)]).detach()
    assert (draws.sum(1) - 2).abs().max() < 1e-4
    share = weights / weights.sum()
    expected = [0.0] * 5
    for one, other in permutations(range(5), 2):
        pair = share[one] * share[other] / (1 - share[one])
        expected[one] += pair.item()
        expected[other] += pair.item()
    bound = 4 * 0.5 / math.sqrt(2000)
    assert draws.mean(0).tolist() == pytest.approx(expected, abs=bound)


def test_the_forward_is_hard_and_the_backward_is_soft():
    gates = subset(heads=2)
    gates.made.fill_(100)  # no noise, two heads, low temperature
    with torch.no_grad():
        gates.scores.copy_(torch.tensor([0.0, 0.9, 0.55, -0.1, 0.6]))
    drawn = gates.gates()
    assert drawn[0, :5].tolist() == pytest.approx([0, 1, 0, 0, 1], abs=1e-6)
    drawn[0, 2].backward()  # a closed head that is near to being taken
    assert gates.scores.grad[2] > 0 > gates.scores.grad[4]


def test_the_annealing_by_hand():
    gates = subset(heads=1, updates=100)  # the ramp is 50 updates, the last 20 are quiet
    assert [gates.heads_at(update) for update in (0, 25, 50, 100)] == [5, 3, 1, 1]
    assert gates.temperature_at(40) == pytest.approx(math.sqrt(0.1))
    assert gates.temperature_at(90) == pytest.approx(0.1)
    assert [gates.noise_at(update) for update in (0, 40, 80, 95)] == [1, 0.5, 0, 0]


def test_gradients_reach_the_scores_through_the_fused_path():
    network, batch = tiny_network(), tiny_batch()
    gates = subset(heads=2).double()
    gates.made.fill_(40)
    torch.manual_seed(3)
    network(batch, gates.gates()).square().sum().backward()
    assert torch.isfinite(gates.scores.grad).all()
    assert (gates.scores.grad != 0).any()


def test_exactly_the_wanted_number_is_open_at_the_end_and_it_is_the_best():
    network = tiny_network()
    gates = subset(heads=2, updates=150)
    worth = torch.tensor([0.1, 0.9, 0.2, 0.3, 0.8])
    torch.manual_seed(0)
    optimiser = torch.optim.Adam([gates.scores], lr=gates.learning_rate)
    for update in range(1, 151):
        (-(gates.gates()[0, :5] * worth).sum()).backward()
        optimiser.step()
        optimiser.zero_grad()
        gates.after_update(update, network)
    assert gates.binarised(network, 2)[0, :5].tolist() == [0, 1, 0, 0, 1]
    assert gates.gates()[0, :5].tolist() == pytest.approx([0, 1, 0, 0, 1], abs=1e-5)
    assert gates.undecided(network) == 0
    assert gates.history[-1]["open"] == pytest.approx(2, abs=0.05)
