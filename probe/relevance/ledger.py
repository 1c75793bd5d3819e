"""What relevance propagation could hand to no input: the other side of the balance.

Three things keep relevance for themselves. A bias is part of an output and comes from no
input. The AttnLRP rule of the softmax drops the constant term of its Taylor expansion (see
`operations.softmax`). And the stabiliser epsilon takes its share of every division. With
the ledger the balance must close,

    sum of the inputs' relevances + sum of what was absorbed = logit,

so an error in any rule shows, also where a network has biases and the plain sum of the
inputs' relevances is far from the logit.

Amounts are noted while the backward runs, by hooks on the tensors of that one graph. Which
layer an operation belongs to is told afterwards: autograd numbers operations in the order
of the forward, and the captured states between layers are operations themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from ...models.errors import HeadcountError

KINDS = ("bias", "softmax", "epsilon")
"""What absorbs relevance."""


class Place(NamedTuple):
    """Where relevance was absorbed: a side and a layer; `output` is what follows the last."""

    side: str
    layer: int


@dataclass
class _Entry:
    kind: str
    number: int
    absorbed: Tensor | None = None


@dataclass
class Ledger:
    """Notes what operations absorb in the next backward.

    Args:
        sentences: the first axis of every activation is a multiple of it.
    """

    sentences: int
    entries: list[_Entry] = field(default_factory=list)

    def watch(self, output: Tensor, kind: str, amount: Callable[[Tensor], Tensor]) -> None:
        """Note what an operation absorbs when the gradient reaches its output.

        Args:
            output: an operation's result [batch, ...]
            kind: one of `KINDS`.
            amount: what is absorbed, from the gradient at `output`, elementwise or summed
                over anything but sentences.
        """
        entry = _Entry(kind, number_of(output))
        self.entries.append(entry)

        def note(gradient: Tensor) -> None:
            taken = amount(gradient)
            if taken.shape[0] % self.sentences:
                shape = list(taken.shape)
                raise HeadcountError(
                    f"the first axis of {shape} does not stand for {self.sentences} sentences, so "
                    "absorbed relevance cannot be told apart by sentence"
                )
            entry.absorbed = taken.detach().reshape(self.sentences, -1).sum(1).cpu().double()

        output.register_hook(note)

    def clear(self) -> None:
        """Forget the amounts of the last backward; the same graph can be asked again."""
        for entry in self.entries:
            entry.absorbed = None

    def by_place(self, states: Mapping[str, list[Tensor]]) -> dict[tuple[Place, str], Tensor]:
        """Return what was absorbed above the inputs, by place and kind.

        Args:
            states: what enters each layer, and what leaves the last, of every side, in the
                graph that was walked. What comes before the first state of a side (the sum
                of embedding and position) belongs to the inputs and is not listed.

        Returns:
            amounts in units of the logit, float64  # each [batch]
        """
        bounds = sorted(
            (number_of(state), Place(side, layer - 1))
            for side, passed in states.items()
            for layer, state in enumerate(passed)
        )
        sums: dict[tuple[Place, str], Tensor] = defaultdict(
            lambda: torch.zeros(self.sentences, dtype=torch.float64)
        )
        for entry in self.entries:
            upper = [place for number, place in bounds if number >= entry.number]
            place = upper[0] if upper else Place("output", 0)
            if entry.absorbed is not None and place.layer >= 0:
                sums[place, entry.kind] = sums[place, entry.kind] + entry.absorbed
        return dict(sums)


def number_of(tensor: Tensor) -> int:
    """Return where the operation that made a tensor stands in the forward; -1 for none."""
    node = tensor.grad_fn
    return -1 if node is None else int(node._sequence_nr())
