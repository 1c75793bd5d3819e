"""Scalar mixes of one task over the layers of a store: the whole mix, and the cumulative ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .examples import Examples, Split
from .features import Features
from .logistic import judged, predict
from .scalar_mix import ExpectedLayer, Mix, expected_layer, fit_mix
from .store import StateStore


@dataclass(frozen=True)
class MixFinding:
    """What the mixes of one task say.

    Args:
        task: its name.
        mix: of all layers.
        scores: accuracy of the mixes of layers 0 ... l on test sentences  # [layer]
        expected: where the information first appears, or the refusal.
    """

    task: str
    mix: Mix
    scores: tuple[float, ...]
    expected: ExpectedLayer


def mixes_of(
    store: StateStore,
    question: Examples,
    split: Split,
    penalty: float,
    *,
    examples: int,
    resamples: int,
    memory: int,
    seed: int,
) -> MixFinding:
    """Fit the mix of all layers and the cumulative ones.

    Args:
        store: the states.
        question: the task's examples, without rare labels.
        split: the parts of the sentences.
        penalty: of the probe on every mix.
        examples: at most so many training examples, chosen at random.
        resamples: bootstrap resamples of the test sentences.
        memory: bytes of states that may be held.
        seed: of the choice and the resamples, the same for every task.
    """
    train = split.examples(question.sentences, "train")
    test = split.examples(question.sentences, "test")
    generator = np.random.default_rng(seed)
    if len(train) > examples:
        train = np.sort(generator.choice(train, size=examples, replace=False))
    each = memory // (2 * store.layers)
    layers = []
    for layer in range(store.layers):
        whole = store.sentence_means(layer) if question.unit == "sentence" else store.layer(layer)
        features = Features(whole, question.rows, question.partners).standardised(train)
        layers.append((features.select(train).held(each), features.select(test).held(each)))
    size, gold = len(question.classes), question.labels
    draws, scores = [], []
    for top in range(1, store.layers + 1):
        known, asked = ([it[place] for it in layers[:top]] for place in (0, 1))
        mix = fit_mix(known, gold[train], size, penalty)
        said = predict(mix.of(asked), [mix.solution], [gold[test]])[0]
        result = judged(said, gold[test], question.sentences[test], size)
        scores.append(result.accuracy)
        drawn = result.resampled(np.random.default_rng(seed), resamples)
        draws.append(drawn["accuracy"])
    expected = expected_layer(np.array(scores), np.stack(draws, 1))
    return MixFinding(question.task, mix, tuple(scores), expected)
