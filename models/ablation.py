"""A forward that computes again only what a change of gates can reach.

A gate can change only what comes after its own attention. So `Replay` keeps, of the forward
it did last, what entered and left each attention, and its heads' outputs, which do not depend
on their own gates. Under other gates it starts at the lowest attention whose gates differ:

    encoder.0 -> encoder.1 -> ... -> memory --+-------------+
                                              v             v
                   target -> decoder.0 -> cross.0 -> decoder.1 -> cross.1 -> ... -> losses

A decoder head never touches the encoder, and an encoder head not the first decoder
attention; keys and values of the memory are made once a memory. What is computed again is
done by the same operations in the same order as in a whole forward, so the states are those
of `Network.forward`, bit for bit. The losses agree to rounding: they are taken from the
states of real tokens alone, a cache-sized chunk at a time.

The order of the masks decides what it costs. `losses_of_masks` sorts them so that masks with
the same gates below stand together, as in a prefix tree: every distinct prefix is computed
once, and a mask that occurs twice is evaluated once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import torch
from torch import Tensor, nn

from .attention import MultiHeadAttention
from .batch import Batch
from .errors import UsageError
from .gates import Attention, HeadLayout
from .losses import label_losses
from .network import DecoderLayer, EncoderLayer, Network

Made = TypeVar("Made")


@torch.no_grad()
def losses_of_masks(network: Network, batch: Batch, masks: Tensor) -> Iterator[tuple[int, Tensor]]:
    """Yield the token losses under every row of gates, in the order that costs least.

    Args:
        network: in evaluation mode.
        batch: sentence pairs for teacher forcing.
        masks: gates, each row for all sentences [mask, head]

    Returns:
        number of the row, and -log p of every label in nats, 0 at padding
        # each [batch, target]

    Raises:
        UsageError: the masks do not fit the network.
    """
    if masks.dim() != 2 or masks.shape[1] != len(network.layout):
        shape = list(masks.shape)
        raise UsageError(f"masks have shape {shape}, expected [mask, {len(network.layout)}]")
    replay, labels = Replay(network, batch), batch.labels
    losses = _Kept(lambda it: label_losses(it, network.output_table, labels.ids, labels.real))
    for row in in_prefix_order(network.layout, masks):
        yield row, losses(replay.states(masks[row]))


def in_prefix_order(layout: HeadLayout, masks: Tensor) -> list[int]:
    """Return the rows of `masks` [mask, head] so that equal gates below stand together.

    Open gates come first, so a head that is closed alone is followed by heads further down,
    and what is below them was never changed.
    """
    columns = [column for name in _upwards(layout) for column in _columns_of(layout, name)]
    rows = masks[:, columns].tolist()
    return sorted(range(len(rows)), key=rows.__getitem__, reverse=True)


def _upwards(layout: HeadLayout) -> list[Attention]:
    """Return the attentions in the order in which a forward meets them."""

    def height(name: Attention) -> tuple[bool, int, bool]:
        return name.site != "encoder", name.layer, name.site == "cross"

    return sorted(layout.slices, key=height)


def _columns_of(layout: HeadLayout, name: Attention) -> range:
    return range(len(layout))[layout.slices[name]]


class _Kept(Generic[Made]):
    """A function that remembers its last result, for as long as the same tensor comes in."""

    def __init__(self, function: Callable[[Tensor], Made]) -> None:
        self.function = function
        self.last: tuple[Tensor, Made] | None = None

    def __call__(self, value: Tensor) -> Made:
        if self.last is None or self.last[0] is not value:
            self.last = None  # let go before the next is made
            self.last = (value, self.function(value))
        return self.last[1]


class Replay:
    """A forward of one batch, under one row of gates after another.

    Args:
        network: in evaluation mode.
        batch: sentence pairs for teacher forcing.
    """

    def __init__(self, network: Network, batch: Batch) -> None:
        self.columns = network.layout.slices
        self.source = network.embed_source(batch.source.ids)  # [batch, source, width]
        self.target = network.embed_target(batch.target.ids)  # [batch, target, width]
        self.encoder = [_encoder_stage(cast(EncoderLayer, it), batch) for it in network.encoder]
        self.decoder = [
            stage
            for layer in network.decoder
            for stage in _decoder_stages(cast(DecoderLayer, layer), batch)
        ]
        self.encoder_norm = _Kept(network.encoder_norm)
        self.decoder_norm = _Kept(network.decoder_norm)

    def states(self, gates: Tensor) -> Tensor:
        """Return the decoder's last states under gates [head]  # [batch, target, width].

        It is the very same tensor as before when no gate has changed.
        """
        gates = gates.detach().to("cpu", copy=True)  # what is kept must not change outside
        own = {name: gates[columns] for name, columns in self.columns.items()}
        states = self.source
        for stage in self.encoder:
            states = stage(states, states, own[stage.attention.name])
        memory = self.encoder_norm(states)  # [batch, source, width]
        states = self.target
        for stage in self.decoder:
            name = stage.attention.name
            states = stage(states, memory if name.site == "cross" else states, own[name])
        return self.decoder_norm(states)


@dataclass(eq=False)
class _Stage:
    """One attention and what follows it up to the next, with what they gave last.

    Args:
        attention, residual: the sublayer and its wrapping.
        visible: which keys are real [batch, key], None when all are.
        after: the feed-forward sublayer where it follows.
    """

    attention: MultiHeadAttention
    residual: nn.Module
    visible: Tensor | None
    after: Callable[[Tensor], Tensor] = lambda states: states

    def __post_init__(self) -> None:
        """Start with nothing kept."""
        self.inputs: tuple[Tensor, Tensor] | None = None
        self.context: Tensor | None = None  # [batch, token, head, head_width]
        self.result: tuple[Tensor, Tensor] | None = None  # gates, states that left
        self.keys_and_values = _Kept(self.attention.remembered)

    def __call__(self, entering: Tensor, memory: Tensor, gates: Tensor) -> Tensor:
        """Return what enters the next attention  # [batch, token, width].

        Args:
            entering: the residual stream [batch, token, width]
            memory: what is attended to, `entering` itself for self-attention
                [batch, key, width]
            gates: of the own heads, on the CPU [head]
        """
        if self.inputs is None or any(
            new is not old for new, old in zip((entering, memory), self.inputs, strict=True)
        ):
            self.inputs, self.context, self.result = (entering, memory), None, None
        if self.result is None or not torch.equal(gates, self.result[0]):
            states = self.residual(entering, lambda x: self._attend(x, gates))
            self.result = (gates, self.after(states))
        return self.result[1]

    def _attend(self, x: Tensor, gates: Tensor) -> Tensor:
        """Return the sublayer's output for its, maybe normalised, input  # like x."""
        attention = self.attention
        if not attention.ids:
            return attention(x, x, None)
        if self.context is None:
            self.context = self._context(x)
        return attention.merged(self.context, gates[None].to(x))

    def _context(self, x: Tensor) -> Tensor:
        """Return the heads' ungated outputs  # [batch, token, head, head_width]."""
        attention = self.attention
        assert self.inputs is not None
        entering, memory = self.inputs
        if entering is memory:
            parts = attention.projected(x, x)  # each [batch, head, token, head_width]
        else:
            parts = (attention.by_head(attention.query(x)), *self.keys_and_values(memory))
        causal = attention.name.site == "decoder"
        return attention.score.fused(*parts, self.visible, causal).transpose(1, 2)


def _encoder_stage(layer: EncoderLayer, batch: Batch) -> _Stage:
    def after(states: Tensor) -> Tensor:
        return layer.feed_forward_residual(states, layer.feed_forward)

    return _Stage(layer.attention, layer.attention_residual, batch.source.visible, after)


def _decoder_stages(layer: DecoderLayer, batch: Batch) -> tuple[_Stage, _Stage]:
    def after(states: Tensor) -> Tensor:
        return layer.feed_forward_residual(states, layer.feed_forward)

    return (
        _Stage(layer.self_attention, layer.self_residual, batch.target.visible),
        _Stage(layer.cross_attention, layer.cross_residual, batch.source.visible, after),
    )
