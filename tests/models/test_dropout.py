"""Dropout: its rate, its mean, and that it is off when it should be."""

import pytest
import torch

from headcount.models.dropout import Dropout


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_share_and_mean(rate: float):
    torch.manual_seed(0)
    dropped = Dropout(rate).train()(torch.ones(400, 999))
    share = (dropped == 0).double().mean().item()
    exact = round(rate * 256) / 256
    assert share == pytest.approx(exact, abs=0.003)  # four standard deviations
    assert dropped.max().item() == pytest.approx(1 / (1 - exact))
    assert dropped.double().mean().item() == pytest.approx(1, abs=0.005)


def test_every_byte_of_a_draw_drops_alike():
    torch.manual_seed(0)
    dropped = Dropout(0.5).train()(torch.ones(100_000, 8)) == 0
    for share in dropped.double().mean(0):
        assert share.item() == pytest.approx(0.5, abs=0.008)


def test_it_is_off_in_evaluation_and_at_rate_zero():
    values = torch.ones(5, 3)
    assert Dropout(0.5).eval()(values) is values
    assert Dropout(0.0).train()(values) is values


def test_the_gradient_goes_where_the_value_went():
    torch.manual_seed(0)
    values = torch.ones(50, 7, requires_grad=True)
    dropped = Dropout(0.3).train()(values)
    dropped.sum().backward()
    assert torch.equal(values.grad, dropped.detach())
