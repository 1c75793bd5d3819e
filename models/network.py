"""The encoder-decoder Transformer of Vaswani et al. 2017, with a gate on every head.

    encoder:  x = embed(source);  each layer: attend to the source, transform
    decoder:  y = embed(target);  each layer: attend to the prefix, to the encoder, transform
    logits = y E'

Parts are chosen by name from their families (position encoding, score, norm and its place,
feed-forward, initialisation), and every attention may have its own number of heads.
"""

from __future__ import annotations

import copy
import math
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from .attention import MultiHeadAttention
from .batch import Batch, Tokens
from .dropout import Dropout
from .errors import UsageError
from .feed_forward import feed_forward, gated
from .gates import Attention, HeadLayout
from .initialisation import initialisation
from .norms import norm, norm_place
from .positions import position_encoding
from .recorder import Recorder
from .settings import Settings
from .units import FeedForward, UnitGates, UnitLayout


class NetworkSettings(Settings):
    """The shape and the parts of a network.

    Args:
        width: features of the residual stream (d_model).
        feed_forward_width: features inside the feed-forward network (d_ff).
        encoder_layers, decoder_layers: depth of the two stacks.
        heads: heads of every attention before any is removed.
        head_width: features of one head (d_k = d_v); width / heads when not given.
        dropout: rate after every sublayer and after the sum of embedding and position.
        tie: `none`; `target` shares the decoder's embedding with the output projection;
            `all` shares the encoder's too and needs a joint vocabulary.
        max_positions: the longest sentence in tokens.
    """

    width: int = Field(default=256, ge=1)
    feed_forward_width: int = Field(default=1024, ge=1)
    encoder_layers: int = Field(default=3, ge=1)
    decoder_layers: int = Field(default=3, ge=1)
    heads: int = Field(default=8, ge=1)
    head_width: int | None = Field(default=None, ge=1)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    positions: str = "sinusoidal"
    score: str = "scaled_dot"
    norm: str = "layer"
    norm_place: str = "post"
    feed_forward: str = "relu"
    initialisation: str = "xavier"
    tie: Literal["none", "target", "all"] = "all"
    max_positions: int = Field(default=1024, ge=1)

    def width_of_head(self) -> int:
        """Return d_k.

        Raises:
            UsageError: no head width is given and the heads do not divide the width.
        """
        if self.head_width is not None:
            return self.head_width
        if self.width % self.heads:
            raise UsageError(
                f"width {self.width} cannot be divided by {self.heads} heads: "
                "choose a divisor, or give head_width"
            )
        return self.width // self.heads

    def full_layout(self) -> HeadLayout:
        """Return the layout before any head is removed."""
        depth = {"encoder": self.encoder_layers, "decoder": self.decoder_layers}
        return HeadLayout.full({**depth, "cross": self.decoder_layers}, self.heads)

    def full_units(self) -> UnitLayout:
        """Return the feed-forward units before any is removed."""
        depth = {"encoder": self.encoder_layers, "decoder": self.decoder_layers}
        return UnitLayout.full(depth, self.feed_forward_width)


class Embedding(nn.Module):
    """A table of token vectors, scaled by sqrt(width) on the way in (section 3.4).

    Pitfall: where `tie` is `all`, source and target are looked up in one and the same module.
    captum's layer and embedding methods hook a module and keep one of its calls, so their
    attributions are wrong there without a word; `headcount relevance` keeps the two apart.
    """

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        self.scale = math.sqrt(width)
        self.table = nn.Parameter(torch.empty(vocabulary, width))

    def forward(self, ids: Tensor) -> Tensor:
        """Look up ids [batch, token]  # [batch, token, width]."""
        return F.embedding(ids, self.table) * self.scale


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each in its residual."""

    def __init__(
        self, settings: NetworkSettings, layout: HeadLayout, units: UnitLayout, layer: int
    ) -> None:
        super().__init__()
        self.attention = _attention(settings, layout, "encoder", layer)
        self.feed_forward = _feed_forward(settings, units, "encoder", layer)
        self.attention_residual = _residual(settings)
        self.feed_forward_residual = _residual(settings)

    def forward(
        self,
        states: Tensor,
        visible: Tensor | None,
        gates: Tensor | None,
        recorder: Recorder | None,
        unit_gates: Tensor | None = None,
    ) -> Tensor:
        """Return the next layer's input  # [batch, source, width]."""

        def attend(x: Tensor) -> Tensor:
            return self.attention(x, x, visible, gates=gates, recorder=recorder)

        states = self.attention_residual(states, attend)
        return self.feed_forward_residual(states, gated(self.feed_forward, unit_gates))


