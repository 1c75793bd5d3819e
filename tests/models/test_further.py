"""Training a trained model on: with gates, with a teacher, with a side frozen, and resumed."""

import pytest
import torch
from made_translators import copies, planted, vocabulary
from tiny import tiny_batch, tiny_network

from headcount.models.checkpoints import fingerprint_of
from headcount.models.errors import UsageError
from headcount.models.gates import Head
from headcount.models.pruning.controller import Controller, FixedPrice
from headcount.models.pruning.hard_concrete import HardConcreteGates
from headcount.models.training import objective
from headcount.models.training.companion import Companion
from headcount.models.training.consistency import read_twice
from headcount.models.training.distillation import distilled_cross_entropy
from headcount.models.training.from_corpus import encoded, mean_nll
from headcount.models.training.further import Further, train_further
from headcount.models.training.objective import DistilledObjective, Objective
from headcount.models.training.settings import TrainingSettings

__all__ = ["planted", "vocabulary"]
TEXT = copies("train", 5, 64)
SETTINGS = TrainingSettings(
    updates=8,
    batch_tokens=64,
    warmup=2,
    validate_every=4,
    validation_sentences=0,
    average=1,
    learning_rate=0.003,
    precision="float32",
)


def further(translator, folder, **changes) -> Further:
    both = (translator.vocabularies["source"], translator.vocabularies["target"])
    values = {"settings": SETTINGS, "text": encoded(TEXT, both, folder), "valid": TEXT.head(16)}
    return Further(**{**values, "folder": folder, "seed": 1, "inputs": "text", **changes})


def test_the_model_that_is_given_stays_and_the_copy_learns(planted, tmp_path):
    before = planted.fingerprint
    trained, progress = train_further(planted, further(planted, tmp_path))
    assert planted.fingerprint == before != trained.fingerprint
    assert progress.update == 8
    assert not any(weight.requires_grad for weight in trained.network.parameters())


def test_a_cut_model_can_be_trained_on_and_cut_again(planted, tmp_path):
    gone = [head for head in planted.layout if head.site == "encoder"]
    smaller = planted.without(gone)
    trained, _ = train_further(smaller, further(smaller, tmp_path))
    assert trained.layout == smaller.layout
    assert len(trained.without([Head("cross", 0, 0)]).layout) == len(planted.layout) - len(gone) - 1


@pytest.mark.parametrize("after", [0, 1, 100])
def test_epochs_that_are_read_once_are_those_of_the_fine_tuning(
    planted, tmp_path, monkeypatch, after
):
    epochs, twice = [], []
    monkeypatch.setattr(objective, "read_twice", lambda it: twice.append(it) or read_twice(it))
    settings = SETTINGS.with_changes(updates=12, consistency=1.0, consistency_after=after)
    report = {"report": lambda figures: epochs.append(figures["epoch"])}
    train_further(planted, further(planted, tmp_path, settings=settings, **report))
    assert (epochs[0], epochs[-1]) == (0, 1)  # whatever the model has behind it
    assert len(twice) == sum(epoch >= after for epoch in epochs)


def test_a_frozen_side_stays(planted, tmp_path):
    trained, _ = train_further(planted, further(planted, tmp_path, frozen=("decoder",)))
    changed = {
        name.partition(".")[0]
        for (name, new), old in zip(
            trained.network.named_parameters(), planted.network.parameters(), strict=True
        )
        if not torch.equal(new, old)
    }
    # The one table of embeddings is the decoder's too.
    assert changed == {"encoder", "encoder_norm", "source_positions"}


def test_only_own_models_can_be_trained_on(tmp_path, planted):
    with pytest.raises(UsageError, match="only models that headcount trained"):
        train_further(object(), further(planted, tmp_path))


def gates(planted, price: float = 3.0) -> HardConcreteGates:
    return HardConcreteGates(planted.layout, planted.layout.heads, FixedPrice(price))


