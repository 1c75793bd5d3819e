"""The numbers a probe reads: standardised states, block by block.

A probe compares layers, and layers differ in scale; the penalty would weigh them differently.
So every dimension is brought to mean 0 and variance 1 with the mean and variance of the
TRAINING examples, for all splits. Both are streamed (Chan, Golub & LeVeque 1979: blocks are
merged by their means and squared deviations, so nothing cancels).

A dimension that never varies in training says nothing: its scale is left at 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...models.errors import DataError

Rows = NDArray[np.int64]
BLOCK_BYTES = 1 << 25


@dataclass(frozen=True)
class Standard:
    """How states are brought to mean 0 and variance 1.

    Args:
        mean, scale: float64; the scale is the standard deviation  # each [feature]
    """

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @classmethod
    def of(cls, blocks: Iterator[NDArray[np.floating]], width: int) -> Standard:
        """Stream mean and variance over blocks of rows.

        Args:
            blocks: raw states  # each [row, feature]
            width: features.

        Raises:
            DataError: no rows, or states that are not finite.
        """
        count, mean, squares = 0, np.zeros(width), np.zeros(width)
        for block in blocks:
            rows = block.astype(np.float64)  # [row, feature]
            own = rows.mean(0)  # [feature]
            delta, total = own - mean, count + len(rows)
            squares += ((rows - own) ** 2).sum(0) + delta**2 * (count * len(rows) / total)
            mean += delta * (len(rows) / total)
            count = total
        if not count:
            raise DataError("no states to standardise with: the training split has no examples")
        if not (np.isfinite(mean).all() and np.isfinite(squares).all()):
            raise DataError("states are not finite (NaN or infinite); the model is damaged")
        scale = np.sqrt(squares / count)
        # What is left of rounding is not a deviation.
        flat = scale <= 1e-6 * np.maximum(1.0, np.abs(mean))
        return cls(mean, np.where(flat, 1.0, scale))


class Features:
    """A matrix of examples x features that is read in blocks.

    Each example is one row of `states`, or two rows side by side (a word and its head).

    Args:
        states: [row, width], in memory or mapped from disk.
        rows: the row of every example  # [example]
        partners: the second row of every example, if it has two  # [example]
        standard: how to standardise; None leaves the states as they are.
        block_bytes: float32 bytes a block.
    """

    def __init__(
        self,
        states: NDArray[np.floating],
        rows: Rows,
        partners: Rows | None = None,
        standard: Standard | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        self.states = states
        self.rows = rows
        self.partners = partners
        self.standard = standard
        self.block_bytes = block_bytes
        self._held: Tensor | None = None

    @classmethod
    def of(cls, matrix: NDArray[np.floating]) -> Features:
        """Return the rows of a matrix as examples, as they are."""
        return cls(matrix, np.arange(len(matrix)))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """Return the number of features."""
        return self.states.shape[1] * (1 if self.partners is None else 2)

    def select(self, examples: Rows) -> Features:
        """Return some of the examples, standardised as before."""
        partners = None if self.partners is None else self.partners[examples]
        rows = self.rows[examples]
        chosen = Features(self.states, rows, partners, self.standard, self.block_bytes)
        if self._held is not None:
            chosen._held = self._held[torch.from_numpy(examples)]
        return chosen

    def standardised(self, training: Rows) -> Features:
        """Return all examples, standardised with those of the training split."""
        raw = Features(self.states, self.rows, self.partners, None, self.block_bytes)
        standard = Standard.of(raw.select(training)._raw_blocks(), self.width)
        return Features(self.states, self.rows, self.partners, standard, self.block_bytes)

    def held(self, limit: int) -> Features:
        """Keep the matrix in memory as float32 if it has at most `limit` bytes; return self."""
        if self._held is None and len(self) * self.width * 4 <= limit:
            self._held = torch.cat(list(self.blocks())) if len(self) else None
        return self

    def blocks(self) -> Iterator[Tensor]:
        """Yield the examples in order  # each [example, feature], float32."""
        if self._held is not None:
            yield from self._held.split(self._block_rows)
            return
        for raw in self._raw_blocks():
            if self.standard is None:
                yield torch.from_numpy(raw.astype(np.float32))
            else:
                values = (raw - self.standard.mean) / self.standard.scale
                yield torch.from_numpy(values.astype(np.float32))

    def whole(self) -> NDArray[np.float32]:
        """Return the whole matrix  # [example, feature]."""
        parts = [block.numpy() for block in self.blocks()]
        return np.concatenate(parts) if parts else np.zeros((0, self.width), np.float32)

    @property
    def _block_rows(self) -> int:
        return max(1, self.block_bytes // (4 * self.width))

    def _raw_blocks(self) -> Iterator[NDArray[np.floating]]:
        for start in range(0, len(self), self._block_rows):
            chosen = slice(start, start + self._block_rows)
            parts: Sequence[NDArray[np.floating]] = [self.states[self.rows[chosen]]]
            if self.partners is not None:
                parts = [*parts, self.states[self.partners[chosen]]]
            yield np.concatenate(parts, axis=1)
