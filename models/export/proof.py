"""Proof that a model that was written and read back says what it said before.

The sentences are read twice. The model's own translation of each is forced upon what was read
back, and the logits are compared; then both translate greedily on their own, and the tokens are
compared. Batches have 1, 2, 3, ... sentences, so that many sizes are met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ..batch import Batch, Tokens
from ..data.vocabulary import BOS, EOS, PAD
from ..transformer import TransformerTranslator
from ..translator import SearchSettings, Translation


class Exported(Protocol):
    """A model that was read back, in whatever format."""

    def logits(self, batch: Batch) -> Tensor:
        """Return teacher-forced logits  # [batch, target, vocabulary]."""
        ...

    def translate(
        self, sentences: Sequence[str], search: SearchSettings = SearchSettings()
    ) -> list[Translation]:
        """Translate."""
        ...


@dataclass(frozen=True)
class Proof:
    """How far what was read back is from the model.

    Args:
        sentences: compared.
        tokens: target positions compared, EOS included.
        difference: largest |read back - before| of all logits.
        largest: largest |logit|, to compare.
        equal: sentences with the same greedy tokens.
    """

    sentences: int
    tokens: int
    difference: float
    largest: float
    equal: int


def proven(
    translator: TransformerTranslator,
    exported: Exported,
    sentences: Sequence[str],
    search: SearchSettings = SearchSettings(batch_tokens=256),
) -> Proof:
    """Compare what was read back with the model that was written.

    Args:
        translator: the model.
        exported: what was read back.
        sentences: to compare on, none of them empty.
        search: greedy, in small batches, so that their sizes differ.
    """
    own, theirs = (it.translate(sentences, search) for it in (translator, exported))
    source = [[*it, EOS] for it in translator.vocabularies["source"].encode_ids(sentences)]
    longest = translator.network.settings.max_positions
    target = [[BOS, *it.ids][:longest] for it in own]
    difference = largest = 0.0
    tokens = start = 0
    for size in range(1, len(source) + 1):
        some = slice(start, start + size)
        if not source[some]:
            break
        sides = [Tokens.padded(side[some], PAD, {BOS, EOS}) for side in (source, target)]
        batch = Batch(sides[0], sides[1], sides[1], torch.arange(start, start + len(sides[0])))
        real = batch.target.real  # [batch, target]
        with torch.inference_mode():
            expected = translator.logits(batch.to(translator.device)).cpu()[real]
            found = exported.logits(batch).cpu()[real]  # [token, vocabulary]
        difference = max(difference, float((found - expected).abs().max()))
        largest = max(largest, float(expected.abs().max()))
        tokens += len(expected)
        start += size
    equal = sum(one.ids == other.ids for one, other in zip(own, theirs, strict=True))
    return Proof(len(sentences), tokens, difference, largest, equal)
