"""What is trained along with a network: gates that choose heads, and their controller.

The training loop asks its companion four things: with which gates the network shall read the
next batch, what is to be paid besides the loss of the labels, which parameters of its own
are to be trained at which rate, and what it does after an update. The companion that most
trainings have answers nothing to all of them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ..network import Network


class Companion(nn.Module):
    """The companion that does nothing; others inherit from it.

    Parameters and buffers are saved with the state of the training, and so is the history.

    Attributes:
        learning_rate: of its own parameters; constant, without weight decay.
        history: records of what happened, as JSON can hold them.
    """

    learning_rate = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.history: list[dict[str, Any]] = []

    def gates(self) -> Tensor | None:
        """Return the gates for the next batch [1, head], None for open ones."""
        return None

    def price(self, network: Network) -> Tensor:
        """Return what is added to the loss, in nats a token  # []."""
        return torch.zeros((), device=network.output_table.device)

    def after_update(self, update: int, network: Network) -> None:
        """Do what is to be done after the 1-based `update`."""
