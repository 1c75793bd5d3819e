"""Where a decoder layer keeps the keys and values of the prefixes."""

from __future__ import annotations

from torch import Tensor

SLOTS = 16


class Buffer:
    """Memory that outlives the batch: the first touch of a fresh page is what costs."""

    def __init__(self, like: Tensor) -> None:
        self.values = like.new_empty(0)

    def grow(self, size: int) -> None:
        """Make it larger; what it held stays with the views of it."""
        self.values = self.values.new_zeros(size)


class Cache:
    """Keys and values of all prefixes: room that doubles when full, slots that never move.

    Slots are read in multiples of `SLOTS`, those not yet written being finite and masked:
    matrix products of a few rows and columns have no fast kernel.

    Args:
        buffer: where to keep them.
        sentences, heads, head_width: axes of keys and values.
    """

    def __init__(self, buffer: Buffer, sentences: int, heads: int, head_width: int) -> None:
        self.buffer = buffer
        self.heads = heads
        self.head_width = head_width
        self.used = 0
        self.slots = self._room(sentences)  # [key or value, sentence, head, slot, head_width]
        self.keys, self.values = self.slots[:, :, :, :0].unbind()  # what is read

    def append(self, newest: Tensor) -> tuple[Tensor, Tensor]:
        """Write a slot a hypothesis; return all keys and all values so far.

        Args:
            newest: keys and values of the newest position
                [key or value, sentence, head, hypothesis, head_width]

        Returns:
            Views of the cache  # each [sentence, head, slot, head_width]
        """
        start, self.used = self.used, self.used + newest.shape[3]
        if self.used > self.keys.shape[2]:
            self._read(rounded_up(self.used, SLOTS), start)
        self.slots[:, :, :, start : self.used] = newest
        return self.keys, self.values

    def keep(self, sentences: Tensor) -> None:
        """Forget all sentences but these [sentence]."""
        kept = self.slots[:, sentences, :, : self.used]
        self.slots = self._room(len(sentences))
        self.slots[:, :, :, : self.used] = kept
        self._read(rounded_up(self.used, SLOTS), self.used)

    def _read(self, slots: int, written: int) -> None:
        """Read the first slots, in more room if need be, with those that are written."""
        old = self.slots
        if slots > old.shape[3]:
            sentences = old.shape[1]
            self.buffer.grow(2 * slots * self._slot(sentences))
            self.slots = self._room(sentences)
            self.slots[:, :, :, :written] = old[:, :, :, :written]
        self.keys, self.values = self.slots[:, :, :, :slots].unbind()

    def _room(self, sentences: int) -> Tensor:
        """Lay as many slots as fit into the buffer, whatever they hold."""
        slot, values = self._slot(sentences), self.buffer.values
        slots = len(values) // max(slot, 1) // SLOTS * SLOTS
        return values[: slots * slot].view(2, sentences, self.heads, slots, self.head_width)

    def _slot(self, sentences: int) -> int:
        """Return how many values one slot holds."""
        return 2 * sentences * self.heads * self.head_width


def rounded_up(number: int, block: int) -> int:
    """Return the smallest multiple of `block` that is not below `number`."""
    return -(-number // block) * block
