"""The head gate: one number that multiplies a head's output.

Every attention head has one scalar gate g that multiplies softmax(QK'/sqrt(d_k)) V before
the output projection, as in Voita et al. 2019 (section 5.1). g = 1 is the untouched head,
g = 0 is the head cut out. Ablation, gradients, relevance, attributions and pruning are all
questions put to the same vector.

A head is named by its site, layer and head, 0-based: `encoder.2.5`. The sites are `encoder`
(encoder self-attention), `decoder` (decoder self-attention) and `cross` (decoder-encoder
attention). Ids are the ORIGINAL ids: after heads were removed the others keep their names,
so a table made before a removal still speaks of the same heads afterwards.

A gate matrix is a tensor `[row, head]` over all heads of a model in `HeadLayout` order, with
one row for all sentences or one row a sentence. It is an argument of the forward, so it can
carry gradients and one batch can hold a different mask for each sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from .errors import UsageError

SITES = ("encoder", "decoder", "cross")


class Head(NamedTuple):
    """One attention head by its original ids, 0-based."""

    site: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.site}.{self.layer}.{self.head}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Read `encoder.2.5`.

        Raises:
            UsageError: `text` does not name a head.
        """
        match = re.fullmatch(r"(encoder|decoder|cross)\.(\d+)\.(\d+)", text.strip())
        if match is None:
            raise UsageError(f"'{text}' does not name a head (write site.layer.head: encoder.2.5)")
        return cls(match[1], int(match[2]), int(match[3]))


class Attention(NamedTuple):
    """One attention sublayer: a site and a layer."""

    site: str
    layer: int


@dataclass(frozen=True)
class HeadLayout:
    """Which heads a model has, in the fixed order that gate columns follow.

    Args:
        by_attention: for every attention sublayer the original ids of its heads, ascending;
            an empty tuple where no head is left.
    """

    by_attention: tuple[tuple[Attention, tuple[int, ...]], ...]

    @classmethod
    def full(cls, layers: Mapping[str, int], heads: int) -> HeadLayout:
        """Return the layout of an uncut model with `heads` heads in every attention."""
        return cls.from_dict({site: [range(heads)] * layers.get(site, 0) for site in SITES})

    @classmethod
    def from_dict(cls, heads: Mapping[str, Sequence[Iterable[int]]]) -> HeadLayout:
        """Build a layout from `{site: [head ids of layer 0, of layer 1, ...]}`."""
        return cls(
            tuple(
                (Attention(site, layer), tuple(sorted(ids)))
                for site in SITES
                for layer, ids in enumerate(heads.get(site, ()))
            )
        )

    def to_dict(self) -> dict[str, list[list[int]]]:
        """Return `{site: [head ids of layer 0, ...]}`, the inverse of `from_dict`."""
        result: dict[str, list[list[int]]] = {site: [] for site in SITES}
        for attention, ids in self.by_attention:
            result[attention.site].append(list(ids))
        return result

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """All heads in gate-column order: by site, layer and original id."""
        return tuple(Head(*at, head) for at, ids in self.by_attention for head in ids)

    @cached_property
    def columns(self) -> dict[Head, int]:
        """The gate column of every head."""
        return {head: column for column, head in enumerate(self.heads)}

    @cached_property
    def slices(self) -> dict[Attention, slice]:
        """The gate columns of every attention sublayer, for cutting a gate matrix."""
        slices, start = {}, 0
        for attention, ids in self.by_attention:
            slices[attention] = slice(start, start + len(ids))
            start += len(ids)
        return slices

    def __len__(self) -> int:
        return len(self.heads)

    def __iter__(self) -> Iterator[Head]:
        return iter(self.heads)

    def __contains__(self, head: object) -> bool:
        return head in self.columns

    def ids_at(self, site: str, layer: int) -> tuple[int, ...]:
        """Return the original ids of the heads of one attention sublayer."""
        return dict(self.by_attention)[Attention(site, layer)]

    def column_of(self, head: Head) -> int:
        """Return a head's gate column.

        Raises:
            UsageError: the model has no such head (any more).
        """
        if head not in self.columns:
            raise UsageError(f"the model has no head {head}; it has {self.describe()}")
        return self.columns[head]

    def without(self, heads: Iterable[Head]) -> HeadLayout:
        """Return the layout that is left when `heads` are removed; ids stay original."""
        gone = set(heads)
        for head in gone:
            self.column_of(head)
        return HeadLayout(
            tuple(
                (at, tuple(head for head in ids if Head(*at, head) not in gone))
                for at, ids in self.by_attention
            )
        )

    def describe(self) -> str:
        """Say how many heads each site has, for messages: `24 encoder, 24 decoder, 24 cross`."""
        counts = {site: sum(head.site == site for head in self.heads) for site in SITES}
        return ", ".join(f"{count} {site}" for site, count in counts.items())

    def ones(self, rows: int = 1, *, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return open gates  # [row, head]."""
        return torch.ones(rows, len(self), dtype=dtype)

    def closing(self, heads: Iterable[Head]) -> Tensor:
        """Return one row of gates that are 0 for `heads` and 1 for the others  # [1, head]."""
        gates = self.ones()  # [1, head]
        gates[:, [self.column_of(head) for head in heads]] = 0
        return gates

    def each_closed(self) -> Tensor:
        """Return one row a head, with that head alone closed  # [head, head]."""
        return 1 - torch.eye(len(self))

    def checked(self, gates: Tensor, rows: int) -> Tensor:
        """Return `gates` when it fits this layout and a batch of `rows` sentences.

        Raises:
            UsageError: the shape is not [1 or rows, head].
        """
        if gates.dim() != 2 or gates.shape[1] != len(self) or gates.shape[0] not in (1, rows):
            shape = list(gates.shape)
            raise UsageError(f"gates have shape {shape}, expected [1 or {rows}, {len(self)}]")
        return gates
