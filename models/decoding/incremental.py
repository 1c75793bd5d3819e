"""One decoder step at a time: what was computed once is kept.

A teacher-forced forward computes all target positions together. A search does not know its
tokens beforehand; it asks for one position at a time, and everything that later positions
need of the earlier ones (their keys and values) is kept in caches.

Two decisions make the steps cheap:

- Encoder keys and values are computed once a sentence. All hypotheses of a sentence attend
  to them as query rows of the same matrix product: [sentence, head, hypothesis, source].
- The prefix cache is a tree, not a table. A step writes one slot a hypothesis, and a slot
  once written is never moved. When hypotheses are continued, dropped or split, only the
  record of who descends from which slot changes; as a mask it hides the other branches.
  So a beam step copies no keys and no values, whatever the permutation of its hypotheses.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from ..attention import MultiHeadAttention
from ..batch import Tokens
from ..gates import Attention
from .cache import SLOTS, Cache, rounded_up
from .prepared import PreparedDecoder, PreparedLayer


class Prefixes:
    """All target prefixes of a batch of sentences, and the step that extends them.

    Args:
        decoder: the prepared decoder.
        memory: the encoder's output [sentence, source, width]
        source: the source tokens, for their padding mask
        gates: head gates [1 or sentence, head], None for open ones
    """

    def __init__(
        self, decoder: PreparedDecoder, memory: Tensor, source: Tokens, gates: Tensor | None
    ) -> None:
        self.decoder = decoder
        self.gates = decoder.network.split_gates(gates, len(source))
        self.length = 0
        self.layers = [LayerState(layer, memory) for layer in decoder.layers]
        hidden = None if source.visible is None else ~source.visible[:, None, None, :]
        self.source_mask = None if hidden is None else additive(hidden, memory.dtype)
        # -inf at slots of other branches and at slots not yet written; while all sentences
        # have one branch, one row tells it for all  # [1 or sentence, hypothesis, slot]
        self.strangers = memory.new_zeros(1, 1, 0)
        self.used = 0

    def step(self, tokens: Tensor) -> Tensor:
        """Append one token to every prefix and return the log P of what may come next.

        Args:
            tokens: ids [sentence, hypothesis]; BOS in the first step.

        Returns:
            As `PreparedDecoder.log_probabilities` gives them
            [sentence, hypothesis, vocabulary].
        """
        return self.decoder.log_probabilities(self.logits(tokens))

    def logits(self, tokens: Tensor) -> Tensor:
        """Do the same without normalising, see `PreparedDecoder.logits`."""
        return self.decoder.logits(self.states(tokens))

    def most_probable(self, tokens: Tensor, banned: list[int]) -> Tensor:
        """Do the same, but say only the token, see `PreparedDecoder.most_probable`  # [row]."""
        return self.decoder.most_probable(self.states(tokens), banned)

    def states(self, tokens: Tensor) -> Tensor:
        """Append one token to every prefix  # [sentence, hypothesis, width]."""
        network = self.decoder.network
        sentences, hypotheses = tokens.shape
        states = network.embed_target(tokens.view(-1, 1), start=self.length)
        states = states.view(sentences, hypotheses, -1)  # [sentence, hypothesis, width]
        mask = self._admit(hypotheses)  # [sentence, 1, hypothesis, slot]
        for layer in self.layers:
            states = layer.step(states, mask, self.source_mask, self.gates)
        self.length += 1
        return states

    def follow(self, parents: Tensor) -> None:
        """Let each new hypothesis descend from an old one [sentence, hypothesis]."""
        slots = self.strangers.shape[2]
        before = self.strangers.expand(len(parents), -1, -1)
        self.strangers = before.gather(1, parents[..., None].expand(-1, -1, slots))

    def keep(self, sentences: Tensor) -> None:
        """Forget all sentences but these [sentence]."""
        if len(self.strangers) > 1:
            self.strangers = self.strangers[sentences]
        if self.source_mask is not None:
            self.source_mask = self.source_mask[sentences]
        self.gates = {
            name: gate if len(gate) == 1 else gate[sentences] for name, gate in self.gates.items()
        }
        for layer in self.layers:
            layer.keep(sentences)

    @property
    def cached_bytes(self) -> int:
        """How much the keys and values take that are remembered now, room to grow left out."""
        return sum(layer.cached_bytes for layer in self.layers)

    def _admit(self, hypotheses: int) -> Tensor:
        """Open one slot a hypothesis and return the mask  # [sentence, 1, hypothesis, slot]."""
        start, self.used = self.used, self.used + hypotheses
        missing = rounded_up(self.used, SLOTS) - self.strangers.shape[2]
        if missing:
            self.strangers = F.pad(self.strangers, (0, missing), value=float("-inf"))
        self.strangers[..., start : self.used].diagonal(dim1=1, dim2=2).zero_()
        return self.strangers[:, None]


