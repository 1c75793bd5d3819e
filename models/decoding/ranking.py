"""The best of many tokens, the length penalty, and which tokens may come."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

_BLOCK = 64


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

    def forbid(self, logits: Tensor, step: int) -> None:
        """Set the logits of what may not come at `step` (0-based) to -inf, in place.

        Probabilities stay those of the network over its whole vocabulary: normalise before.
        """
        logits[..., self.bos] = float("-inf")
        logits[..., self.pad] = float("-inf")
        if step < self.min_tokens:
            logits[..., self.eos] = float("-inf")

    def normaliser(self, tokens: Tensor) -> Tensor:
        """Return ((5 + |Y|) / 6)^alpha for lengths that count EOS, any shape."""
        return ((5 + tokens.double()) / 6) ** self.length_penalty


def best(logits: Tensor, offsets: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the `k` largest of logits + offsets over all hypotheses of a sentence.

    Sorting out thousands of entries one by one takes as long as a third of the decoder.
    Maxima of blocks are cheap, and the k best entries lie in the k blocks with the largest
    maxima; so only these blocks are looked through. The result is exact.

    Args:
        logits: [sentence, hypothesis, vocabulary]
        offsets: what is added to all logits of a hypothesis [sentence, hypothesis]
        k: at most hypothesis x vocabulary

    Returns:
        Values, largest first, and their positions in the flattened
        [hypothesis x vocabulary]; of equal values the earlier position comes first
        (which of them enter when there is no room for all is left open)
        # each [sentence, k]
    """
    sentences, hypotheses, vocabulary = logits.shape
    blocks = vocabulary // _BLOCK
    tail = torch.arange(blocks * _BLOCK, vocabulary, device=logits.device)
    positions = _within(tail, hypotheses, vocabulary).expand(sentences, -1)
    if blocks:
        full = logits[..., : blocks * _BLOCK].unflatten(-1, (blocks, _BLOCK))
        peaks = (full.amax(-1) + offsets[..., None]).flatten(1)  # [sentence, hypothesis x block]
        chosen = peaks.topk(min(k, peaks.shape[1]), sorted=False).indices  # [sentence, k]
        starts = chosen // blocks * vocabulary + chosen % blocks * _BLOCK
        inside = torch.arange(_BLOCK, device=logits.device)
        in_blocks = (starts[..., None] + inside).flatten(1)  # [sentence, k x block]
        positions = torch.cat((in_blocks, positions), dim=1)
    positions = positions.sort(dim=1).values  # [sentence, candidate]
    values = logits.flatten(1).gather(1, positions)
    values = values + offsets.gather(1, positions // vocabulary)  # [sentence, candidate]
    values, order = values.sort(dim=1, descending=True, stable=True)
    return values[:, :k], positions.gather(1, order[:, :k])


def worth_leaving(running: Tensor) -> bool:
    """Say whether so many sentences are done that the others should close ranks.

    Leaving copies the caches of those who stay, so they wait until an eighth is done.
    """
    return 8 * int(running.sum()) <= 7 * len(running)


def _within(entries: Tensor, hypotheses: int, vocabulary: int) -> Tensor:
    """Return the flat positions of vocabulary entries in every hypothesis  # [position]."""
    starts = vocabulary * torch.arange(hypotheses, device=entries.device)
    return (starts[:, None] + entries).flatten()
