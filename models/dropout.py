"""Inverted dropout that draws one random byte a value.

On a CPU torch draws dropout masks one by one, which is a tenth of a small Transformer's
training step. Here eight masks come from each 64-bit draw. A byte is enough when the rate
is a multiple of 1/256, so on a CPU the rate is rounded to the nearest one (0.1 becomes
26/256 = 0.1016) and the scale is that rate's own, so that the mean stays exactly.

Masks are drawn from torch's default generator, the one that training seeds and saves.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Dropout(nn.Module):
    """Zero each value with probability `rate`, scale the others so that the mean stays."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def forward(self, values: Tensor) -> Tensor:
        """Drop values of any shape while training; return them unchanged otherwise."""
        if not self.training or self.rate == 0:
            return values
        if values.device.type != "cpu":
            return F.dropout(values, self.rate)
        return values * byte_mask(values, round(self.rate * 256))


def byte_mask(values: Tensor, dropped: int) -> Tensor:
    """Return a mask that is 0 with probability dropped/256 and has mean 1, shaped as `values`."""
    draws = torch.empty(-(-values.numel() // 8), dtype=torch.int64).random_(-(2**63), None)
    keep = draws.view(torch.uint8)[: values.numel()].view(values.shape) >= dropped
    return keep.to(values.dtype).mul_(256 / (256 - dropped))
