"""The best of many tokens, the length penalty, and which tokens may come."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

BLOCK = 64


class Rules(NamedTuple):
    """What a search may say and when it must stop.

    Args:
        bos, eos, pad: ids of the special tokens; BOS and PAD are never said.
        min_tokens: EOS may not come before so many other tokens.
        length_penalty: alpha of Wu et al. 2016, eq. 14.
    """

    bos: int
    eos: int
    pad: int
    min_tokens: int
    length_penalty: float

    def forbid(self, log_p: Tensor, step: int) -> None:
        """Set log P of what may not come at `step` (0-based) to -inf, in place.

        The others keep the probabilities that the network gives them: nothing is rescaled.
        """
        log_p[..., self.banned(step)] = float("-inf")

    def banned(self, step: int) -> list[int]:
        """Return the tokens that may not come at `step` (0-based)."""
        return [self.bos, self.pad, *([self.eos] if step < self.min_tokens else [])]

    def normaliser(self, tokens: Tensor) -> Tensor:
        """Return ((5 + |Y|) / 6)^alpha for lengths that count EOS, any shape."""
        return ((5 + tokens.double()) / 6) ** self.length_penalty


def best(log_p: Tensor, offsets: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the `k` largest of log_p + offsets over all hypotheses of a sentence.

    Sorting out thousands of entries one by one takes as long as a third of the decoder.
    Maxima of blocks are cheap, and the k best entries lie in the k blocks with the largest
    maxima; so only these blocks are looked through. The result is exact.

    Args:
        log_p: the vocabulary is a multiple of `BLOCK` [sentence, hypothesis, vocabulary]
        offsets: what is added to all entries of a hypothesis [sentence, hypothesis]
        k: at most hypothesis x vocabulary

    Returns:
        Values, largest first, and their positions in the flattened
        [hypothesis x vocabulary]; of equal values the earlier position comes first
        (which of them enter when there is no room for all is left open)
        # each [sentence, k]
    """
    sentences, hypotheses, _ = log_p.shape
    blocks = log_p.view(-1, BLOCK)  # [sentence x hypothesis x block, entry]
    peaks = blocks.amax(1).view(sentences, hypotheses, -1) + offsets[..., None]
    per_hypothesis = peaks.shape[2]
    peaks = peaks.flatten(1)  # [sentence, hypothesis x block]
    chosen = peaks.topk(min(k, peaks.shape[1]), sorted=False).indices.sort(1).values
    starts = torch.arange(sentences, device=log_p.device)[:, None] * peaks.shape[1]
    values = blocks[starts + chosen] + offsets.gather(1, chosen // per_hypothesis)[..., None]
    values = values.flatten(1)  # [sentence, candidate]
    top = values.topk(k, sorted=False).indices.sort(1).values  # [sentence, k]
    values, order = values.gather(1, top).sort(dim=1, descending=True, stable=True)
    top = top.gather(1, order)  # [sentence, k]
    return values, chosen.gather(1, top // BLOCK) * BLOCK + top % BLOCK


def largest(logits: Tensor) -> tuple[Tensor, Tensor]:
    """Return the largest entry of every row and its position, by maxima of blocks as `best`.

    Args:
        logits: the vocabulary is a multiple of `BLOCK` [row, vocabulary]

    Returns:
        Values and positions; of equal values the first  # each [row]
    """
    blocks = logits.view(len(logits), -1, BLOCK)  # [row, block, entry]
    block = blocks.amax(2).argmax(1)  # [row]
    values = blocks[torch.arange(len(logits), device=logits.device), block]  # [row, entry]
    value, entry = values.max(1)  # each [row]
    return value, block * BLOCK + entry


def worth_leaving(running: int, sentences: int) -> bool:
    """Say whether so many of the `sentences` are done that the others should close ranks.

    Leaving copies the caches of those who stay, so they wait until an eighth is done.
    """
    return 8 * running <= 7 * sentences