class LayerState:
    """What one decoder layer remembers of the sources and of the prefixes.

    Args:
        prepared: the layer's weights.
        memory: the encoder's output [sentence, source, width]
    """

    def __init__(self, prepared: PreparedLayer, memory: Tensor) -> None:
        self.prepared = prepared
        own = prepared.layer.self_attention
        self.prefix = Cache(prepared.buffer, len(memory), len(own.ids), own.head_width)
        # Contiguous now, or every step would make them so.
        self.source = tuple(
            part.contiguous()
            for part in by_role(prepared.layer.cross_attention, prepared.source(memory))
        )  # keys and values, each [sentence, head, source, head_width]

    def step(
        self,
        states: Tensor,
        mask: Tensor | None,
        source_mask: Tensor | None,
        gates: dict[Attention, Tensor],
    ) -> Tensor:
        """Return the next layer's input  # [sentence, hypothesis, width]."""
        layer = self.prepared.layer
        own, cross = layer.self_attention, layer.cross_attention

        def attend_prefix(x: Tensor) -> Tensor:
            if not own.ids:
                return own.output.bias.expand_as(x)
            roles = by_role(own, self.prepared.own(x))
            query, (keys, values) = roles[0], self.prefix.append(roles[1:])
            return attend(own, query, keys, values, mask, gates)

        def attend_source(x: Tensor) -> Tensor:
            if not cross.ids:
                return cross.output.bias.expand_as(x)
            query = by_role(cross, cross.query(x))[0]
            keys, values = self.source
            return attend(cross, query, keys, values, source_mask, gates)

        states = layer.self_residual(states, attend_prefix)
        states = layer.cross_residual(states, attend_source)
        return layer.feed_forward_residual(states, layer.feed_forward)

    @property
    def cached_bytes(self) -> int:
        """Bytes of the keys and values of the source, and of the prefixes so far."""
        prefix = self.prefix.slots[:, :, :, : self.prefix.used]
        return sum(part.nbytes for part in (*self.source, prefix))

    def keep(self, sentences: Tensor) -> None:
        """Forget all sentences but these [sentence]."""
        self.source = tuple(part[sentences] for part in self.source)
        self.prefix.keep(sentences)


def attend(
    attention: MultiHeadAttention,
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None,
    gates: dict[Attention, Tensor],
) -> Tensor:
    """Return the sublayer's output for the newest positions  # [sentence, hypothesis, width]."""
    context = attention.score.newest(query, keys, values, mask)
    return attention.merged(context.transpose(1, 2), gates.get(attention.name))


def by_role(attention: MultiHeadAttention, features: Tensor) -> Tensor:
    """Split merged projections [sentence, token, features] by role and head.

    Returns:
        Queries, keys and values, or those of them that were projected
        # [role, sentence, head, token, head_width]
    """
    sentences, tokens, width = features.shape
    heads, head_width = len(attention.ids), attention.head_width
    roles = width // max(heads * head_width, 1)
    return features.view(sentences, tokens, roles, heads, head_width).permute(2, 0, 3, 1, 4)


def additive(hidden: Tensor, dtype: torch.dtype) -> Tensor:
    """Return 0 where something may be seen and -inf where it is hidden, any shape."""
    zeros = torch.zeros(hidden.shape, dtype=dtype, device=hidden.device)
    return zeros.masked_fill_(hidden, float("-inf"))
