"""Batches counted in tokens, not in sentences.

A batch costs what its padded rectangle costs: (longest sentence) x (sentences). So sentences of
like length go together, as many as fit into the budget, and a batch of long sentences has
fewer of them (Vaswani et al. 2017, section 5.1: about 25,000 tokens a side).

Order. The sentences are shuffled, cut into buckets, and each bucket is sorted by length with
ties left in their random order; then batches are cut off greedily and the order of the
batches is shuffled. Pitfall: with one bucket for everything the padding is smallest, but
sentences of equal length meet again and again; small buckets mix more and pad more.

The order comes from the generator alone. `generator.bit_generator.state` is a plain dictionary:
saved with a checkpoint and put back, it makes the same batches for every later epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from ..batch import Batch, Tokens
from ..errors import UsageError
from .vocabulary import BOS, EOS, PAD

Indices = NDArray[np.int64]
Lengths = NDArray[np.integer] | Sequence[int]
BUCKET = 50_000


class IdSequences(Protocol):
    """Token ids by sentence number: a list of lists, or a token store."""

    def __getitem__(self, index: int, /) -> Sequence[int] | NDArray[np.integer]:
        """Return the ids of one sentence, without BOS and EOS."""
        ...


def length_batches(
    source_lengths: Lengths,
    target_lengths: Lengths,
    tokens: int,
    generator: np.random.Generator | None = None,
    *,
    bucket: int = BUCKET,
    recurring: bool = False,
) -> list[Indices]:
    """Group sentence pairs of like length into batches of at most `tokens` padded tokens.

    The padded size of a batch is sentences x tokens of the longest sentence, of the side where
    that is more, each sentence with its EOS (on the decoder's input: its BOS). A pair that is
    longer than the whole budget gets a batch of its own; nothing is ever left out (what a model
    cannot take at all is refused where the text is read).

    Args:
        source_lengths: tokens of every source sentence, without EOS  # [sentence]
        target_lengths: tokens of every target sentence, without BOS and EOS  # [sentence]
        tokens: the budget of a batch, in padded tokens of one side.
        generator: makes the order; None gives the batches from short to long, for
            evaluation, always the same.
        bucket: sentences that are shuffled and sorted together.
        recurring: round sentence counts down so that few different sizes occur. Some
            libraries compile a kernel for every size of matrix that they meet.

    Returns:
        Sentence numbers of every batch; each number occurs exactly once.

    Raises:
        UsageError: a budget or bucket below 1, or sides with different numbers of sentences.
    """
    source = np.asarray(source_lengths, dtype=np.int64) + 1  # [sentence]
    target = np.asarray(target_lengths, dtype=np.int64) + 1  # [sentence]
    if len(source) != len(target):
        raise UsageError(f"{len(source)} source lengths but {len(target)} target lengths")
    if tokens < 1 or bucket < 1:
        raise UsageError(f"batches of {tokens} tokens in buckets of {bucket}: give at least 1")
    if generator is None:
        members = _by_length(np.arange(len(source)), source, target)
        return _cut(members, source, target, tokens, recurring)
    order = generator.permutation(len(source))
    batches = []
    for start in range(0, len(order), bucket):
        members = _by_length(order[start : start + bucket], source, target)
        batches += _cut(members, source, target, tokens, recurring)
    return [batches[i] for i in generator.permutation(len(batches))]


def _by_length(members: Indices, source: Indices, target: Indices) -> Indices:
    """Sort by target length, then by source length; ties stay in their order.

    The source lengths go up for even target lengths and down for odd ones. So they do not
    jump where the target length changes, and a batch across that place pads less.
    """
    down = target[members] % 2 == 1
    top = int(source.max(initial=0))
    minor = np.where(down, top - source[members], source[members])
    return members[np.argsort(target[members] * (top + 1) + minor, kind="stable")]


def _cut(
    members: Indices, source: Indices, target: Indices, tokens: int, recurring: bool
) -> list[Indices]:
    """Cut sorted sentences greedily into batches within the budget."""
    lengths = np.maximum(source, target)[members]  # [sentence]
    batches = []
    start = 0
    while start < len(members):
        # No batch has more sentences than the first one's length lets fit.
        window = lengths[start : start + max(1, tokens // int(lengths[start]))]
        padded = np.maximum.accumulate(window) * np.arange(1, len(window) + 1)
        count = max(1, int(np.searchsorted(padded, tokens, side="right")))
        count = _rounded(count) if recurring else count
        batches.append(members[start : start + count])
        start += count
    return batches


def _rounded(sentences: int) -> int:
    """Round down to a multiple of 32, 16 or 8: of what costs at most a third of the batch.

    With 32 sentences the tokens of a batch are a multiple of 32 whatever their length.
    """
    step = next((step for step in (32, 16, 8) if sentences >= 2 * step), 1)
    return sentences - sentences % step


def padding_share(batches: Sequence[Indices], *sides: Lengths) -> float:
    """Return which part of all padded tokens, EOS included, is padding (0 to 1).

    Args:
        batches: sentence numbers.
        sides: lengths of the source, of the target, or of both  # each [sentence]
    """
    real = padded = 0
    for side in sides:
        lengths = np.asarray(side, dtype=np.int64) + 1
        real += sum(int(lengths[batch].sum()) for batch in batches)
        padded += sum(int(lengths[batch].max()) * len(batch) for batch in batches)
    return 1 - real / padded if padded else 0.0


def collate(
    source: IdSequences,
    target: IdSequences,
    indices: Sequence[int] | Indices,
    *,
    pad: int = PAD,
    bos: int = BOS,
    eos: int = EOS,
) -> Batch:
    """Pad the sentence pairs `indices` on the right, for teacher forcing.

    The source becomes x1 ... xm EOS, the decoder's input BOS y1 ... yn, the labels y1 ... yn EOS.

    Args:
        source: source ids by sentence number, without EOS.
        target: target ids by sentence number, without BOS and EOS.
        indices: which sentences  # [batch]
        pad, bos, eos: special ids, the same on both sides.
    """
    numbers = [int(i) for i in indices]
    sources = [[*_ids(source[i]), eos] for i in numbers]
    targets = [_ids(target[i]) for i in numbers]
    special = {bos, eos}
    return Batch(
        source=Tokens.padded(sources, pad, special),  # [batch, source]
        target=Tokens.padded([[bos, *ids] for ids in targets], pad, special),  # [batch, target]
        labels=Tokens.padded([[*ids, eos] for ids in targets], pad, special),  # [batch, target]
        indices=torch.tensor(numbers, dtype=torch.long),  # [batch]
    )


def _ids(sentence: Sequence[int] | NDArray[np.integer]) -> list[int]:
    return sentence.tolist() if isinstance(sentence, np.ndarray) else list(sentence)
