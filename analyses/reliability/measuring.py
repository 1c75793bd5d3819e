"""What the analysis needs to know of a translator besides its scores."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ...models.data.parallel_text import ParallelText
from ...models.reinitialised import with_random_weights
from ...models.translator import Translator
from ..points import reference_losses


def random_networks(translator: Translator, count: int, seed: int) -> Iterator[Translator]:
    """Yield networks of the same shape with random weights, one after another."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        yield with_random_weights(translator, generator)


def token_nll(translator: Translator, text: ParallelText) -> float:
    """Return the token NLL of the references, in nats a token."""
    losses, tokens = reference_losses(translator, text)
    return sum(losses) / sum(tokens)
