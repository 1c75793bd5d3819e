"""Minimum description length: how much effort it takes to get the labels out of the states.

Voita & Titov (2020): Alice sends labels to Bob, who has the states. They agree on a probe and
its fitting; after each block of sentences both fit it on all blocks so far, and the next block
is sent with the probabilities of that probe. With blocks that end at t_1 < t_2 < ... < t_S,

    L_online = t_1 log2 K - sum_{i=1}^{S-1} log2 p_i(labels of block i + 1 | their states)

bits, p_i fitted on the first t_i. The uniform code is n log2 K, and compression = uniform /
online. A probe that is good only with much data pays for it: size and quality in one number,
without a choice of the probe's size. The published code adds log2 and natural logarithms; here
everything is in bits.

Blocks end at 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50 and 100 % of the sentences (with
few sentences some ends coincide and become one). The probe is the task's logistic regression
with a fixed penalty against the SUM of the losses: as a prior it weighs less the more data
there are. The bias is penalised too, for without this a class that has not yet been sent
would have probability 0 and its first word would cost infinitely many bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .examples import Numbers
from .features import Features
from .logistic import predict
from .stacked import ABSENT, ITERATIONS, TOLERANCE, Problem, solve

SHARES = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class Code:
    """What it costs to send the labels, in bits.

    Args:
        online: the online code.
        uniform: the code that knows nothing, n log2 K.
        blocks: what each block costs; the first is sent with the uniform code.
        examples: labels that were sent.
    """

    online: float
    uniform: float
    blocks: tuple[float, ...]
    examples: int

    @property
    def compression(self) -> float:
        """Return uniform / online; 1 means that the states do not help."""
        return self.uniform / self.online


def code_of(first: int, classes: int, bits: Sequence[NDArray[np.float64]]) -> Code:
    """Add up an online code.

    Args:
        first: labels in the first block.
        classes: K.
        bits: -log2 p of the labels of every further block  # each [example]
    """
    each = float(np.log2(classes))
    blocks = (first * each, *(float(block.sum()) for block in bits))
    examples = first + sum(len(block) for block in bits)
    return Code(sum(blocks), examples * each, blocks, examples)


def block_ends(sentences: int) -> list[int]:
    """Return after how many sentences each block ends; the last is all of them."""
    return sorted({max(1, round(share * sentences)) for share in SHARES})


def online_codes(
    features: Features,
    tasks: Sequence[tuple[Numbers, int, float]],
    sentences: Numbers,
    generator: np.random.Generator,
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> list[Code]:
    """Send the labels of several tasks over the same states.

    Args:
        features: the training examples, standardised.
        tasks: for each its labels (-1: no example of the task) [example], number of
            classes, and penalty.
        sentences: of every example  # [example]
        generator: makes the order of the sentences.
    """
    kinds, place = np.unique(sentences, return_inverse=True)
    ranks = generator.permutation(len(kinds))[place]  # [example]
    ends = block_ends(len(kinds))
    first = [int((labels[ranks < ends[0]] != ABSENT).sum()) for labels, _, _ in tasks]
    bits: list[list[NDArray[np.float64]]] = [[] for _ in tasks]
    before: dict[int, Tensor] = {}  # the last probe of every task, where its next begins
    for start, stop in pairwise(ends):
        known = np.flatnonzero(ranks < start)
        block = np.flatnonzero((ranks >= start) & (ranks < stop))
        # A task without any example so far is still sent with the uniform code.
        ready = [i for i, task in enumerate(tasks) if (task[0][known] != ABSENT).any()]
        problems = [Problem(tasks[i][0][known], *tasks[i][1:], bias_too=True) for i in ready]
        solutions = solve(
            features.select(known),
            problems,
            tolerance=tolerance,
            iterations=iterations,
            starts=[before.get(i, torch.zeros(features.width + 1, tasks[i][1])) for i in ready],
        )
        before |= {i: it.weights for i, it in zip(ready, solutions, strict=True)}
        said = predict(features.select(block), solutions, [tasks[i][0][block] for i in ready])
        for index, (labels, classes, _) in enumerate(tasks):
            there = labels[block] != ABSENT
            if index in ready:
                bits[index].append(said[ready.index(index)][1][there])
            else:
                bits[index].append(np.full(int(there.sum()), np.log2(classes)))
    return [code_of(first[i], tasks[i][1], bits[i]) for i in range(len(tasks))]
