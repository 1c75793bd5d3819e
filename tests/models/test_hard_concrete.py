"""Hard-concrete gates against closed forms, sampling and numerical integration."""

import math

import pytest
import torch
from tiny import tiny_batch, tiny_network

from headcount.models.pruning.controller import Controller, FixedPrice
from headcount.models.pruning.hard_concrete import HardConcrete, HardConcreteGates

# beta, a, P(0) = sigmoid(-a - beta log 11), P(1) = sigmoid(a - beta log 11), E[g].
TABLE = [
    (0.33, 0.0, 0.3119, 0.3119, 0.5000),
    (0.33, 1.5, 0.0918, 0.6701, 0.8107),
    (0.33, -2.398, 0.8330, 0.0396, 0.0881),
    (2 / 3, 0.0, 0.1682, 0.1682, 0.5),
    (2 / 3, 1.5, 0.0432, 0.4754, 0.7912),
]


@pytest.mark.parametrize(("beta", "a", "closed", "whole", "mean"), TABLE)
def test_closed_forms(beta, a, closed, whole, mean):
    shape, location = HardConcrete(beta=beta), torch.tensor(a, dtype=torch.float64)
    assert 1 - shape.open(location).item() == pytest.approx(closed, abs=6e-5)
    assert shape.whole(location).item() == pytest.approx(whole, abs=6e-5)
    assert shape.mean(location).item() == pytest.approx(mean, abs=6e-5)


@pytest.mark.parametrize(("beta", "a", "closed", "whole", "mean"), TABLE)
def test_draws_have_the_closed_forms(beta, a, closed, whole, mean):
    draws = 400_000
    uniform = torch.rand(draws, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    gates = HardConcrete(beta=beta).gate(torch.full((draws,), a, dtype=torch.float64), uniform)
    bound = 4 * 0.5 / math.sqrt(draws)  # four standard errors of a share
    assert (gates == 0).double().mean().item() == pytest.approx(closed, abs=bound)
    assert (gates == 1).double().mean().item() == pytest.approx(whole, abs=bound)
    assert gates.mean().item() == pytest.approx(mean, abs=bound)


def test_gates_are_not_rescaled():
    uniform = torch.linspace(0, 1, 1001)
    gates = HardConcrete().gate(torch.zeros(1001), uniform)
    assert (gates.min().item(), gates.max().item()) == (0, 1)


def test_gradients_are_finite_at_the_ends_of_the_draw():
    a = torch.tensor([3.0, -9.0, 0.0, 40.0], requires_grad=True)
    uniform = torch.tensor([0.0, 1.0, 0.5, 1e-30])
    HardConcrete().gate(a, uniform).sum().backward()
    assert torch.isfinite(a.grad).all()
    assert a.grad[2].item() == pytest.approx(1.2 * 0.25 / 0.33)  # the slope of s at u = 1/2


def test_the_gradient_of_the_price_by_hand():
    network = tiny_network()
    heads = network.layout.heads[:4]
    gates = HardConcreteGates(network.layout, heads, FixedPrice(2.0), initial=2.5)
    gates.price(network).backward()
    share = torch.sigmoid(torch.tensor(2.5 + 0.33 * math.log(11)))
    assert gates.price(network).item() == pytest.approx(2 * share.item())
    assert gates.a.grad.tolist() == pytest.approx([(2 / 4 * share * (1 - share)).item()] * 4)


def test_one_draw_serves_the_batch_and_heads_that_may_not_go_stay_open():
    network = tiny_network()
    heads = network.layout.heads[3:7]
    gates = HardConcreteGates(network.layout, heads, FixedPrice(1.0), initial=0.0)
    torch.manual_seed(2)
    drawn = gates.gates()
    assert drawn.shape == (1, len(network.layout))
    outside = [column for column in range(len(network.layout)) if column not in range(3, 7)]
    assert (drawn[0, outside] == 1).all()
    assert (drawn[0, 3:7] != 1).any()


def test_the_fused_path_carries_the_gates_gradient():
    """The gradient of a by autograd is dL/dg by central difference times dg/da."""
    network, batch = tiny_network(), tiny_batch()
    layout = network.layout
    gates = HardConcreteGates(layout, layout.heads, FixedPrice(0.0), initial=0.0).double()
    uniform = torch.full((len(layout),), 0.55, dtype=torch.float64)
    drawn = gates.shape.gate(gates.a, uniform)

    def loss(row):
        states = network(batch, row)
        return states.square().sum()

    loss(gates.among_all(drawn)).backward()
    slope = torch.autograd.grad(gates.shape.gate(gates.a, uniform).sum(), gates.a)[0]
    step = 1e-6
    for column in (0, 5, 17, len(layout) - 1):
        moved = torch.zeros(1, len(layout), dtype=torch.float64)
        moved[0, column] = step
        open_row = drawn.detach()[None]
        with torch.no_grad():
            difference = (loss(open_row + moved) - loss(open_row - moved)) / (2 * step)
        expected = (difference * slope[column]).item()
        assert gates.a.grad[column].item() == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_the_weakest_head_goes_first_and_of_equals_the_last():
    network = tiny_network()
    heads = network.layout.heads[:4]
    gates = HardConcreteGates(network.layout, heads, FixedPrice(1.0))
    with torch.no_grad():
        gates.a.copy_(torch.tensor([1.0, -2.0, 1.0, 3.0]))
    assert gates.order(network) == (heads[1], heads[2], heads[0], heads[3])
    row = gates.binarised(network, 1)[0]
    assert row[:4].tolist() == [0, 0, 0, 1]
    assert (row[4:] == 1).all()
    assert gates.undecided(network) == 0.75  # only a = 3 is open with more than 0.95


def test_a_fixed_price_stays():
    price = FixedPrice(0.25)
    price.see(10, 0.9)
    assert float(price.price) == 0.25


def test_the_target_falls_in_a_straight_line():
    controller = Controller(0.25, ramp=100)
    assert [controller.target_at(update) for update in (0, 50, 100, 500)] == [1, 0.625, 0.25, 0.25]


def test_the_controller_reaches_the_number_and_keeps_the_heads_that_help():
    """Sixteen gates, of which each is worth half as much again as the one before it."""
    network = tiny_network()
    heads = network.layout.heads[:16]
    worth = 0.002 * 1.5 ** torch.arange(16)
    controller = Controller(5 / 16, ramp=150)
    gates = HardConcreteGates(network.layout, heads, controller, learning_rate=0.05)
    torch.manual_seed(0)
    optimiser = torch.optim.Adam([gates.a], lr=gates.learning_rate, betas=(0.9, 0.98))
    for update in range(1, 401):
        loss = -(gates.gates()[0, :16] * worth).sum() + gates.price(network)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        gates.after_update(update, network)
    assert gates.history[-1]["open"] == pytest.approx(5, abs=1)
    assert set(gates.order(network)[-5:]) == set(heads[11:])
    assert gates.history[-1]["price"] > 0
