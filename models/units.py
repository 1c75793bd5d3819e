"""Feed-forward units: which there are, and gates on blocks of them.

In a small model most of the time goes into the feed-forward networks, which heads do not touch.
So units can be removed as heads are: a gate a block of neighbouring units says how much the
block matters, and blocks that do not are cut out of the weights (`surgery.py`).

A unit keeps its ORIGINAL number when others are removed. Units of a layer can stand in any
order without changing the network, so a block of neighbours is a block of strangers: small
blocks choose better, and large ones keep matrix products in step with the machine.

Pitfall: the gate of a block has the sum of its units' slopes, in which they can cancel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from .errors import UsageError


class FeedForward(NamedTuple):
    """The feed-forward network of one layer: `encoder` or `decoder`, and the layer, 0-based."""

    side: str
    layer: int

    def __str__(self) -> str:
        return f"{self.side}.{self.layer}"


UnitGates = Mapping[FeedForward, Tensor]
"""A gate a unit for every layer  # each [1 or batch, unit]."""


class Block(NamedTuple):
    """Neighbouring units of one layer, by their original numbers."""

    name: FeedForward
    units: tuple[int, ...]


@dataclass(frozen=True)
class UnitLayout:
    """Which units a model has.

    Args:
        by_layer: for every feed-forward network the original numbers of its units, ascending.
    """

    by_layer: tuple[tuple[FeedForward, tuple[int, ...]], ...]

    @classmethod
    def full(cls, layers: Mapping[str, int], units: int) -> UnitLayout:
        """Return the layout of an uncut model with so many units a layer."""
        every = tuple(range(units))
        names = [FeedForward(side, it) for side, depth in layers.items() for it in range(depth)]
        return cls(tuple((name, every) for name in names))

    @cached_property
    def _units(self) -> dict[FeedForward, tuple[int, ...]]:
        return dict(self.by_layer)

    def __getitem__(self, name: FeedForward) -> tuple[int, ...]:
        return self._units[name]

    def __len__(self) -> int:
        return sum(len(units) for _, units in self.by_layer)

    def without(self, blocks: Iterable[Block]) -> UnitLayout:
        """Return the layout that is left when `blocks` are removed.

        Raises:
            UsageError: a unit that is not there (any more), or a layer that would have none.
        """
        gone: dict[FeedForward, set[int]] = {}
        for block in blocks:
            gone.setdefault(block.name, set()).update(block.units)
        for name, units in gone.items():
            missing = units - set(self._units.get(name, ()))
            if missing:
                raise UsageError(f"the layer {name} has no feed-forward unit {min(missing)}")
            if len(units) == len(self[name]):
                raise UsageError(f"the layer {name} would have no feed-forward unit: leave one")
        nothing: Collection[int] = ()
        return UnitLayout(
            tuple(
                (name, tuple(it for it in units if it not in gone.get(name, nothing)))
                for name, units in self.by_layer
            )
        )

    def to_dict(self) -> dict[str, str]:
        """Return `{"encoder.0": "0-15,32-63", ...}`."""
        return {str(name): _ranges(units) for name, units in self.by_layer}

    @classmethod
    def from_dict(cls, values: Mapping[str, str]) -> UnitLayout:
        """Build a layout from what `to_dict` returns."""
        layers = []
        for name, text in values.items():
            side, _, layer = name.partition(".")
            layers.append((FeedForward(side, int(layer)), tuple(_numbers(text))))
        return cls(tuple(layers))

    def blocks(self, size: int) -> tuple[Block, ...]:
        """Return all units in blocks of `size` neighbours; the last of a layer may be smaller.

        Raises:
            UsageError: a size below one.
        """
        if size < 1:
            raise UsageError(f"a block of {size} units: it has at least one")
        return tuple(
            Block(name, units[start : start + size])
            for name, units in self.by_layer
            for start in range(0, len(units), size)
        )


def spread(gates: Tensor, blocks: Sequence[Block]) -> UnitGates:
    """Give every unit the gate of its block.

    Args:
        gates: of all blocks [row, block]
        blocks: all blocks of a layout, in its order.
    """
    sizes = torch.tensor([len(it.units) for it in blocks], device=gates.device)
    by_unit = gates.repeat_interleave(sizes, dim=1)  # [row, unit of all layers]
    names = list(dict.fromkeys(it.name for it in blocks))
    widths = [sum(len(it.units) for it in blocks if it.name == name) for name in names]
    return dict(zip(names, by_unit.split(widths, dim=1), strict=True))


def _ranges(numbers: Sequence[int]) -> str:
    """Write ascending numbers as ranges: `0-15,17`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else f"{first}" for first, last in runs)


def _numbers(text: str) -> Iterable[int]:
    """Read what `_ranges` wrote."""
    for run in text.split(","):
        first, _, last = run.partition("-")
        yield from range(int(first), int(last or first) + 1)
