"""A network's decoder made ready for single steps.

Weights are copied once a search into the layout that matrix products read fastest (input
features first), with query, key and value projections merged into one. The vocabulary is
filled up to whole blocks, through which `ranking.best` looks for the largest entries.
"""

from __future__ import annotations

import copy
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..network import DecoderLayer, Network
from .cache import Buffer, rounded_up
from .ranking import BLOCK, largest
from .screening import WORTH, Screen

Versions = tuple[tuple[int, int], ...]


class Projections:
    """Several linear maps of the same input as one matrix product."""

    def __init__(self, *maps: nn.Linear) -> None:
        self.weight = input_first(torch.cat([one.weight for one in maps]))  # [features, width]
        self.bias = torch.cat([one.bias for one in maps])  # [features]

    def __call__(self, states: Tensor) -> Tensor:
        """Return all outputs side by side  # [sentence, token, features]."""
        return F.linear(states, self.weight, self.bias)


class PreparedDecoder:
    """A network's decoder made ready for single steps, and the room in which they work.

    It is made once a search. Its buffers are used again by every batch: on a fresh page of
    memory the first touch costs more than the arithmetic that follows.
    """

    def __init__(self, network: Network) -> None:
        self.network = network = _working_copy(network)
        self.layers = [PreparedLayer(layer) for layer in network.decoder]
        self.table = network.output_table.t().contiguous()  # [width, vocabulary]
        room = rounded_up(self.table.shape[1], BLOCK)
        self.buffers = self.table.new_empty(2, 0, room)  # [.., row, vocabulary]
        own = network.output_table
        self.screen = Screen(own) if Screen.serves(own) else None

    def with_own_buffers(self) -> PreparedDecoder:
        """Return a decoder with the same weights for another thread."""
        other = copy.copy(self)
        other.layers = [copy.copy(layer) for layer in self.layers]
        for layer in other.layers:
            layer.buffer = Buffer(layer.buffer.halves[0])
        other.buffers = self.buffers.new_empty(2, 0, self.buffers.shape[2])
        return other

    def logits(self, states: Tensor) -> Tensor:
        """Return the logits of the next token, in a buffer that the next call overwrites.

        Args:
            states: [sentence, hypothesis, width]

        Returns:
            The vocabulary is filled up to a multiple of `BLOCK` with entries of -inf
            [sentence, hypothesis, vocabulary].
        """
        rows = self._rows(states)  # [row, width]
        logits = self._room(rows)  # [row, vocabulary]
        torch.mm(rows, self.table, out=logits[:, : self.table.shape[1]])
        return logits.view(*states.shape[:2], -1)

    def most_probable(self, states: Tensor, banned: list[int]) -> Tensor:
        """Return the most probable next token of every row but for the banned ones  # [row].

        Args:
            states: [row, hypothesis, width] with one hypothesis
            banned: tokens that may not come.
        """
        if self.screen and len(states) >= WORTH:
            rows = self._rows(states)  # [row, width]
            return self.screen.best(rows, banned)
        logits = self.logits(states)[:, 0]  # [row, vocabulary]
        logits[:, banned] = float("-inf")
        return largest(logits)[1]

    def _rows(self, states: Tensor) -> Tensor:
        """Return what meets the output table  # [row, width]."""
        return self.network.decoder_norm(states).flatten(0, 1)

    def _room(self, rows: Tensor) -> Tensor:
        """Return room for the logits of rows, -inf beyond the vocabulary  # [row, vocabulary]."""
        _, most, room = self.buffers.shape
        if most < len(rows):
            self.buffers = rows.new_full((2, len(rows), room), float("-inf"))
        return self.buffers[0, : len(rows)]

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """Return log P in nats of `logits`, in a buffer that the next call overwrites."""
        log_p = self.spare(logits)
        torch.log_softmax(logits, dim=-1, out=log_p)
        return log_p

    def log_total(self, logits: Tensor, largest: Tensor) -> Tensor:
        """Return log sum over the vocabulary of exp(logits - largest).

        Args:
            logits: [row, vocabulary]
            largest: the largest of each row, so that nothing overflows [row]

        Returns:
            In nats  # [row]
        """
        above = torch.sub(logits, largest[:, None], out=self.spare(logits))
        return above.exp_().sum(-1).log()

    def spare(self, logits: Tensor) -> Tensor:
        """Return a second buffer, shaped like logits that `logits` has returned."""
        return self.buffers[1, : logits[..., 0].numel()].view_as(logits)


class PreparedLayer:
    """One decoder layer with merged projections and the buffer of its cache."""

    def __init__(self, layer: nn.Module) -> None:
        assert isinstance(layer, DecoderLayer)
        self.layer = layer
        for part in layer.modules():
            if isinstance(part, nn.Linear):
                part.weight = nn.Parameter(input_first(part.weight), requires_grad=False)
        own, cross = layer.self_attention, layer.cross_attention
        self.own = Projections(own.query, own.key, own.value)
        self.source = Projections(cross.key, cross.value)
        self.buffer = Buffer(own.output.bias.detach())


# What was prepared last for a network, with the versions of the weights it was made from.
_prepared: WeakKeyDictionary[Network, tuple[Versions, PreparedDecoder]] = WeakKeyDictionary()


def prepared(network: Network) -> PreparedDecoder:
    """Return the network's decoder made ready, made anew only when its weights have changed.

    Many gate masks or many single sentences are many searches with the same weights. Every
    caller gets buffers of its own. Weights that are being trained are read anew every time,
    because fused optimisers change them without counting it.
    """
    if any(weight.requires_grad for weight in network.parameters()):
        _prepared.pop(network, None)
        return PreparedDecoder(network)
    versions = _versions(network)
    made = _prepared.get(network)
    if made is None or made[0] != versions:
        made = _prepared[network] = (versions, PreparedDecoder(network))
    return made[1].with_own_buffers()


def _versions(network: Network) -> Versions:
    """Return for every weight where it lies and how often it was written in place."""
    weights = (*network.parameters(), *network.buffers())
    return tuple((weight.data_ptr(), weight._version) for weight in weights)


def _working_copy(network: Network) -> Network:
    """Return a copy in evaluation mode with the same weights; activations work in place."""
    copied = network.with_same_weights()
    for part in copied.modules():
        if isinstance(part, nn.ReLU):
            part.inplace = True
    return copied.eval()


def input_first(weight: Tensor) -> Tensor:
    """Return the same matrix [output, input], stored with the input features outermost.

    `x @ weight.T` then reads both factors row by row: 10 to 20 % faster for the few rows
    of a decoding step.
    """
    return weight.detach().t().contiguous().t()
