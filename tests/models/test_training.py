"""Training: the schedule, what stops it, and that a kill or a second process changes nothing."""

import json
import math
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
import torch
from training_job import copying_corpus, recipe

from headcount.models.data.batching import collate
from headcount.models.data.token_store import TokenStore
from headcount.models.errors import CheckpointError, UsageError
from headcount.models.losses import token_cross_entropy
from headcount.models.network import Network
from headcount.models.training import from_corpus, loop
from headcount.models.training.averaging import average_of
from headcount.models.training.from_corpus import train_from_corpus
from headcount.models.training.loop import DivergedError
from headcount.models.training.objective import resolved_precision
from headcount.models.training.order import TrainingText, updates_of
from headcount.models.training.processes import Processes
from headcount.models.training.schedule import learning_rate
from headcount.models.training.settings import TrainingSettings

JOB = Path(__file__).parent / "training_job.py"
CPU = torch.device("cpu")
BASE = {
    "updates": 12,
    "batch_tokens": 64,
    "warmup": 4,
    "validate_every": 4,
    "validation_sentences": 0,
    "average": 2,
    "learning_rate": 0.01,
    "precision": "float32",
}


def _train(folder: Path, processes: Processes = Processes(), **changes):
    figures: list[dict] = []
    settings = recipe({**BASE, **changes})
    found = train_from_corpus(
        copying_corpus(),
        settings,
        folder,
        device=CPU,
        report=figures.append,
        processes=processes,
    )
    return *found, figures


