"""The most probable token, with few logits computed in full precision.

Greedy search wants to know which logit is the largest, and no more. A logit is the product of
the state x with a row w of the output table. Computed from numbers that were rounded to
bfloat16 first, which processors with tile instructions do three times as fast, it is off by at
most

    e |x| |w|,    e = 3 u + 3 u^2 + width 2^-23,    u = 2^-8,

because each factor and the sum are off by a share of u, and sum |x_i w_i| <= |x| |w| (Cauchy
and Schwarz). So a token whose rough logit plus its bound lies below another's less its bound
cannot be the most probable, and only those that are left, one or two of thousands, are computed
exactly. The answer is that of the whole table in full precision, but for ties within its own
rounding.

Bounds are taken for blocks of tokens at a time, by the longest row of each.
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F

from ..devices import has_tiles
from .ranking import BLOCK

UNIT = 2.0**-8
"""Largest relative error of rounding to bfloat16."""
WORTH = 24
"""Rows from which on it pays: with 64 it takes 0.6 of the time, with one 1.4 times as long."""
_BEYOND = 1 << 40


class Screen:
    """An output table with its rough copy and the lengths of its rows, made when first asked.

    Args:
        table: [vocabulary, width]
        room: entries of a row of logits: the vocabulary filled up to whole blocks.
    """

    def __init__(self, table: Tensor, room: int) -> None:
        self.table, self.room = table.detach(), room

    @cached_property
    def rough(self) -> Tensor:
        """The table in bfloat16, input features first  # [width, vocabulary]."""
        return self.table.t().to(torch.bfloat16).contiguous()

    @cached_property
    def bounds(self) -> Tensor:
        """How far a rough logit can be off, for a state of length 1  # [block]."""
        vocabulary, width = self.table.shape
        lengths = F.pad(self.table.norm(dim=1), (0, self.room - vocabulary))  # [entry]
        share = 3 * UNIT + 3 * UNIT**2 + width * 2.0**-23
        return share * lengths.view(-1, BLOCK).amax(1)

    @staticmethod
    def serves(table: Tensor) -> bool:
        """Say whether it is faster than the table itself, and rough beside its precision."""
        return table.is_cpu and table.dtype == torch.float32 and has_tiles()

    def best(self, rows: Tensor, banned: list[int], logits: Tensor) -> Tensor:
        """Return each row's token with the largest logit  # [row].

        Args:
            rows: states, normalised [row, width]
            banned: tokens that may not come.
            logits: overwritten; what lies beyond the vocabulary is -inf [row, entry]
        """
        logits[:, : len(self.table)] = rows.to(torch.bfloat16) @ self.rough
        logits[:, banned] = float("-inf")
        blocks = logits.view(len(rows), -1, BLOCK)  # [row, block, entry]
        peaks = blocks.amax(2)  # [row, block]
        off = rows.norm(dim=1, keepdim=True) * self.bounds  # [row, block]
        least = (peaks - off).amax(1, keepdim=True) - off  # what may be the largest  # [row, block]
        row, block = (peaks >= least).nonzero().unbind(1)  # each [possible block]
        near = blocks[row, block] >= least[row, block, None]  # [possible block, entry]
        possible, entry = near.nonzero().unbind(1)  # each [candidate]
        row, token = row[possible], block[possible] * BLOCK + entry  # each [candidate]
        exact = (rows[row] * self.table[token]).sum(1)  # [candidate]
        top = rows.new_full((len(rows),), float("-inf")).scatter_reduce_(0, row, exact, "amax")
        token = token.masked_fill(exact < top[row], _BEYOND)
        first = token.new_full((len(rows),), _BEYOND).scatter_reduce_(0, row, token, "amin")
        return first.clamp_(max=len(self.table) - 1)  # rows that are not finite have none
