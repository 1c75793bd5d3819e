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

import torch
from torch import distributed


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


def own_device(device: torch.device) -> torch.device:
    """Return the GPU that is this process's own; other devices are shared."""
    if device.type != "cuda" or "LOCAL_RANK" not in os.environ:
        return device
    return torch.device("cuda", int(os.environ["LOCAL_RANK"]))


@contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """Join the process group that torchrun has set up, or be alone."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        yield Processes()
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(distributed.get_rank(), world)
    finally:
        distributed.destroy_process_group()
