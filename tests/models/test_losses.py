"""Cross-entropy against torch's."""

import pytest
import torch
from torch.nn import functional as F

from headcount.models import losses
from headcount.models.losses import projected_cross_entropy, token_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_projected_loss_and_gradients_equal_torch(smoothing: float, monkeypatch):
    monkeypatch.setattr(losses, "CHUNK", 4)  # three chunks, the last one short
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(10, 6, generator=generator, dtype=torch.double, requires_grad=True)
    table = torch.randn(7, 6, generator=generator, dtype=torch.double, requires_grad=True)
    labels = torch.randint(7, (10,), generator=generator)
    real = torch.arange(10) % 4 != 1
    smoothed, plain = projected_cross_entropy(states, table, labels, real, smoothing)
    ours = torch.autograd.grad(smoothed * 0.3, (states, table))
    logits, labels = (states @ table.T)[real], labels[real]
    expected = F.cross_entropy(logits, labels, label_smoothing=smoothing, reduction="sum")
    theirs = torch.autograd.grad(expected * 0.3, (states, table))
    torch.testing.assert_close(smoothed, expected)
    torch.testing.assert_close(plain, F.cross_entropy(logits, labels, reduction="sum"))
    torch.testing.assert_close(ours, theirs)


def test_token_losses_by_hand():
    logits = torch.tensor([[[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]]])
    labels = torch.tensor([[0, 1, 0]])
    real = torch.tensor([[True, True, False]])
    expected = torch.tensor([[2.0, 1 + torch.e, 1.0]]).log()
    torch.testing.assert_close(token_cross_entropy(logits, labels, real), expected)
