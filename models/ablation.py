"""Every head closed once, without computing again what does not depend on it.

A head can change only what comes after its own attention. So the states that enter each
layer of the open network are kept, and with a head closed the forward starts at the head's
layer: a decoder head never touches the encoder, a head of the last layer hardly anything.
The numbers are those of a whole forward with that gate, bit for bit, for the same operations
are done in the same order.

Cost against plain forwards, for as many layers on both sides: an encoder head spares half of
the encoder on average, a decoder or cross head the encoder and half of the decoder.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from .batch import Batch
from .gates import Attention
from .network import Network


@torch.no_grad()
def states_without_each(network: Network, batch: Batch) -> Iterator[Tensor]:
    """Yield the decoder's last states with one head after another closed, in layout order.

    Args:
        network: in evaluation mode.
        batch: sentence pairs for teacher forcing.

    Returns:
        as many as the network has heads  # each [batch, target, width]
    """
    *sources, memory = _encoder_from(network, batch, 0, network.embed_source(batch.source.ids), {})
    start_of_target = network.embed_target(batch.target.ids)  # [batch, target, width]
    *targets, _ = _decoder_from(network, batch, memory, 0, start_of_target, {})
    for attention, heads in network.layout.by_attention:
        layer = attention.layer
        for position in range(len(heads)):
            gate = torch.ones(1, len(heads)).to(memory)  # [1, head]
            gate[0, position] = 0
            gates = {attention: gate}
            if attention.site == "encoder":
                own = _encoder_from(network, batch, layer, sources[layer], gates)[-1]
                yield _decoder_from(network, batch, own, 0, targets[0], gates)[-1]
            else:
                yield _decoder_from(network, batch, memory, layer, targets[layer], gates)[-1]


def _encoder_from(
    network: Network, batch: Batch, start: int, states: Tensor, gates: dict[Attention, Tensor]
) -> list[Tensor]:
    """Return what enters encoder layers `start`, ..., and last the encoder's output.

    Args:
        states: what enters layer `start`  # [batch, source, width]
    """
    passed = [states]
    for layer in network.encoder[start:]:
        passed.append(layer(passed[-1], batch.source.visible, gates, None))
    return [*passed[:-1], network.encoder_norm(passed[-1])]


def _decoder_from(
    network: Network,
    batch: Batch,
    memory: Tensor,
    start: int,
    states: Tensor,
    gates: dict[Attention, Tensor],
) -> list[Tensor]:
    """Return what enters decoder layers `start`, ..., and last the decoder's output.

    Args:
        memory: the encoder's output  # [batch, source, width]
        states: what enters layer `start`  # [batch, target, width]
    """
    visible = (batch.target.visible, batch.source.visible)
    passed = [states]
    for layer in network.decoder[start:]:
        passed.append(layer(passed[-1], memory, *visible, gates, None))
    return [*passed[:-1], network.decoder_norm(passed[-1])]
