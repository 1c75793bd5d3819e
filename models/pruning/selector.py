"""What every way of choosing heads while the network trains has in common.

A selector is a companion of the training loop. It knows which heads may go, gives each of
them a strength while training goes on, and in the end an order: the weakest head goes first.
Its history keeps every head's strength over the updates, so that the reader can see whether
the choice was made (all strengths near 0 or 1) or was still open when training ended.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from ..gates import Head, HeadLayout
from ..network import Network
from ..training.companion import Companion

UNDECIDED = (0.05, 0.95)
"""A gate that is open with a probability between these is undecided."""
RECORDS = 50
"""Records in the history of a training, about."""


class Selector(Companion):
    """A companion that ends in an order of heads.

    Args:
        layout: all heads of the network.
        candidates: those that may go.
    """

    columns: Tensor

    def __init__(self, layout: HeadLayout, candidates: Sequence[Head]) -> None:
        super().__init__()
        self.layout = layout
        self.candidates = tuple(candidates)
        self.record_every = 1
        columns = torch.tensor([layout.column_of(head) for head in candidates], dtype=torch.long)
        self.register_buffer("columns", columns, persistent=False)

    @abstractmethod
    def strengths(self, network: Network) -> Tensor:
        """Return how firmly each candidate stays, larger for firmer  # [candidate]."""

    def left(self, network: Network) -> int:
        """Return how many candidates stay where nobody asked for a number."""
        return int((self.strengths(network) > 0.5).sum())

    def order(self, network: Network) -> tuple[Head, ...]:
        """Return the candidates, the weakest first; of equals the last in the layout."""
        strengths = self.strengths(network).cpu().flip(0)  # [candidate]
        weakest = strengths.argsort(stable=True)
        return tuple(self.candidates[len(self.candidates) - 1 - at] for at in weakest.tolist())

    def binarised(self, network: Network, heads: int) -> Tensor:
        """Return gates that are 1 for the `heads` strongest and all that may not go, 0 else.

        Returns:
            the gates of the model that is evaluated  # [1, head]
        """
        return self.layout.closing(self.order(network)[: len(self.candidates) - heads])

    def among_all(self, gates: Tensor) -> Tensor:
        """Put the candidates' gates [candidate] among open ones  # [1, head]."""
        whole = torch.ones(1, len(self.layout), dtype=gates.dtype, device=gates.device)
        return whole.index_copy(1, self.columns, gates[None])

    def undecided(self, network: Network) -> float:
        """Return the share of candidates whose strength is neither near 0 nor near 1."""
        strengths = self.strengths(network)
        low, high = UNDECIDED
        return float(((strengths > low) & (strengths < high)).float().mean())

    def keep_record(self, update: int, network: Network, *, price: float) -> None:
        """Add a record to the history, now and then.

        Args:
            price: what an open head costs now, in nats a token; 0 where nothing is paid.
        """
        if update % self.record_every:
            return
        strengths = self.strengths(network)
        record = {
            "update": update,
            "price": price,
            "open": float(strengths.sum()),
            "undecided": self.undecided(network),
            "strengths": [round(value, 5) for value in strengths.tolist()],
        }
        self.history.append(record)
