"""The encoder and one decoder step as functions from tensors to tensors, to be traced.

    encoder:  source, visible                        -> source keys and values
    step:     token, position, visible, source keys
              and values, prefix keys and values     -> logits, prefix with one more slot

What every step needs of the source are the keys and values of the cross-attentions, so the
encoder returns these and not its states. A step appends to the keys and values of the decoder's
self-attentions. A sublayer without heads has neither: it adds its bias, and stands in no list
of inputs or outputs. So every tensor is as small as its own layer.

The weights are the network's own; only what holds caches is written again here.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from ..attention import MultiHeadAttention
from ..decoding.incremental import additive, attend
from ..network import DecoderLayer, EncoderLayer, Network


class EncoderGraph(nn.Module):
    """From source tokens to the keys and values of every cross-attention that has heads."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(self, source: Tensor, visible: Tensor) -> list[Tensor]:
        """Return keys and values, layer by layer.

        Args:
            source: ids, EOS included [batch, source]
            visible: True where a token is real [batch, source]

        Returns:
            # each [batch, head, source, head_width]
        """
        network = self.network
        place = torch.arange(source.shape[1], device=source.device)
        positions = _table(network.source_positions)[place]  # [source, width]
        states = network.source_embedding(source) + positions  # [batch, source, width]
        mask = additive(~visible[:, None, None, :], states.dtype)
        for layer in network.encoder:
            assert isinstance(layer, EncoderLayer)
            states = layer.attention_residual(states, _Own(layer.attention, mask))
            states = layer.feed_forward_residual(states, layer.feed_forward)
        memory = network.encoder_norm(states)  # [batch, source, width]
        crosses = [it for name, it in network.attentions.items() if name.site == "cross"]
        return [part for it in crosses if it.ids for part in it.remembered(memory)]


class StepGraph(nn.Module):
    """From the last token of every sentence to the logits of the next one."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(
        self,
        token: Tensor,
        position: Tensor,
        visible: Tensor,
        source: list[Tensor],
        prefix: list[Tensor],
    ) -> tuple[Tensor, list[Tensor]]:
        """Do one step.

        Args:
            token: ids [batch, 1]
            position: of these tokens, 0 for BOS [1]
            visible: True where a source token is real [batch, source]
            source: what the encoder returned
            prefix: keys and values of the tokens before, of every decoder self-attention that
                has heads; no slot before the first step
                # each [batch, head, slot, head_width]

        Returns:
            Logits [batch, vocabulary], and `prefix` with one more slot.
        """
        network = self.network
        positions = _table(network.target_positions)[position]  # [1, width]
        states = network.target_embedding(token) + positions  # [batch, 1, width]
        mask = additive(~visible[:, None, None, :], states.dtype)
        sources, prefixes = iter(source), iter(prefix)
        grown: list[Tensor] = []
        for layer in network.decoder:
            assert isinstance(layer, DecoderLayer)
            own, cross = layer.self_attention, layer.cross_attention
            states = layer.self_residual(states, _Own(own, None, prefixes, grown))
            states = layer.cross_residual(states, _Cross(cross, mask, sources))
            states = layer.feed_forward_residual(states, layer.feed_forward)
        return network.project(network.decoder_norm(states))[:, 0], grown


class _Own:
    """Self-attention of the tokens of one call, and of those whose keys are given.

    Args:
        attention: the sublayer.
        mask: 0 or -inf, None where everything may be seen.
        prefixes: gives keys and values of earlier tokens, if any.
        grown: takes all keys and values.
    """

    def __init__(
        self,
        attention: MultiHeadAttention,
        mask: Tensor | None,
        prefixes: Iterator[Tensor] | None = None,
        grown: list[Tensor] | None = None,
    ) -> None:
        self.attention, self.mask = attention, mask
        self.prefixes, self.grown = prefixes, grown

    def __call__(self, states: Tensor) -> Tensor:
        """Return the sublayer's output  # [batch, token, width]."""
        attention = self.attention
        if not attention.ids:
            return attention.output.bias.expand_as(states)
        query, keys, values = attention.projected(states, states)
        if self.prefixes is not None:
            keys = torch.cat((next(self.prefixes), keys), dim=2)
            values = torch.cat((next(self.prefixes), values), dim=2)
        if self.grown is not None:
            self.grown += (keys, values)
        return attend(attention, query, keys, values, self.mask, {})


class _Cross:
    """Attention to the source, whose keys and values are given."""

    def __init__(
        self, attention: MultiHeadAttention, mask: Tensor, sources: Iterator[Tensor]
    ) -> None:
        self.attention, self.mask, self.sources = attention, mask, sources

    def __call__(self, states: Tensor) -> Tensor:
        """Return the sublayer's output  # [batch, 1, width]."""
        attention = self.attention
        if not attention.ids:
            return attention.output.bias.expand_as(states)
        query = attention.by_head(attention.query(states))
        return attend(attention, query, next(self.sources), next(self.sources), self.mask, {})


def _table(positions: nn.Module) -> Tensor:
    """Return the vectors of all positions  # [token, width]."""
    table = positions.table
    assert isinstance(table, Tensor)
    return table
