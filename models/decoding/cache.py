"""Where a decoder layer keeps the keys and values of the prefixes."""

from __future__ import annotations

import math

from torch import Tensor

SLOTS = 16


class Buffer:
    """Memory that outlives the batch: the first touch of a fresh page is what costs.

    It has two halves that take turns, so that what moves is read from one and written to the
    other.
    """

    def __init__(self, like: Tensor) -> None:
        self.halves = [like.new_empty(0), like.new_empty(0)]

    def other_half(self, size: int) -> Tensor:
        """Return room for so many values, finite ones, where the last room was not."""
        self.halves.reverse()
        if len(self.halves[0]) < size:
            self.halves[0] = self.halves[0].new_zeros(size)
        return self.halves[0][:size]


class Cache:
    """Keys and values of all prefixes, in slots that never change places.

    Slots are read in multiples of `SLOTS`, those not yet written being finite and masked:
    matrix products of a few rows and columns have no fast kernel. There is room for those of
    the next `SLOTS` tokens and no more: keys that lie one behind the other are read 1.5 times
    as fast as keys with gaps between the heads, and moving all of them when there is no more
    room costs little beside reading all of them for every token.

    Args:
        buffer: where to keep them.
        sentences, heads, head_width: axes of keys and values.
    """

    def __init__(self, buffer: Buffer, sentences: int, heads: int, head_width: int) -> None:
        self.buffer = buffer
        self.heads = heads
        self.head_width = head_width
        self.used = 0
        self.slots = self._room(sentences, 0)  # [key or value, sentence, head, slot, head_width]
        self.keys, self.values = self.slots.unbind()  # what is read

    def append(self, newest: Tensor) -> tuple[Tensor, Tensor]:
        """Write a slot a hypothesis; return all keys and all values so far.

        Args:
            newest: keys and values of the newest position
                [key or value, sentence, head, hypothesis, head_width]

        Returns:
            Views of the cache  # each [sentence, head, slot, head_width]
        """
        hypotheses = newest.shape[3]
        start, self.used = self.used, self.used + hypotheses
        if self.used > self.slots.shape[3]:
            old = self.slots[:, :, :, :start]
            self.slots = self._room(old.shape[1], rounded_up(self.used, SLOTS * hypotheses))
            self.slots[:, :, :, :start] = old
        self.slots[:, :, :, start : self.used] = newest
        if self.used > self.keys.shape[2]:
            self._read()
        return self.keys, self.values

    def keep(self, sentences: Tensor) -> None:
        """Forget all sentences but these [sentence]."""
        kept = self.slots[:, sentences, :, : self.used]
        self.slots = self._room(len(sentences), self.slots.shape[3])
        self.slots[:, :, :, : self.used] = kept
        self._read()

    def _read(self) -> None:
        """Read whole multiples of `SLOTS`."""
        self.keys, self.values = self.slots[:, :, :, : rounded_up(self.used, SLOTS)].unbind()

    def _room(self, sentences: int, slots: int) -> Tensor:
        """Return room for so many slots, whatever they hold."""
        shape = (2, sentences, self.heads, slots, self.head_width)
        return self.buffer.other_half(math.prod(shape)).view(shape)


def rounded_up(number: int, block: int) -> int:
    """Return the smallest multiple of `block` that is not below `number`."""
    return -(-number // block) * block
