"""Two readings that should agree: loss and gradients against torch's own."""

import pytest
import torch
from tiny import SHAPE, tiny_batch, tiny_network
from torch.nn import functional as F

from headcount.models.data.vocabulary import VocabularySettings
from headcount.models.errors import UsageError
from headcount.models.network import NetworkSettings
from headcount.models.training import consistency
from headcount.models.training.companion import Companion
from headcount.models.training.consistency import consistent_cross_entropy, read_twice
from headcount.models.training.from_corpus import Recipe
from headcount.models.training.objective import ConsistentObjective, Objective
from headcount.models.training.settings import TrainingSettings


@pytest.mark.parametrize(("smoothing", "weight"), [(0.0, 0.0), (0.1, 2.5)])
def test_loss_and_gradients_equal_torch(smoothing: float, weight: float, monkeypatch):
    monkeypatch.setattr(consistency, "CHUNK", 4)  # two chunks, the last one short
    generator = torch.Generator().manual_seed(0)
    states = torch.randn(2, 10, 6, generator=generator, dtype=torch.double, requires_grad=True)
    table = torch.randn(7, 6, generator=generator, dtype=torch.double, requires_grad=True)
    labels = torch.randint(7, (10,), generator=generator)
    real = torch.arange(10) % 4 != 1
    total, plain = consistent_cross_entropy(states, table, labels, real, smoothing, weight)
    ours = torch.autograd.grad(total * 0.3, (states, table))
    p, q = (states @ table.T)[:, real].log_softmax(-1)
    apart = sum(F.kl_div(*pair, reduction="sum", log_target=True) for pair in ((p, q), (q, p))) / 2
    own = {"target": labels[real], "reduction": "sum"}
    smoothed = sum(F.cross_entropy(it, **own, label_smoothing=smoothing) for it in (p, q)) / 2
    expected = smoothed + weight * apart
    torch.testing.assert_close(total, expected)
    torch.testing.assert_close(plain, sum(F.cross_entropy(it, **own) for it in (p, q)) / 2)
    theirs = torch.autograd.grad(expected * 0.3, (states, table))
    torch.testing.assert_close(ours, theirs)


def test_a_batch_is_read_twice_sentence_by_sentence():
    batch = tiny_batch()
    twice = read_twice(batch)
    for side in ("source", "target", "labels"):
        halves = getattr(twice, side).ids.unflatten(0, (2, -1))
        assert torch.equal(halves[0], getattr(batch, side).ids)
        assert torch.equal(halves[1], halves[0])
    assert len(twice) == 2 * len(batch)


def test_without_dropout_there_is_nothing_to_agree_on():
    network, batch = tiny_network(), tiny_batch()
    parts = (network, 0.1, "float32", Companion())
    once = Objective(*parts)(batch)
    twice = ConsistentObjective(*parts, 2.5)(batch)
    torch.testing.assert_close(twice, once)


def test_dropout_makes_disagreement_that_is_paid_for():
    network, batch = tiny_network(SHAPE.with_changes(dropout=0.5)).train(), tiny_batch()
    parts = (network, 0.0, "float32", Companion())
    losses = []
    for weight in (0.0, 1.0, 3.0):
        torch.manual_seed(3)
        total, plain = ConsistentObjective(*parts, weight)(batch)
        losses.append((total - plain).item())
    assert losses[0] == pytest.approx(0, abs=1e-4)
    assert losses[1] > 0.01
    assert losses[2] == pytest.approx(3 * losses[1], rel=1e-4)


def test_the_first_epochs_are_read_once():
    network, batch = tiny_network(SHAPE.with_changes(dropout=0.5)).train(), tiny_batch()
    parts = (network, 0.1, "float32", Companion())
    objective = ConsistentObjective(*parts, 2.5, after=3)
    losses = {}
    for epoch in (0, 2, 3):
        objective.epoch = epoch
        torch.manual_seed(3)
        losses[epoch] = [it.item() for it in objective(batch)]
    torch.manual_seed(3)
    once = [it.item() for it in Objective(*parts)(batch)]
    torch.manual_seed(3)
    twice = [it.item() for it in ConsistentObjective(*parts, 2.5)(batch)]
    assert losses == {0: once, 2: once, 3: twice}
    assert once[0] != twice[0]


def test_it_needs_dropout():
    network, training = NetworkSettings(dropout=0), TrainingSettings(consistency=2.5)
    recipe = Recipe(VocabularySettings(kind="word"), network, training, seed=0)
    with pytest.raises(UsageError, match=r"network\.dropout is 0"):
        recipe.check()
