"""Several devices or machines, by torch's own launcher.

`torchrun --nproc-per-node N` starts N processes and tells each its rank in the environment.
Each holds the whole model and takes its share of every update; DistributedDataParallel
adds the gradients up while the backward is still running.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
from torch import distributed

from ..errors import UsageError

PATIENCE = timedelta(hours=12)
"""How long processes wait while the first one learns vocabularies, encodes text or validates."""


@dataclass(frozen=True)
class Processes:
    """This process among its peers."""

    rank: int = 0
    world: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one process that writes files and shows progress."""
        return self.rank == 0

    def wait(self) -> None:
        """Let every process come to this point before any goes on."""
        if self.world > 1:
            distributed.barrier()

    def total(self, values: list[float], device: torch.device) -> list[float]:
        """Return the sums of `values` over all processes."""
        if self.world == 1:
            return values
        summed = torch.tensor(values, dtype=torch.float64, device=device)
        distributed.all_reduce(summed)
        return summed.tolist()

    def agreed(self, value: bool, device: torch.device) -> bool:
        """Return the first process's answer in every process."""
        if self.world == 1:
            return value
        answer = torch.tensor([int(value)], device=device)
        distributed.broadcast(answer, src=0)
        return bool(answer.item())


def own_device(name: str) -> str:
    """Return the name of the GPU that is this process's own; other devices are shared.

    Raises:
        UsageError: torchrun has started more processes on this machine than it has GPUs.
    """
    kind, _, _ = name.partition(":")
    on_gpu = kind == "cuda" or (kind == "auto" and torch.cuda.is_available())
    if not on_gpu or "LOCAL_RANK" not in os.environ:
        return name
    own, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
    if own >= gpus > 0:
        raise UsageError(
            f"there are more processes than GPUs: start --nproc-per-node {gpus}, "
            "or train on the CPU with --device cpu"
        )
    return f"cuda:{own}"


@contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """Join the process group that torchrun has set up, or be alone."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Processes()
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    backend = "nccl" if device.type == "cuda" else "gloo"
    distributed.init_process_group(backend, timeout=PATIENCE)
    try:
        yield Processes(distributed.get_rank(), world)
    finally:
        distributed.destroy_process_group()
