"""Which sentences form which update, known from the seed alone.

The order of an epoch is drawn from (seed, epoch), so a run that goes on after a kill needs
to know only how many updates it has made, and N processes agree without talking: each takes
every N-th micro-batch of an update. The same holds for text that is cut into pieces anew in
every epoch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import torch

from ..batch import Batch
from ..data.batching import IdSequences, collate, length_batches
from ..data.merge_dropout import CutTable
from ..data.token_store import TokenStore

PREPARED = 4
"""Updates that wait in page-locked memory for a GPU."""


class TextByEpoch(Protocol):
    """Encoded sentence pairs that may be others in every epoch."""

    def of_epoch(self, epoch: int) -> TrainingText:
        """Return the text as it is read in an epoch."""
        ...


@dataclass(frozen=True)
class TrainingText:
    """Encoded sentence pairs, in memory or in memory-mapped stores.

    Args:
        source, target: token ids by sentence, without BOS and EOS.
        source_lengths, target_lengths: tokens of each sentence, without BOS and EOS.
    """

    source: IdSequences
    target: IdSequences
    source_lengths: np.ndarray
    target_lengths: np.ndarray

    def of_epoch(self, epoch: int) -> TrainingText:
        """Return the text as it is read in an epoch: here, the same in all."""
        return self


class RecutText:
    """Text whose words are cut into pieces anew in every epoch (`data.merge_dropout`).

    A sentence that so would come to have more tokens than a network has positions for is read
    with all merges.

    Args:
        plain: the text as it is read in the first epochs, with all merges.
        first: the first epoch that is cut at random, 0-based.
        cuts: of the source and of the target.
        paths: where the encoded source and target of one epoch at a time are kept.
        vocabulary_sizes: of the source and of the target.
        seed: makes the choice among the cuts, with the epoch's number.
        positions: most tokens of a sentence, EOS or BOS counted.
    """

    def __init__(
        self,
        plain: TrainingText,
        first: int,
        cuts: tuple[CutTable, CutTable],
        paths: tuple[Path, Path],
        vocabulary_sizes: tuple[int, int],
        seed: int,
        positions: int,
    ) -> None:
        self._plain, self._first = plain, first
        self._cuts, self._paths = cuts, paths
        self._sizes, self._seed, self._positions = vocabulary_sizes, seed, positions
        self._read: tuple[int, TrainingText] | None = None

    def of_epoch(self, epoch: int) -> TrainingText:
        """Return the text of an epoch, cut when it is first asked for."""
        if epoch < self._first:
            return self._plain
        if self._read is None or self._read[0] != epoch:
            generator = np.random.default_rng((self._seed, epoch))
            whole = (self._plain.source, self._plain.target)
            sides = zip(self._cuts, whole, self._paths, self._sizes, strict=True)
            source, target = (
                TokenStore.build(path, self._fitting(cuts, plain, generator), vocabulary_size=size)
                for cuts, plain, path, size in sides
            )
            text = TrainingText(source, target, source.lengths, target.lengths)
            self._read = (epoch, text)
        return self._read[1]

    def _fitting(
        self, cuts: CutTable, plain: IdSequences, generator: np.random.Generator
    ) -> Iterator[Sequence[int] | np.ndarray]:
        """Yield the ids of every sentence  # [token]."""
        for sentence, cut in enumerate(cuts.draw(generator)):
            yield cut if len(cut) < self._positions else plain[sentence]


def updates_of(
    text: TextByEpoch, tokens: int, micro_batches: int, seed: int, start: int
) -> Iterator[tuple[int, list[np.ndarray]]]:
    """Yield (epoch, the sentence indices of each micro-batch) of update `start`, `start` + 1, ...

    An epoch whose batches do not fill its last update drops the rest; they are others in
    the next epoch.
    """
    epoch, before = 0, 0
    while True:
        generator = np.random.default_rng((seed, epoch))
        read = text.of_epoch(epoch)
        lengths = (read.source_lengths, read.target_lengths)
        batches = length_batches(*lengths, tokens, generator, recurring=True)
        whole = max(1, len(batches) // micro_batches)
        for update in range(whole):
            if before + update >= start:
                yield epoch, batches[update * micro_batches : (update + 1) * micro_batches]
        epoch, before = epoch + 1, before + whole


def collated(
    text: TextByEpoch, updates: Iterator[tuple[int, list[np.ndarray]]], rank: int, world: int
) -> Iterator[tuple[int, list[Batch]]]:
    """Turn the indices of this process's micro-batches into padded batches."""
    for epoch, batches in updates:
        own, read = batches[rank::world], text.of_epoch(epoch)
        yield epoch, [collate(read.source, read.target, indices) for indices in own]


def on_device(
    updates: Iterator[tuple[int, list[Batch]]], device: torch.device
) -> Iterator[tuple[int, list[Batch]]]:
    """Move batches to the device; for a GPU a thread prepares and pins the next ones."""
    if device.type != "cuda":
        yield from ((epoch, [batch.to(device) for batch in batches]) for epoch, batches in updates)
        return

    def prepared() -> tuple[int, list[Batch]]:
        epoch, batches = next(updates)
        return epoch, [batch.pin_memory() for batch in batches]

    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting = deque(pool.submit(prepared) for _ in range(PREPARED))
        while True:
            epoch, batches = waiting.popleft().result()
            waiting.append(pool.submit(prepared))
            yield epoch, [batch.to(device) for batch in batches]
