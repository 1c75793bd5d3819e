"""Gradient importance: how fast the loss changes when a head is turned down.

    v_h = | dL / dg_h |,    L = - sum over t of log p(y_t | y_<t, x)

at open gates g = 1, the mean over sentences (Michel et al. 2019, eq. 2). To first order it
is the change of the sentence's loss when the head is removed, up to its sign. One backward
pass gives all heads: every sentence has its own row of gates, so the gradient of the summed
loss holds one gradient a sentence.

Where the absolute value is taken changes the number, since what is summed before it can
cancel. Following the equation, it is taken once a sentence; `token` takes it for every
target token before summing over the sentence (one backward pass a position), and `batch`
takes it of the sum over a batch, as code that reads `parameter.grad` does, which makes the
result depend on the batch size.

Pitfall: a head can have a small gradient and still be needed, where the loss is flat at
g = 1 and steep further down; leave-one-out is the exact question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import torch
from torch import Tensor

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.gates import HeadLayout
from ..models.translator import Translator
from .importance import HeadScores, Metric, empty_scores, metric


@metric("gradient")
class Gradient(Metric):
    """Absolute derivative of the loss by the head's gate (Michel et al. 2019).

    Args:
        absolute: what is summed before the absolute value is taken: the tokens of a
            `sentence`, nothing (`token`), or the sentences of a `batch`.
    """

    absolute: Literal["token", "sentence", "batch"] = "sentence"

    def remarks(self) -> tuple[str, ...]:
        """Say where the absolute value is taken."""
        return (f"The absolute value of the gradient is taken once a {self.absolute}.",)

    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Measure |dL/dg| of every head in nats; see `Metric.scores`.

        With `absolute="batch"` every sentence of a batch gets the batch's value, divided by
        its sentences, so that the mean over sentences is the sum over batches / sentences.
        """
        values = empty_scores(data, translator.layout)
        for batch in self.batches(translator, data):
            sizes = torch.zeros(len(batch), values.shape[1], dtype=torch.float64)  # [batch, head]
            for slopes in loss_slopes(translator, batch, by_token=self.absolute == "token"):
                by_sentence = slopes.cpu().double()  # [batch, head]
                if self.absolute == "batch":
                    by_sentence = by_sentence.mean(0).expand_as(sizes)
                sizes += by_sentence.abs()
            values[batch.indices] = sizes
        return HeadScores(translator.layout, values, torch.ones_like(values), unit="nats")


def loss_slopes(
    translator: Translator, batch: Batch, *, by_token: bool = False
) -> Iterator[Tensor]:
    """Yield dL/dg at open gates, in nats  # each [batch, head].

    Args:
        by_token: whether to yield once a target position (the loss of that token alone)
            instead of once for the summed loss of the sentences.
    """
    gates = open_gates(translator.layout, len(batch)).requires_grad_()
    losses = translator.token_losses(batch, gates)  # [batch, target]
    if not by_token:
        yield torch.autograd.grad(losses.sum(), gates)[0]
        return
    for position in range(losses.shape[1]):
        yield torch.autograd.grad(losses[:, position].sum(), gates, retain_graph=True)[0]


def open_gates(layout: HeadLayout, rows: int) -> Tensor:
    """Return open gates in float64, whose gradient then is float64 too  # [row, head]."""
    return layout.ones(rows, dtype=torch.float64)
