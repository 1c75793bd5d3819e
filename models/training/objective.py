"""The loss of a batch, in the precision that the processor is fast in."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ..batch import Batch
from ..devices import has_bfloat16
from ..losses import projected_cross_entropy
from ..network import Network
from .companion import Companion
from .consistency import consistent_cross_entropy, read_twice
from .distillation import distilled_cross_entropy


class Objective(nn.Module):
    """The training loss as a module, so that it can be wrapped for several processes.

    Args:
        network: what is trained.
        smoothing: label smoothing.
        precision: `float32` or `bfloat16`; weights and optimiser stay in float32.
        companion: gives the gates, and what is paid besides.
    """

    def __init__(
        self, network: Network, smoothing: float, precision: str, companion: Companion
    ) -> None:
        super().__init__()
        self.network = network
        self.companion = companion
        self.smoothing = smoothing
        self.epoch = 0  # of the next batch, 0-based; who trains sets it
        self.dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the summed loss that is minimised and the summed plain loss, in nats.

        The companion's price is a part of the loss a token, so here it counts once a label.
        """
        states = self.states(self.network, batch, self.companion.gates())  # [token, width]
        smoothed, plain = self.losses(states, batch)
        return smoothed + batch.labels.real.sum() * self.companion.price(self.network), plain

    def states(self, network: Network, batch: Batch, gates: Tensor | None) -> Tensor:
        """Return a network's last states in the precision of the training  # [token, width]."""
        device = network.output_table.device.type
        low = self.dtype != torch.float32
        with torch.autocast(device, self.dtype, enabled=low):
            states = network(batch, gates)  # [batch, target, width]
        return states.flatten(0, 1).to(self.dtype)

    def losses(self, states: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the summed smoothed and the summed plain loss of the labels, in nats."""
        labels, table = batch.labels, self.network.output_table
        flat = (labels.ids.flatten(), labels.real.flatten())
        return projected_cross_entropy(states, table, *flat, self.smoothing)


class ConsistentObjective(Objective):
    """The loss of two readings under different dropout, and of their disagreement.

    Args:
        network, smoothing, precision, companion: as above.
        consistency: what a nat of disagreement costs, the w of `consistency`.
        after: epochs that are read once first.
    """

    def __init__(
        self,
        network: Network,
        smoothing: float,
        precision: str,
        companion: Companion,
        consistency: float,
        after: int = 0,
    ) -> None:
        super().__init__(network, smoothing, precision, companion)
        self.consistency, self.after = consistency, after

    @property
    def reads_twice(self) -> bool:
        """Whether the first epochs, which are read once, are over."""
        return self.epoch >= self.after

    def states(self, network: Network, batch: Batch, gates: Tensor | None) -> Tensor:
        """Return the last states of the first reading and of the second  # [token, width]."""
        return super().states(network, read_twice(batch) if self.reads_twice else batch, gates)

    def losses(self, states: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the summed loss that is minimised and the summed plain loss, in nats."""
        if not self.reads_twice:
            return super().losses(states, batch)
        labels, table = batch.labels, self.network.output_table
        flat = (labels.ids.flatten(), labels.real.flatten())
        readings = states.unflatten(0, (2, -1))  # [reading, token, width]
        how = (self.smoothing, self.consistency)
        return consistent_cross_entropy(readings, table, *flat, *how)


class DistilledObjective(Objective):
    """The loss against the labels and against what a teacher would say, half and half.

    Args:
        network, smoothing, precision, companion: as above.
        teacher: a frozen network of the same vocabulary; it is not a part of this module, so
            it is neither trained nor wrapped nor saved.
    """

    def __init__(
        self,
        network: Network,
        smoothing: float,
        precision: str,
        companion: Companion,
        teacher: Network,
    ) -> None:
        super().__init__(network, smoothing, precision, companion)
        self.teacher = (teacher.eval(),)

    def losses(self, states: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the summed loss that is minimised and the summed plain loss, in nats."""
        smoothed, plain = super().losses(states, batch)
        (teacher,) = self.teacher
        with torch.no_grad():
            theirs = self.states(teacher, batch, None)  # [token, width]
        tables = (self.network.output_table, teacher.output_table)
        real = batch.labels.real.flatten()
        taught = distilled_cross_entropy(states, theirs, *tables, real)
        return (smoothed + taught) / 2, plain


def compiled(network: Network) -> Network:
    """Return a copy for training that shares the weights, with compiled layers.

    Layers of one kind share their graphs: two of the encoder and four of the decoder, with and
    without padding. The network itself stays as it is. Measured as a compiled one it would need
    as many graphs again, for reading without gradients, and torch takes eight of a kind and
    then compiles no more.
    """
    copied = network.with_same_weights()
    for layer in (*copied.encoder, *copied.decoder):
        layer.compile(dynamic=True)
    return copied.train()


def resolved_precision(wanted: str, device: torch.device) -> str:
    """Return `float32` or `bfloat16` for `auto`: bfloat16 where there are instructions for it."""
    if wanted != "auto":
        return wanted
    if device.type == "cuda":
        return "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return "bfloat16" if device.type == "cpu" and has_bfloat16() else "float32"
