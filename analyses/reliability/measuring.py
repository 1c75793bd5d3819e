"""Measuring many metrics on one model, and letting each prove itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch

from ...models.data.parallel_text import ParallelText
from ...models.reinitialised import with_random_weights
from ...models.translator import Translator
from ...probe.importance import HeadScores, Metric, Proof
from ..analysis import Progress
from ..points import reference_losses


def measured_by(
    members: Mapping[str, Metric],
    translator: Translator,
    data: ParallelText,
    seed: int,
    progress: Progress,
    whose: str = "",
) -> dict[str, HeadScores]:
    """Measure every metric on the same sentences.

    Args:
        members: metrics by name.
        seed: of metrics that sample.
        whose: begins what progress hears, where it is not the model in question.
    """
    found = {}
    for done, (name, member) in enumerate(members.items()):
        progress(f"reliability: {whose}{name}", done, len(members))
        found[name] = member.scores(translator, data, torch.Generator().manual_seed(seed))
    return found


def proven_by(
    members: Mapping[str, Metric],
    translator: Translator,
    data: ParallelText,
    seed: int,
    progress: Progress,
) -> dict[str, Sequence[Proof]]:
    """Let every metric prove itself on a few sentences."""
    found: dict[str, Sequence[Proof]] = {}
    for done, (name, member) in enumerate(members.items()):
        progress(f"reliability: proofs of {name}", done, len(members))
        found[name] = member.prove(translator, data, torch.Generator().manual_seed(seed))
    return found


def random_networks(translator: Translator, count: int, seed: int) -> Iterator[Translator]:
    """Yield networks of the same shape with random weights, one after another."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        yield with_random_weights(translator, generator)


def token_nll(translator: Translator, text: ParallelText) -> float:
    """Return the token NLL of the references, in nats a token."""
    losses, tokens = reference_losses(translator, text)
    return sum(losses) / sum(tokens)
