"""Baselines: what a good probe score is worth.

- Control task (Hewitt & Liang 2019): every word TYPE gets one random label, drawn from the
  task's own distribution of labels (over training words, so frequent labels stay frequent). A
  probe can only reach it by memorising types. Selectivity = accuracy - control accuracy: what
  a probe reads beyond what it can learn by heart. Several draws, because one is luck. The
  control probe has the task's own penalty: it is the same probe, on other labels.
- majority: the most frequent label of the training words.
- type: the most frequent label of the word's type in training; the majority for unseen types.
  What needs no context at all.
- layer 0 and the network with random weights are probed like every other layer.

Words whose type training does not have are scored apart: there nothing can be memorised.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .examples import Examples, Numbers, Split


def control_labels(
    examples: Examples, split: Split, generator: np.random.Generator, draws: int = 3
) -> list[Numbers]:
    """Return the labels of the control task, several times.

    Args:
        examples: the task, all parts.
        split: says which examples are training.
        generator: draws the labels of the types.
        draws: how many control tasks.

    Returns:
        for each draw a label of every example  # [example]
    """
    training = split.examples(examples.sentences, "train")
    counts = np.bincount(examples.labels[training], minlength=len(examples.classes))  # [class]
    kinds, place = np.unique(examples.types, return_inverse=True)
    shares = counts / counts.sum()
    return [
        generator.choice(len(examples.classes), size=len(kinds), p=shares)[place]
        for _ in range(draws)
    ]


def majority(examples: Examples, split: Split) -> Numbers:
    """Return the most frequent training label, for every test example  # [example]."""
    train, test = (split.examples(examples.sentences, part) for part in ("train", "test"))
    top = np.bincount(examples.labels[train]).argmax()
    return np.full(len(test), top)


def most_frequent_by_type(examples: Examples, split: Split) -> Numbers:
    """Return for every test example the most frequent training label of its type  # [example]."""
    train, test = (split.examples(examples.sentences, part) for part in ("train", "test"))
    size = len(examples.classes)
    kinds, place = np.unique(examples.types, return_inverse=True)
    cells = place[train] * size + examples.labels[train]
    counts = np.bincount(cells, minlength=len(kinds) * size).reshape(len(kinds), size)
    best = np.where(counts.any(1), counts.argmax(1), counts.sum(0).argmax())  # [type]
    return best[place[test]]


def unseen_types(examples: Examples, split: Split) -> NDArray[np.bool_]:
    """Return which test examples have a type that training lacks  # [example]."""
    train, test = (split.examples(examples.sentences, part) for part in ("train", "test"))
    return ~np.isin(examples.types[test], examples.types[train])
