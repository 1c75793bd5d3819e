"""The log-probability of a sentence as a function of the gates.

    f(g) = log p(y | x; g) = sum over t of log p(y_t | y_<t, x; g)

one number a sentence, and the heads are the players: f(1) is the whole model, f(0) the model
without a head. Leave-one-out, integrated gradients, Shapley values and their relatives all
ask how f(1) - f(0), or a part of it, is shared out among the heads. A positive share says
that log p falls by so much without the head: the head helps.

`Attribution` is what those metrics have in common. Per sentence the shares are in nats; they
are divided by the sentence's target tokens and weighted by them, so a head's value over a
corpus is in nats a token, as leave-one-out's, and the values can be compared.

Pitfall: captum's layer and embedding methods hook modules. Where source and target share one
embedding module, which is called twice, they keep only one of the two calls and give wrong
attributions without a word; and captum's LRP has no rule for attention, layer norms or
embeddings. Gates are an argument of the forward, so nothing here hooks a module; relevance
has rules of its own.
"""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.translator import Translator
from .importance import HeadScores, Metric, Proof, empty_scores
from .proving import worst
from .slopes import open_gates


class Attribution(Metric):
    """A metric that shares a sentence's log-probability out among the heads.

    Args:
        sentences: the first so many sentences are measured and the others count nothing;
            None measures all.
    """

    sentences: int | None = None

    @abstractmethod
    def shares(self, translator: Translator, batch: Batch, generator: torch.Generator) -> Tensor:
        """Return every head's share in nats, float64 on the CPU  # [batch, head]."""

    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Measure every head in nats a token; see `Metric.scores`."""
        layout = translator.layout
        values, weights = empty_scores(data, layout), empty_scores(data, layout)
        measured = data if self.sentences is None else data.head(self.sentences)
        for batch in self.batches(translator, measured):
            tokens = batch.labels.real.sum(1, keepdim=True).cpu().double()  # [batch, 1]
            values[batch.indices] = self.shares(translator, batch, generator) / tokens
            weights[batch.indices] = tokens.expand(-1, len(layout))
        return HeadScores(layout, values, weights, unit="nats a token")

    def completeness(
        self,
        translator: Translator,
        data: ParallelText,
        generator: torch.Generator,
        tolerance: float,
    ) -> Proof:
        """Check that the shares of all heads sum to what all heads together are worth."""
        error = 0.0
        for batch in self.batches(translator, data):
            shares = self.shares(translator, batch, generator)  # [batch, head]
            error = worst(error, incompleteness(translator, batch, shares))
        return complete(error, tolerance)

    def remarks(self) -> tuple[str, ...]:
        """Say how many sentences were measured, where it is not all."""
        if self.sentences is None:
            return ()
        return (f"{type(self).__name__} is measured on the first {self.sentences} sentences.",)


def log_probabilities(translator: Translator, batch: Batch, gates: Tensor) -> Tensor:
    """Return f of every sentence, with its graph  # [batch].

    Args:
        gates: [1 or batch, head]
    """
    return -translator.token_losses(batch, gates).sum(1)


def log_probabilities_of_masks(translator: Translator, batch: Batch, masks: Tensor) -> Tensor:
    """Return f of every sentence under each row of gates, without a graph.

    Args:
        masks: gates, each row for all sentences [mask, head]

    Returns:
        nats, float64 on the CPU  # [mask, batch]
    """
    found = torch.empty(len(masks), len(batch), dtype=torch.float64)
    for row, losses in translator.token_losses_of_masks(batch, masks):
        # To the CPU first: not every kind of device can compute in float64.
        found[row] = -losses.cpu().double().sum(1)
    return found


def gains(translator: Translator, batch: Batch) -> Tensor:
    """Return f(1) - f(0), what all heads together are worth, in nats  # [batch]."""
    ends = torch.cat((open_gates(translator.layout, 1), 0 * open_gates(translator.layout, 1)))
    whole, empty = log_probabilities_of_masks(translator, batch, ends)
    return whole - empty


def incompleteness(translator: Translator, batch: Batch, shares: Tensor) -> float:
    """Return |sum of shares - (f(1) - f(0))| as a part of |f(1) - f(0)|, for the whole batch.

    Args:
        shares: [batch, head]
    """
    gain = gains(translator, batch).sum()
    return float((shares.sum() - gain).abs() / gain.abs().clamp(min=torch.finfo(gain.dtype).tiny))


def complete(error: float, tolerance: float) -> Proof:
    """Return the claim that nothing of f(1) - f(0) is lost, off by `error` at most."""
    return Proof("attributions sum to f(1) - f(0)", error, tolerance)
