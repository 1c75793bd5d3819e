"""Where a token stands: the `position_encoding` family, added to the embeddings."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from .errors import DataError
from .registry import Registry

position_encoding: Registry[type[nn.Module]] = Registry("position encoding")


@position_encoding("sinusoidal")
class Sinusoidal(nn.Module):
    """Sines and cosines of geometrically spaced wavelengths (Vaswani et al. 2017, section 3.5).

    PE(position, 2i) = sin(position / 10000^(2i/width)), PE(position, 2i + 1) = cos(same).

    Args:
        width: features of the residual stream, an even number.
        longest: positions for which the table is made.
    """

    table: Tensor

    def __init__(self, width: int, longest: int) -> None:
        super().__init__()
        self.longest = longest
        position = torch.arange(longest, dtype=torch.float64)[:, None]  # [token, 1]
        even = torch.arange(0, width, 2, dtype=torch.float64)  # [width / 2]
        angle = position * torch.exp(-math.log(10_000.0) * even / width)  # [token, width / 2]
        table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # [token, width]
        self.register_buffer("table", table.to(torch.get_default_dtype()), persistent=False)

    def forward(self, length: int, start: int = 0) -> Tensor:
        """Return the encoding of positions start ... start + length - 1  # [token, width]."""
        _check_length(start + length, self.longest)
        return self.table[start : start + length]


@position_encoding("learned")
class Learned(nn.Module):
    """One trained vector a position (Gehring et al. 2017; Vaswani et al. 2017, table 3 E).

    Args:
        width: features of the residual stream.
        longest: positions that can be told apart; a longer sentence is an error.
    """

    def __init__(self, width: int, longest: int) -> None:
        super().__init__()
        self.longest = longest
        self.table = nn.Parameter(torch.empty(longest, width))

    def forward(self, length: int, start: int = 0) -> Tensor:
        """Return the vectors of positions start ... start + length - 1  # [token, width]."""
        _check_length(start + length, self.longest)
        return self.table[start : start + length]


def _check_length(length: int, longest: int) -> None:
    if length > longest:
        raise DataError(
            f"a sentence has {length} tokens, the model has positions for {longest}: "
            "shorten the sentence, or train with a larger max_positions"
        )
