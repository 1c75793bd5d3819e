"""The Translator: all that the upper floors know of a translation model.

Our own Transformer and the adapters of pretrained models implement it, and no analysis
knows which of them it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import torch
from pydantic import Field
from torch import Tensor

from .batch import Batch
from .gates import Attention, Head, HeadLayout
from .settings import Settings


class SearchSettings(Settings):
    """How to search for a translation.

    Args:
        beam: hypotheses a sentence; 1 is greedy search.
        length_penalty: alpha of Wu et al. 2016, eq. 14: a finished hypothesis Y is ranked by
            log P(Y) / ((5 + |Y|) / 6)^alpha, where |Y| counts EOS. 0 ranks by log P.
        min_tokens: EOS may not come before so many other target tokens.
        max_ratio, max_extra: at most `max_ratio` x source tokens + `max_extra` target tokens,
            EOS counted on both sides.
        batch_tokens: source tokens decoded together (times the beam).
        log_probability: whether greedy search says log P of what it found, for which it has to
            normalise the vocabulary at every step; a beam always says it.
    """

    beam: int = Field(default=1, ge=1)
    length_penalty: float = Field(default=1.0, ge=-10, le=10)
    min_tokens: int = Field(default=0, ge=0)
    max_ratio: float = Field(default=1.5, ge=0)
    max_extra: int = Field(default=20, ge=0)
    batch_tokens: int = Field(default=2048, ge=1)
    log_probability: bool = False


@dataclass(frozen=True)
class Translation:
    """One translated sentence.

    Args:
        text: the detokenised translation.
        ids: target token ids without BOS and EOS.
        log_probability: log P of the tokens, EOS included, in nats; None where it was not asked
            for, see `SearchSettings`.
        finished: False when the search stopped at its longest length.
    """

    text: str
    ids: tuple[int, ...]
    log_probability: float | None
    finished: bool


@dataclass
class Capture:
    """What one forward let us see; tensors that were not asked for are missing.

    Args:
        logits: [batch, target, vocabulary]
        attention: per attention the softmax weights, never gated  # [batch, head, query, key]
        context: per attention the heads' ungated outputs  # [batch, query, head, head_width]
        values: per attention what the weights average, xW_V + b_V  # [batch, head, key, head_width]
        states: `encoder` and `decoder`: what enters layer 0, 1, ..., what leaves the last, and,
            where the stack ends in a norm of its own, what leaves that: as many as layers + 1
            or + 2  # each [batch, token, width]
    """

    logits: Tensor
    attention: dict[Attention, Tensor] = field(default_factory=dict)
    context: dict[Attention, Tensor] = field(default_factory=dict)
    values: dict[Attention, Tensor] = field(default_factory=dict)
    states: dict[str, list[Tensor]] = field(default_factory=dict)


@dataclass(frozen=True)
class HeadWeights:
    """How the heads of one attention read and write the residual stream.

    Args:
        value: W_V of every head  # [head, width, head_width]
        output: W_O of every head  # [head, head_width, width]
    """

    value: Tensor
    output: Tensor


class Translator(Protocol):
    """A translation model with gated heads."""

    @property
    def layout(self) -> HeadLayout:
        """Which heads the model has, by original ids, in gate-column order."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        ...

    @property
    def fingerprint(self) -> str:
        """SHA-256 of weights, vocabularies and configuration."""
        ...

    def describe(self) -> Mapping[str, int | float | str]:
        """Return parameter count, widths, layers and head counts, for tables."""
        ...

    def pieces(self, ids: Sequence[int], side: str) -> list[str]:
        """Return the visible form of token ids of the `source` or `target` vocabulary."""
        ...

    def offsets(self, text: str, side: str) -> list[tuple[int, int]]:
        """Return the character span of every ordinary token of `text`."""
        ...

    def batches(
        self, source: Sequence[str], target: Sequence[str], *, tokens: int = 2048
    ) -> Iterator[Batch]:
        """Tokenise sentence pairs and yield them in length-sorted batches on the device."""
        ...

    def logits(self, batch: Batch, gates: Tensor | None = None) -> Tensor:
        """Return teacher-forced logits  # [batch, target, vocabulary]."""
        ...

    def token_losses(self, batch: Batch, gates: Tensor | None = None) -> Tensor:
        """Return -log p of every label in nats, 0 at padding  # [batch, target]."""
        ...

    def token_losses_of_masks(self, batch: Batch, masks: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Yield the number of each row of `masks` and its `token_losses`, each row once.

        The same numbers as `token_losses(batch, masks[row][None])` to rounding, without
        gradients. The order is the translator's own: it may compute what several masks have
        in common once. One that cannot calls `token_losses` for one row after another.

        Args:
            masks: gates, each row for all sentences [mask, head]
        """
        ...

    def capture(
        self,
        batch: Batch,
        gates: Tensor | None = None,
        *,
        attention: bool = False,
        context: bool = False,
        states: bool = False,
        values: bool = False,
    ) -> Capture:
        """Run the explicit path and return what was asked for. Keeps the autograd graph."""
        ...

    def head_weights(self, attention: Attention) -> HeadWeights:
        """Return views of the value and output weights of an attention's heads."""
        ...

    def in_precision(self, dtype: torch.dtype) -> Translator:
        """Return a frozen copy whose weights have another dtype; self stays as it is."""
        ...

    def translate(
        self,
        sentences: Sequence[str],
        search: SearchSettings = SearchSettings(),
        *,
        gates: Tensor | None = None,
    ) -> list[Translation]:
        """Translate; `gates` has one row for all sentences or one a sentence."""
        ...

    def without(self, heads: Iterable[Head]) -> Translator:
        """Return a copy from whose weights `heads` are removed; self stays as it is."""
        ...

    def save(self, folder: Path) -> None:
        """Write weights (safetensors), configuration and vocabularies, atomically."""
        ...
