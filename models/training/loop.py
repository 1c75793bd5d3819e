"""The training loop: update, validate, keep, stop.

One update is one global batch: the gradients of its micro-batches are summed, wherever they
were computed, and divided by its number of labels, so the loss is a mean over tokens and not
over batches or processes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import torch
from torch import nn
from torch.autograd.graph import increment_version
from torch.nn.parallel import DistributedDataParallel

from ..batch import Batch
from ..checkpoints import fill_network, save_weights, unique_weights
from ..errors import HeadcountError, UsageError
from ..network import Network
from .averaging import average_of
from .companion import Companion
from .objective import (
    ConsistentObjective,
    DistilledObjective,
    Objective,
    compiled,
    resolved_precision,
)
from .order import TextByEpoch, collated, on_device, updates_of
from .processes import Processes
from .schedule import learning_rate
from .settings import TrainingSettings
from .state import Progress, checkpoint_path, load_state, save_state

Validate = Callable[[Network], dict[str, float]]
Report = Callable[[dict[str, float]], None]


class DivergedError(HeadcountError):
    """The loss became infinite or not a number."""


@dataclass(frozen=True)
class Plan:
    """Everything a training run needs but the network.

    Args:
        text: what is learnt from.
        validate: takes the network, returns at least `valid_nll` (nats a token).
        report: called after every update with its figures.
        folder: where the state and the checkpoints are kept.
        inputs: a hash of settings and data, to refuse a state that was made from others.
        seed: orders the sentences and draws the dropout masks.
        companion: what is trained along with the network, such as gates.
        teacher: a network of the same vocabulary to learn from besides the labels.
        keep_last: leave the network as the last update left it, whatever its NLL: what a
            companion has chosen belongs to these weights and to no others. Then nothing is
            measured on the way, only the state is kept.
    """

    settings: TrainingSettings
    text: TextByEpoch
    validate: Validate
    report: Report
    folder: Path
    inputs: str
    seed: int
    companion: Companion = field(default_factory=Companion)
    teacher: Network | None = None
    keep_last: bool = False


def train(network: Network, plan: Plan, processes: Processes = Processes()) -> Progress:
    """Train `network` in place, going on from a saved state where there is one.

    At the end the network holds the mean of the last checkpoints, or the best checkpoint
    where the mean does worse on the validation text (but see `Plan.keep_last`).

    Raises:
        DivergedError: the loss is not finite; the last good checkpoint is named.
        UsageError: the micro-batches cannot be shared evenly by the processes.
        CheckpointError: a saved state is damaged or was made from other inputs.
    """
    return _Run(network, plan, processes).until_done()


class _Run:
    """One training run while it goes on."""

    def __init__(self, network: Network, plan: Plan, processes: Processes) -> None:
        settings = plan.settings
        if settings.micro_batches % processes.world:
            raise UsageError(
                f"{settings.micro_batches} micro-batches cannot be shared by {processes.world} "
                f"processes: set micro_batches to a multiple of {processes.world}"
            )
        self.network, self.plan, self.processes = network, plan, processes
        self.settings = settings
        self.device = network.output_table.device
        self.companion = plan.companion.to(self.device)
        self.weights = [weight for weight in network.parameters() if weight.requires_grad]
        self.optimiser = _optimiser(network, self.companion, settings)
        torch.manual_seed(plan.seed * 1009 + processes.rank)
        found = load_state(plan.folder, network, self.companion, self.optimiser, plan.inputs)
        self.progress = found or Progress()
        if processes.rank:  # the saved random state is the first process's
            torch.manual_seed(plan.seed * 1009 + processes.rank + self.progress.update)
        self.objective = self._objective()
        self.started = time.monotonic() - self.progress.seconds
        self.ready = time.monotonic()  # for the next update, whose text may have to be waited for

    def _objective(self) -> nn.Module:
        settings = self.settings
        precision = resolved_precision(settings.precision, self.device)
        network = compiled(self.network) if settings.compile else self.network
        parts = (network, settings.smoothing, precision, self.companion)
        teacher = self.plan.teacher
        if teacher:
            objective: Objective = DistilledObjective(*parts, teacher)
        elif settings.consistency:
            objective = ConsistentObjective(
                *parts, settings.consistency, settings.consistency_after
            )
        else:
            objective = Objective(*parts)
        if self.processes.world == 1:
            return objective
        # Buffers are constants: to send them before every batch would be in vain.
        return DistributedDataParallel(objective, broadcast_buffers=False)

    def until_done(self) -> Progress:
        """Go round until a limit is reached, then leave the best weights in the network."""
        for epoch, batches in self._updates():
            if self._finished():
                break
            self.network.train()
            self._update(epoch, batches)
            if self.progress.update % self.settings.validate_every == 0:
                self._pause()
            self.ready = time.monotonic()
        if self.plan.keep_last:
            self.network.eval()
            return self.progress
        if not self.progress.history or self._updates_since_validation():
            self._pause()
        self._keep_best()
        return self.progress

    def _updates(self) -> Iterator[tuple[int, list[Batch]]]:
        settings, plan, processes = self.settings, self.plan, self.processes
        start = self.progress.update
        shares = (settings.batch_tokens, settings.micro_batches, plan.seed, start)
        indices = updates_of(plan.text, *shares)
        own = collated(plan.text, indices, processes.rank, processes.world)
        return on_device(own, self.device)

    def _finished(self) -> bool:
        settings, progress = self.settings, self.progress
        late = 0 < settings.minutes * 60 <= time.monotonic() - self.started
        patient = settings.patience == 0 or progress.without_gain < settings.patience
        over = late or not patient or progress.update >= settings.updates
        return self.processes.agreed(over, self.device)

    def _updates_since_validation(self) -> int:
        return self.progress.update - int(self.progress.history[-1]["update"])

    def _update(self, epoch: int, batches: list[Batch]) -> None:
        """Make one optimiser step and report its figures."""
        update = self.progress.update + 1
        rate = learning_rate(update, self.settings)
        for group in self.optimiser.param_groups:
            group["lr"] = group.get("own_rate", rate)
        _inner(self.objective).epoch = epoch
        labels, total = self._gradients(batches)
        loss = total / labels
        norm = float(nn.utils.clip_grad_norm_(self.weights, self.settings.clip or math.inf))
        if not (math.isfinite(loss) and math.isfinite(norm)):
            self._diverged(f"loss or gradient of update {update}", loss)
        self.optimiser.step()
        self.optimiser.zero_grad()
        self.companion.after_update(update, self.network)
        self.progress.update = update
        now = time.monotonic()
        self.progress.seconds = now - self.started
        if self.processes.first:
            figures = {"update": update, "epoch": epoch, "train_nll": loss, "learning_rate": rate}
            speed = {"tokens_per_second": labels / (now - self.ready)}
            self.plan.report(figures | speed | {"seconds": self.progress.seconds})

    def _gradients(self, batches: list[Batch]) -> tuple[float, float]:
        """Sum the gradients of all micro-batches; return label count and plain loss in nats."""
        counts = [float(batch.labels.real.sum()) for batch in batches]
        [labels] = self.processes.total([sum(counts)], self.device)
        scale = self.processes.world / labels  # DistributedDataParallel divides by the world
        total = 0.0
        for position, batch in enumerate(batches, start=1):
            with _without_exchange(self.objective, position < len(batches)):
                smoothed, plain = self.objective(batch)
                (smoothed * scale).backward()
            total += float(plain)
        [total] = self.processes.total([total], self.device)
        return labels, total

    def _diverged(self, what: str, loss: float) -> NoReturn:
        kept, rate = self.progress.checkpoints, self.optimiser.param_groups[0]["lr"]
        last = checkpoint_path(self.plan.folder, kept[-1]) if kept else "none yet"
        raise DivergedError(
            f"{what} is not finite (loss {loss:.4g}, learning rate {rate:.3g}): lower "
            f"learning_rate or raise warmup; the last good checkpoint: {last}"
        )

    def _pause(self) -> None:
        """Measure, keep a checkpoint and the state, then forget old checkpoints."""
        progress = self.progress
        self.network.eval()
        if self.processes.first and not self.plan.keep_last:
            self._validate()
            self._keep_checkpoint()
        progress.seconds = time.monotonic() - self.started
        if self.processes.first:
            if progress.history:
                progress.history[-1]["seconds"] = progress.seconds
            parts = (self.network, self.companion, self.optimiser)
            save_state(self.plan.folder, *parts, progress, self.plan.inputs)
            self._forget_checkpoints()

    def _validate(self) -> None:
        """Measure the network as it is, and note whether it is the best so far."""
        progress = self.progress
        measured = self.plan.validate(self.network)
        nll = measured["valid_nll"]
        if not math.isfinite(nll):
            self._diverged(f"validation NLL after update {progress.update}", nll)
        progress.history.append({"update": progress.update, **measured})
        better = nll < progress.best_nll
        progress.without_gain = 0 if better else progress.without_gain + 1
        if better:
            progress.best_nll, progress.best_update = nll, progress.update

    def _keep_checkpoint(self) -> None:
        progress, folder = self.progress, self.plan.folder
        progress.checkpoints.append(progress.update)
        weights = unique_weights(self.network)
        save_weights(checkpoint_path(folder, progress.update), weights, {})
        recent = {*progress.checkpoints[-self.settings.average :], progress.best_update}
        progress.checkpoints = [update for update in progress.checkpoints if update in recent]

    def _forget_checkpoints(self) -> None:
        """Remove what the saved state does not name: until it was saved, the one before counted."""
        kept = {checkpoint_path(self.plan.folder, it) for it in self.progress.checkpoints}
        for path in self.plan.folder.glob("[0-9]*.safetensors"):
            if path not in kept:
                path.unlink()

    def _keep_best(self) -> None:
        """Leave the averaged weights in the network, or the best ones where they do better."""
        if not self.processes.first:
            return
        progress, folder = self.progress, self.plan.folder
        recent = progress.checkpoints[-self.settings.average :]
        fill_network(self.network, average_of([checkpoint_path(folder, it) for it in recent]))
        self.network.eval()
        measured = self.plan.validate(self.network)
        if not measured["valid_nll"] <= progress.best_nll:  # also where it cannot be measured
            best = checkpoint_path(folder, progress.best_update)
            fill_network(self.network, average_of([best]))
            measured = self.plan.validate(self.network)
            recent = [progress.best_update]
        final = {"update": progress.update, "averaged": float(len(recent)), **measured}
        progress.history.append({**final, "seconds": progress.seconds})


def _optimiser(
    network: Network, companion: Companion, settings: TrainingSettings
) -> torch.optim.Optimizer:
    """Return AdamW that decays matrices only, and the companion's own parameters not at all."""
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    matrices = [weight for weight in weights if weight.dim() >= 2]
    others = [weight for weight in weights if weight.dim() < 2]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    if own := list(companion.parameters()):
        groups.append({"params": own, "weight_decay": 0.0, "own_rate": companion.learning_rate})
    optimiser = torch.optim.AdamW(
        groups, lr=settings.learning_rate, betas=settings.betas, eps=1e-9, fused=True
    )
    # Fused steps write weights without telling: whoever keeps something made of weights, as the
    # decoder does, would go on with the old ones.
    optimiser.register_step_post_hook(lambda *_: increment_version(weights))
    return optimiser


def _inner(objective: nn.Module) -> Objective:
    """Return the objective itself, without what joins several processes."""
    inner = objective.module if isinstance(objective, DistributedDataParallel) else objective
    assert isinstance(inner, Objective)
    return inner


def _without_exchange(objective: nn.Module, wait: bool) -> AbstractContextManager[None]:
    """Keep DistributedDataParallel from adding gradients up before the last micro-batch."""
    if wait and isinstance(objective, DistributedDataParallel):
        return objective.no_sync()
    return nullcontext()