def _job(folder: Path, *arguments: str, launcher: tuple[str, ...] = (), **changes):
    """Run the training program; return its exit code and the JSON lines that it printed."""
    command = [sys.executable, *launcher, str(JOB), str(folder)]
    done = subprocess.run(
        [*command, json.dumps({**BASE, **changes}), *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert lines, done.stderr
    return done.returncode, lines


def test_the_schedule_by_hand():
    settings = TrainingSettings(updates=1000, warmup=100, learning_rate=0.5)
    assert learning_rate(1, settings) == pytest.approx(0.005)
    assert learning_rate(100, settings) == pytest.approx(0.5)
    assert learning_rate(400, settings) == pytest.approx(0.25)


def test_the_cooldown_falls_to_zero_one_update_after_the_last():
    settings = TrainingSettings(
        updates=1000, warmup=10, learning_rate=1.0, schedule="constant", cooldown=0.1
    )
    assert learning_rate(901, settings) == pytest.approx(1.0)
    assert learning_rate(951, settings) == pytest.approx(0.5)
    assert learning_rate(1000, settings) == pytest.approx(0.01)


def test_the_loss_falls_and_the_history_is_whole(tmp_path: Path):
    _, progress, figures = _train(tmp_path, updates=60, validate_every=20)
    assert [record["update"] for record in progress.history] == [20, 40, 60, 60]
    assert progress.history[-1]["valid_nll"] < progress.history[0]["valid_nll"] - 0.5
    assert [it["update"] for it in figures] == list(range(1, 61))
    assert figures[0]["train_nll"] == pytest.approx(math.log(24), abs=1.0)


def test_a_validation_translates_with_the_weights_of_its_moment(tmp_path: Path, monkeypatch):
    measure, pairs = from_corpus.validation, []

    def also_of_a_copy(*arguments):
        validate = measure(*arguments)

        def asked(network: Network) -> dict[str, float]:
            found = validate(network)
            pairs.append((found["valid_bleu"], validate(deepcopy(network))["valid_bleu"]))
            return found

        return asked

    monkeypatch.setattr(from_corpus, "validation", also_of_a_copy)
    _train(tmp_path, updates=60, validate_every=20, validation_sentences=20)
    assert [kept for kept, _ in pairs] == [fresh for _, fresh in pairs]
    assert len({fresh for _, fresh in pairs}) > 1


def test_averaging_is_the_mean_of_the_last_checkpoints(tmp_path: Path, monkeypatch):
    _nll_is(monkeypatch, 4.0, 3.0, 2.0, 1.0)  # three validations, then the mean is the best
    translator, progress, _ = _train(tmp_path, updates=12)
    assert progress.checkpoints[-2:] == [8, 12]
    mean = average_of([tmp_path / "8.safetensors", tmp_path / "12.safetensors"])
    for name, weight in translator.network.named_parameters():
        assert torch.equal(weight, mean[name])


def test_old_checkpoints_are_forgotten(tmp_path: Path):
    _train(tmp_path, updates=16, validate_every=2)
    assert {int(path.stem) for path in tmp_path.glob("[0-9]*.safetensors")} <= {14, 16}


def test_the_best_checkpoint_wins_over_a_worse_mean(tmp_path: Path, monkeypatch):
    _nll_is(monkeypatch, 1.0, 2.0, 3.0, 4.0, 1.0)  # three validations, the mean, the best again
    translator, progress, _ = _train(tmp_path)
    assert progress.best_update == 4
    assert progress.history[-1]["averaged"] == 1
    best = average_of([tmp_path / "4.safetensors"])
    assert all(torch.equal(it, best[name]) for name, it in translator.network.named_parameters())


def test_patience_stops_early(tmp_path: Path, monkeypatch):
    _nll_is(monkeypatch, *[2.0] * 9)
    _, progress, _ = _train(tmp_path, updates=100, validate_every=2, patience=3)
    assert progress.update == 8


def test_the_clock_stops_training(tmp_path: Path):
    _, progress, _ = _train(tmp_path, updates=100_000, minutes=1e-5)
    assert progress.update < 100


def test_the_loss_of_an_update_is_a_mean_over_all_its_labels(tmp_path: Path):
    """Four micro-batches of different sizes: summed, not averaged one by one."""
    translator, _, figures = _train(tmp_path, updates=1, micro_batches=4, dropout=0.0)
    sizes = (len(translator.vocabularies["source"]), len(translator.vocabularies["target"]))
    settings = recipe({**BASE, "dropout": 0.0}).network
    untrained = Network(settings, settings.full_layout(), *sizes)
    untrained.initialise(torch.Generator().manual_seed(3))
    stores = [TokenStore.open(tmp_path / f"{side}.tokens") for side in ("source", "target")]
    text = TrainingText(*stores, *(store.lengths for store in stores))
    _, batches = next(updates_of(text, 64, 4, seed=3, start=0))
    assert len({len(indices) for indices in batches}) > 1
    batch = collate(text.source, text.target, [index for it in batches for index in it])
    logits = untrained.eval().project(untrained(batch))
    losses = token_cross_entropy(logits, batch.labels.ids, batch.labels.real)
    expected = losses.sum() / batch.labels.real.sum()
    assert figures[0]["train_nll"] == pytest.approx(expected.item(), rel=1e-5)


def test_micro_batches_that_cannot_be_shared_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="multiple of 2"):
        loop._Run(None, _plan(3), Processes(0, 2))


def _nll_is(monkeypatch, *values: float) -> None:
    """Let validations find these NLLs, one after the other."""
    left = iter(values)
    name = "headcount.models.training.from_corpus.mean_nll"
    monkeypatch.setattr(name, lambda *_, **__: next(left))


def _plan(micro_batches: int) -> loop.Plan:
    settings = TrainingSettings(micro_batches=micro_batches)
    return loop.Plan(settings, None, None, None, Path(), "", 0)


def test_a_loss_that_is_not_finite_stops_with_the_last_good_checkpoint(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(loop, "learning_rate", lambda update, _: 0.01 if update < 6 else 1e30)
    with pytest.raises(DivergedError) as error:
        _train(tmp_path, clip=0)
    assert "update 7" in str(error.value)
    assert "learning rate 1e+30" in str(error.value)
    assert str(tmp_path / "4.safetensors") in str(error.value)


def test_a_validation_that_is_not_finite_stops_and_keeps_nothing_of_it(tmp_path: Path, monkeypatch):
    _nll_is(monkeypatch, 4.0, math.nan)
    with pytest.raises(DivergedError) as error:
        _train(tmp_path)
    assert "update 8" in str(error.value)
    assert "learning rate" in str(error.value)
    assert str(tmp_path / "4.safetensors") in str(error.value)
    assert not (tmp_path / "8.safetensors").exists()


def test_a_mean_that_cannot_be_measured_does_not_win(tmp_path: Path, monkeypatch):
    _nll_is(monkeypatch, 4.0, 3.0, 2.0, math.nan, 2.0)  # validations, the mean, the best again
    _, progress, _ = _train(tmp_path)
    assert progress.history[-1]["averaged"] == 1
    assert progress.history[-1]["valid_nll"] == 2.0


def test_a_kill_before_the_state_is_written_leaves_the_checkpoints_it_names(
    tmp_path: Path, monkeypatch
):
    _nll_is(monkeypatch, 4.0, 3.0)
    save, killed = loop.save_state, []

    def kill_the_second_time(*arguments):
        if killed:
            raise KeyboardInterrupt
        killed.append(save(*arguments))

    monkeypatch.setattr(loop, "save_state", kill_the_second_time)
    with pytest.raises(KeyboardInterrupt):
        _train(tmp_path, average=1)
    assert (tmp_path / "4.safetensors").exists()


def test_a_state_of_other_settings_is_refused(tmp_path: Path):
    _train(tmp_path, updates=4)
    with pytest.raises(CheckpointError, match="other settings or data"):
        _train(tmp_path, updates=8)


def test_a_damaged_state_is_refused(tmp_path: Path):
    _train(tmp_path, updates=4)
    state = tmp_path / "state.safetensors"
    state.write_bytes(state.read_bytes()[:100])
    with pytest.raises(CheckpointError, match="not a whole safetensors file"):
        _train(tmp_path, updates=4)


@pytest.mark.parametrize("name", ["state", "4"])
def test_one_changed_byte_among_the_weights_is_noticed(tmp_path: Path, name: str):
    _train(tmp_path, updates=4)
    file = tmp_path / f"{name}.safetensors"
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    with pytest.raises(CheckpointError, match=f"{name}.safetensors.*changed"):
        _train(tmp_path, updates=4)


@pytest.mark.slow
def test_a_kill_changes_nothing(tmp_path: Path):
    """Killed after update 7 and resumed: bit for bit the run that was never killed."""
    options = {"merge_dropout": 0.3, "consistency": 1.0, "consistency_after": 1}
    _, whole = _job(tmp_path / "whole", **options)
    code, killed = _job(tmp_path / "killed", "7", **options)
    assert code == -9
    assert killed[-1]["update"] == 7
    code, resumed = _job(tmp_path / "killed", **options)
    assert code == 0
    assert resumed[0]["update"] == 5  # the state of the validation at 4
    assert resumed[-1]["done"] == whole[-1]["done"]
    state = (tmp_path / "whole" / "8.safetensors").read_bytes()
    assert (tmp_path / "killed" / "8.safetensors").read_bytes() == state


@pytest.mark.slow
def test_two_processes_make_the_updates_of_one(tmp_path: Path):
    agreeing = {"consistency": 1.0, "consistency_after": 1}
    options = {"micro_batches": 2, "dropout": 0.0, "merge_dropout": 0.3, **agreeing}
    _, alone = _job(tmp_path / "one", **options)
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone")
    code, shared = _job(tmp_path / "two", launcher=launcher, **options)
    assert code == 0
    assert len(shared) == len(alone) == 13
    for one, two in zip(alone[:-1], shared[:-1], strict=True):
        assert two["train_nll"] == pytest.approx(one["train_nll"], abs=1e-4)
    assert shared[-1]["valid_nll"] == pytest.approx(alone[-1]["valid_nll"], abs=1e-4)


def test_bfloat16_learns_the_same(tmp_path: Path):
    _, exact, _ = _train(tmp_path / "a", updates=40, validate_every=40)
    _, rough, _ = _train(tmp_path / "b", updates=40, validate_every=40, precision="bfloat16")
    difference = rough.history[-1]["valid_nll"] - exact.history[-1]["valid_nll"]
    assert abs(difference) < 0.1


def test_precision_is_taken_as_asked():
    assert resolved_precision("float32", CPU) == "float32"
    assert resolved_precision("auto", CPU) in ("float32", "bfloat16")
