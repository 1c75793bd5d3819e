"""Sentences as padded tensors, with what is real and what is special kept beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Tokens:
    """One side of a batch.

    Args:
        ids: token ids, padded on the right  # [batch, token]
        real: True where a token is not padding  # [batch, token]
        ordinary: True where a token is neither padding nor BOS nor EOS  # [batch, token]
        full: whether it is known that nothing is padding, so that no mask is needed
    """

    ids: Tensor
    real: Tensor
    ordinary: Tensor
    full: bool = False

    @classmethod
    def padded(cls, sentences: Sequence[Sequence[int]], pad: int, special: set[int]) -> Tokens:
        """Pad id sequences on the right; `special` ids are BOS and EOS."""
        lengths = np.array([len(sentence) for sentence in sentences])  # [batch]
        real = np.arange(lengths.max()) < lengths[:, None]  # [batch, token]
        ids = np.full(real.shape, pad, dtype=np.int64)  # [batch, token]
        # At once: a GPU waits for whoever pads a thousand sentences one by one.
        ids[real] = np.fromiter(chain.from_iterable(sentences), np.int64, int(lengths.sum()))
        ordinary = real & ~np.isin(ids, sorted(special))  # [batch, token]
        parts = (torch.from_numpy(ids), torch.from_numpy(real), torch.from_numpy(ordinary))
        return cls(*parts, bool(real.all()))

    @property
    def visible(self) -> Tensor | None:
        """Return the padding mask that attention needs, None where it needs none."""
        return None if self.full else self.real

    @property
    def lengths(self) -> Tensor:
        """Return the number of real tokens of each sentence  # [batch]."""
        return self.real.sum(1)

    def to(self, device: torch.device | str) -> Tokens:
        """Return the tokens on another device, without waiting for the copy."""
        ids, real, ordinary = (
            part.to(device, non_blocking=True) for part in (self.ids, self.real, self.ordinary)
        )
        return Tokens(ids, real, ordinary, self.full)

    def pin_memory(self) -> Tokens:
        """Return the tokens in page-locked memory, from which a GPU copies while it computes."""
        parts = (self.ids.pin_memory(), self.real.pin_memory(), self.ordinary.pin_memory())
        return Tokens(*parts, self.full)

    def __len__(self) -> int:
        return self.ids.shape[0]


@dataclass(frozen=True)
class Batch:
    """Sentence pairs for teacher forcing.

    Args:
        source: what the encoder reads: x1 ... xm EOS
        target: what the decoder reads: BOS y1 ... yn
        labels: what the decoder should say, aligned with `target`: y1 ... yn EOS
        indices: where each sentence stands in its corpus  # [batch]
    """

    source: Tokens
    target: Tokens
    labels: Tokens
    indices: Tensor

    def to(self, device: torch.device | str) -> Batch:
        """Return the batch on another device."""
        moved = (self.source.to(device), self.target.to(device), self.labels.to(device))
        return Batch(*moved, self.indices)

    def pin_memory(self) -> Batch:
        """Return the batch in page-locked memory."""
        pinned = (self.source.pin_memory(), self.target.pin_memory(), self.labels.pin_memory())
        return Batch(*pinned, self.indices)

    def __len__(self) -> int:
        return len(self.source)
