"""Checkpoint averaging: the mean of the last few checkpoints (Vaswani et al. 2017, section 6.1).

Weights that still move at the end of training move around a common centre, and the mean
lies nearer to it than any of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from ..checkpoints import load_weights


def average_of(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Return the mean of several saved weights, summed in float64 one file at a time."""
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, weight in load_weights(path).items():
            total[name] = total.get(name, torch.zeros((), dtype=torch.float64)) + weight.double()
    return {name: (weight / len(paths)).float() for name, weight in total.items()}
