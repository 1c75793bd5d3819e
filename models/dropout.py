"""Inverted dropout that draws one random byte a value.

torch's dropout on a CPU draws a 32-bit number for every value, and in a small Transformer
that is a tenth of the training step. One byte is enough when the rate is a multiple of
1/256, so the rate is rounded to the nearest one: 0.1 becomes 26/256 = 0.1016.
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
        return F.dropout(values, self.rate, self.training)