def test_gates_are_trained_at_their_own_rate_and_kept_with_the_last_weights(planted, tmp_path):
    companion = gates(planted)
    options = {"companion": companion, "keep_last": True}
    trained, progress = train_further(planted, further(planted, tmp_path, **options))
    # Adam's first steps are as long as the rate, whatever the gradient.
    assert companion.a.max() < 3.0
    assert companion.a.min() > 3.0 - 8 * 1.1 * companion.learning_rate
    assert [record["update"] for record in companion.history] == list(range(1, 9))
    assert progress.history == []  # nobody asks which weights are best
    assert companion.binarised(trained.network, 5).sum() == 5


def test_an_interrupted_training_with_gates_goes_on_as_if_nothing_had_happened(planted, tmp_path):
    def stopped(figures):
        if figures["update"] == 6:
            raise KeyboardInterrupt

    def controlled() -> HardConcreteGates:
        controller = Controller(0.3, ramp=4)
        return HardConcreteGates(planted.layout, planted.layout.heads, controller)

    ends = []
    for folder, stop in ((tmp_path / "whole", None), (tmp_path / "stopped", stopped)):
        companion = controlled()
        options = {"companion": companion, "keep_last": True}
        if stop:
            with pytest.raises(KeyboardInterrupt):
                train_further(planted, further(planted, folder, report=stop, **options))
            companion = controlled()
            options["companion"] = companion
        trained, _ = train_further(planted, further(planted, folder, **options))
        ends.append((fingerprint_of(trained.network), companion.a.tolist(), companion.history))
    assert ends[0] == ends[1]


def test_the_price_is_paid_a_token():
    network, batch = tiny_network(), tiny_batch()
    companion = HardConcreteGates(network.layout, network.layout.heads[:3], FixedPrice(0.5))
    torch.manual_seed(0)
    priced, plain = Objective(network, 0.0, "float32", companion.double())(batch)
    labels = batch.labels.real.sum()
    assert ((priced - plain) / labels).item() == pytest.approx(companion.price(network).item())


def test_the_loss_against_a_teacher_by_hand():
    states = torch.tensor([[1.0, 0.0], [0.0, 2.0], [9.0, 9.0]], dtype=torch.float64)
    theirs = torch.tensor([[0.5], [-1.0], [7.0]], dtype=torch.float64)
    table = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 1.0]], dtype=torch.float64)
    teacher_table = torch.tensor([[1.0], [2.0], [-1.0]], dtype=torch.float64)
    real = torch.tensor([True, True, False])
    expected = 0.0
    for row in (0, 1):
        target = torch.softmax(teacher_table @ theirs[row], 0)
        expected -= (target * torch.log_softmax(table @ states[row], 0)).sum().item()
    found = distilled_cross_entropy(states, theirs, table, teacher_table, real)
    assert found.item() == pytest.approx(expected)


def test_a_student_that_is_its_teacher_has_nothing_to_learn_from_it():
    network, batch = tiny_network(), tiny_batch()
    states = network(batch).flatten(0, 1).detach().requires_grad_()
    table = network.output_table.detach()
    real = batch.labels.real.flatten()
    distilled_cross_entropy(states, states.detach(), table, table, real).backward()
    assert states.grad.abs().max() < 1e-12


def test_half_of_the_loss_is_the_teachers():
    network, batch = tiny_network(), tiny_batch()
    network.double()
    objective = DistilledObjective(network, 0.1, "float32", Companion(), network)
    smoothed, plain = objective(batch)
    smoothed_alone, plain_alone = Objective(network, 0.1, "float32", Companion())(batch)
    states = network(batch).flatten(0, 1)
    real = batch.labels.real.flatten()
    tables = (network.output_table,) * 2
    taught = distilled_cross_entropy(states, states, *tables, real)
    assert smoothed.item() == pytest.approx(((smoothed_alone + taught) / 2).item(), rel=1e-5)
    assert plain.item() == pytest.approx(plain_alone.item())
    assert not any("teacher" in name for name, _ in objective.named_parameters())


def test_the_nll_under_gates_is_that_of_the_cut_model(planted):
    gone = [head for head in planted.layout if head.site == "decoder"]
    masked = mean_nll(planted, TEXT, planted.layout.closing(gone))
    assert masked == pytest.approx(mean_nll(planted.without(gone), TEXT), abs=1e-5)
    assert masked != pytest.approx(mean_nll(planted, TEXT), abs=1e-3)
