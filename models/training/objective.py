"""The loss of a batch, in the precision that the processor is fast in."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..batch import Batch
from ..losses import projected_cross_entropy
from ..network import Network


class Objective(nn.Module):
    """The training loss as a module, so that it can be wrapped for several processes.

    Args:
        network: what is trained.
        smoothing: label smoothing.
        precision: `float32` or `bfloat16`; weights and optimiser stay in float32.
    """

    def __init__(self, network: Network, smoothing: float, precision: str) -> None:
        super().__init__()
        self.network = network
        self.smoothing = smoothing
        self.dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the summed smoothed loss and the summed plain loss of all labels, in nats."""
        device = self.network.output_table.device.type
        low = self.dtype != torch.float32
        with torch.autocast(device, self.dtype, enabled=low):
            states = self.network(batch)  # [batch, target, width]
        labels = batch.labels
        return projected_cross_entropy(
            states.flatten(0, 1).to(self.dtype),  # [token, width]
            self.network.output_table,
            labels.ids.flatten(),
            labels.real.flatten(),
            self.smoothing,
        )


def resolved_precision(wanted: str, device: torch.device) -> str:
    """Return `float32` or `bfloat16` for `auto`: bfloat16 where there are instructions for it."""
    if wanted != "auto":
        return wanted
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    checks = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    fast = device.type == "cpu" and any(
        getattr(torch.cpu, check, lambda: False)() for check in checks
    )
    return "bfloat16" if fast else "float32"
