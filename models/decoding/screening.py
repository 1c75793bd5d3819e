"""The most probable token, with few logits computed in full precision.

Greedy search wants to know which logit is the largest, and no more. A logit is the product of
the state x with a row w of the output table. Computed from numbers that were rounded to
bfloat16 first, which processors with tile instructions do four times as fast, it is off by at
most

    e |x| |w|,    e = 3 u + 3 u^2 + width 2^-23,    u = 2^-8,

because each factor and the sum are off by a share of u, and sum |x_i w_i| <= |x| |w| (Cauchy
and Schwarz). So a token whose rough logit plus its bound lies below another's less its bound
cannot be the most probable, and only those that are left, one or two of thousands, are computed
exactly. The answer is that of the whole table in full precision, but for ties within its own
rounding.

Bounds are taken for blocks of tokens at a time, by the longest row of each. The table is the
left factor and the states are the right one, because the tiles take the left one as it lies and
lay the right one out anew in every product: that had better be the small one. So there is a
column of logits for every state, and a block is one token of each `BLOCK`-th part of the table:
its maximum is then one of whole rows.
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
WORTH = 12
"""Rows from which on it pays."""
_BEYOND = 1 << 40


class Screen:
    """An output table with its rough copy and the lengths of its rows, made when first asked.

    Args:
        table: [vocabulary, width]
    """

    def __init__(self, table: Tensor) -> None:
        self.table = table.detach()
        self.missing = -len(table) % BLOCK  # entries beyond the vocabulary
        self.blocks = (len(table) + self.missing) // BLOCK

    @cached_property
    def rough(self) -> Tensor:
        """The table in bfloat16, filled up to whole blocks  # [entry, width]."""
        return F.pad(self.table, (0, 0, 0, self.missing)).to(torch.bfloat16)

    @cached_property
    def bounds(self) -> Tensor:
        """How far a rough logit can be off, for a state of length 1  # [block, 1]."""
        lengths = F.pad(self.table.norm(dim=1), (0, self.missing))  # [entry]
        share = 3 * UNIT + 3 * UNIT**2 + self.table.shape[1] * 2.0**-23
        return share * lengths.view(BLOCK, self.blocks).amax(0)[:, None]

    @staticmethod
    def serves(table: Tensor) -> bool:
        """Say whether it is faster than the table itself, and rough beside its precision."""
        return table.is_cpu and table.dtype == torch.float32 and has_tiles()

    def best(self, rows: Tensor, banned: list[int]) -> Tensor:
        """Return each row's token with the largest logit  # [row].

        Args:
            rows: states, normalised [row, width]
            banned: tokens that may not come.
        """
        logits = self.rough @ rows.to(torch.bfloat16).t()  # [entry, row]
        logits[len(self.table) :] = float("-inf")
        logits[banned] = float("-inf")
        blocks = logits.view(BLOCK, self.blocks, len(rows))  # [part, block, row]
        peaks = blocks.amax(0).float()  # [block, row]
        off = self.bounds * rows.norm(dim=1)  # [block, row]
        least = (peaks - off).amax(0) - off  # what may be the largest  # [block, row]
        block, row = (peaks >= least).nonzero().unbind(1)  # each [possible block]
        near = blocks[:, block, row] >= least[block, row]  # [part, possible block]
        part, possible = near.nonzero().unbind(1)  # each [candidate]
        row, token = row[possible], part * self.blocks + block[possible]  # each [candidate]
        exact = (rows[row] * self.table[token]).sum(1)  # [candidate]
        top = rows.new_full((len(rows),), float("-inf")).scatter_reduce_(0, row, exact, "amax")
        token = token.masked_fill(exact < top[row], _BEYOND)
        first = token.new_full((len(rows),), _BEYOND).scatter_reduce_(0, row, token, "amin")
        return first.clamp_(max=len(self.table) - 1)  # rows that are not finite have none