class DecoderLayer(nn.Module):
    """Causal self-attention, cross-attention, feed-forward, each in its residual."""

    def __init__(
        self, settings: NetworkSettings, layout: HeadLayout, units: UnitLayout, layer: int
    ) -> None:
        super().__init__()
        self.self_attention = _attention(settings, layout, "decoder", layer)
        self.cross_attention = _attention(settings, layout, "cross", layer)
        self.feed_forward = _feed_forward(settings, units, "decoder", layer)
        self.self_residual = _residual(settings)
        self.cross_residual = _residual(settings)
        self.feed_forward_residual = _residual(settings)

    def forward(
        self,
        states: Tensor,
        memory: Tensor,
        own_visible: Tensor | None,
        visible: Tensor | None,
        own_gates: Tensor | None,
        gates: Tensor | None,
        recorder: Recorder | None,
        unit_gates: Tensor | None = None,
    ) -> Tensor:
        """Return the next layer's input  # [batch, target, width]."""
        own, cross = self.self_attention, self.cross_attention

        def attend_prefix(x: Tensor) -> Tensor:
            return own(x, x, own_visible, causal=True, gates=own_gates, recorder=recorder)

        def attend_memory(x: Tensor) -> Tensor:
            return cross(x, memory, visible, gates=gates, recorder=recorder)

        states = self.self_residual(states, attend_prefix)
        states = self.cross_residual(states, attend_memory)
        return self.feed_forward_residual(states, gated(self.feed_forward, unit_gates))


class Network(nn.Module):
    """The whole network; how it learns, searches and is saved is told elsewhere.

    Args:
        settings: shape and parts.
        layout: which heads it has; `settings.full_layout()` for an uncut network.
        source_vocabulary, target_vocabulary: entries of the vocabularies.
        units: which feed-forward units it has; None for all.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        layout: HeadLayout,
        source_vocabulary: int,
        target_vocabulary: int,
        units: UnitLayout | None = None,
    ) -> None:
        super().__init__()
        settings.width_of_head()
        self.settings = settings
        self.layout = layout
        self.units = units = settings.full_units() if units is None else units
        self.target_embedding = Embedding(target_vocabulary, settings.width)
        self.source_embedding = (
            self.target_embedding
            if settings.tie == "all"
            else Embedding(source_vocabulary, settings.width)
        )
        self.projection_table = (
            nn.Parameter(torch.empty(target_vocabulary, settings.width))
            if settings.tie == "none"
            else None
        )
        positions = position_encoding[settings.positions]
        self.source_positions = positions(settings.width, settings.max_positions)
        self.target_positions = positions(settings.width, settings.max_positions)
        self.dropout = Dropout(settings.dropout)
        self.encoder = nn.ModuleList(
            EncoderLayer(settings, layout, units, layer) for layer in range(settings.encoder_layers)
        )
        self.decoder = nn.ModuleList(
            DecoderLayer(settings, layout, units, layer) for layer in range(settings.decoder_layers)
        )
        self.encoder_norm = _final_norm(settings)
        self.decoder_norm = _final_norm(settings)
        if settings.tie == "all" and source_vocabulary != target_vocabulary:
            raise UsageError("tie = 'all' needs a joint vocabulary: set vocabulary.joint = true")

    def initialise(self, generator: torch.Generator) -> Network:
        """Fill all weights from `generator` and return the network."""
        with torch.no_grad():
            initialisation[self.settings.initialisation](self, generator)
        return self

    def with_same_weights(self) -> Network:
        """Return a network of modules of its own that has these very weights, not copies."""
        return copy.deepcopy(self, {id(it): it for it in (*self.parameters(), *self.buffers())})

    @property
    def attentions(self) -> dict[Attention, MultiHeadAttention]:
        """Every attention sublayer by its name."""
        return {it.name: it for it in self.modules() if isinstance(it, MultiHeadAttention)}

    @property
    def output_table(self) -> Tensor:
        """The matrix that turns the last state into logits  # [vocabulary, width]."""
        table = self.projection_table
        return self.target_embedding.table if table is None else table

    def encode(
        self,
        source: Tokens,
        gates: Tensor | None = None,
        recorder: Recorder | None = None,
        units: UnitGates | None = None,
    ) -> Tensor:
        """Return the encoder's output  # [batch, source, width]."""
        by_attention = self.split_gates(gates, len(source))
        states = self.embed_source(source.ids)
        for number, layer in enumerate(self.encoder):
            _record_state(recorder, "encoder", states)
            unit_gates = units[FeedForward("encoder", number)] if units else None
            own_gates = by_attention.get(Attention("encoder", number))
            states = layer(states, source.visible, own_gates, recorder, unit_gates)
        return _ended(self.encoder_norm, states, recorder, "encoder")

    def decode(
        self,
        target: Tokens,
        memory: Tensor,
        source: Tokens,
        gates: Tensor | None = None,
        recorder: Recorder | None = None,
        units: UnitGates | None = None,
    ) -> Tensor:
        """Return the decoder's output under teacher forcing  # [batch, target, width]."""
        by_attention = self.split_gates(gates, len(target))
        states = self.embed_target(target.ids)
        masks = (target.visible, source.visible)
        for number, layer in enumerate(self.decoder):
            _record_state(recorder, "decoder", states)
            unit_gates = units[FeedForward("decoder", number)] if units else None
            both = (by_attention.get(Attention(site, number)) for site in ("decoder", "cross"))
            states = layer(states, memory, *masks, *both, recorder, unit_gates)
        return _ended(self.decoder_norm, states, recorder, "decoder")

    def forward(
        self,
        batch: Batch,
        gates: Tensor | None = None,
        recorder: Recorder | None = None,
        units: UnitGates | None = None,
    ) -> Tensor:
        """Return the decoder's last states, not yet logits  # [batch, target, width].

        Args:
            gates: [1 or batch, head] in layout order; None is open gates, bit for bit.
            units: gates of the feed-forward units of every layer, each [1 or batch, unit];
                None is open gates, bit for bit.
        """
        memory = self.encode(batch.source, gates, recorder, units)
        return self.decode(batch.target, memory, batch.source, gates, recorder, units)

    def project(self, states: Tensor) -> Tensor:
        """Turn states into logits  # [batch, target, vocabulary]."""
        return F.linear(states, self.output_table)

    def embed_source(self, ids: Tensor) -> Tensor:
        """Return what enters the first encoder layer  # [batch, source, width]."""
        return self.dropout(self.source_embedding(ids) + self.source_positions(ids.shape[1]))

    def embed_target(self, ids: Tensor, start: int = 0) -> Tensor:
        """Return what enters the first decoder layer  # [batch, target, width].

        Args:
            start: the position of the first column of `ids`, for incremental decoding.
        """
        positions = self.target_positions(ids.shape[1], start)  # [target, width]
        return self.dropout(self.target_embedding(ids) + positions)

    def split_gates(self, gates: Tensor | None, sentences: int) -> dict[Attention, Tensor]:
        """Cut a gate matrix into one per attention  # each [1 or batch, head].

        Raises:
            UsageError: the matrix does not fit the model or the batch.
        """
        if gates is None:
            return {}
        table = self.output_table
        gates = self.layout.checked(gates, sentences).to(device=table.device, dtype=table.dtype)
        return {name: gates[:, columns] for name, columns in self.layout.slices.items()}


def _record_state(recorder: Recorder | None, side: str, states: Tensor) -> None:
    if recorder is not None:
        recorder.saw_state(side, states)


def _ended(norm: nn.Module, states: Tensor, recorder: Recorder | None, side: str) -> Tensor:
    """Return what leaves a stack; a final norm's input is recorded too, as the last layer's own."""
    if not isinstance(norm, nn.Identity):
        _record_state(recorder, side, states)
    states = norm(states)
    _record_state(recorder, side, states)
    return states


def _attention(
    settings: NetworkSettings, layout: HeadLayout, site: str, layer: int
) -> MultiHeadAttention:
    ids = layout.ids_at(site, layer)
    head_width = settings.width_of_head()
    name = Attention(site, layer)
    return MultiHeadAttention(name, settings.width, ids, head_width, settings.score)


def _feed_forward(settings: NetworkSettings, units: UnitLayout, side: str, layer: int) -> nn.Module:
    inner = len(units[FeedForward(side, layer)])
    return feed_forward[settings.feed_forward](settings.width, inner)


def _residual(settings: NetworkSettings) -> nn.Module:
    return norm_place[settings.norm_place](settings.norm, settings.width, settings.dropout)


def _final_norm(settings: NetworkSettings) -> nn.Module:
    if norm_place[settings.norm_place].ends_in_norm:
        return nn.Identity()
    return norm[settings.norm](settings.width)
