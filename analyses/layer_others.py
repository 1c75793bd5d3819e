"""Tables of the analysis `layers` that ask something else than one probe a layer.

lost        what a model from which heads were removed no longer knows
heads       what the output of a single head tells, in place of a whole layer
numbers     depths, distances and judgements as numbers, by ridge regression
nonlinear   how much more a hidden layer reads, and how much more it learns by heart
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..models.gates import Head
from ..models.quality import resampled_sums
from ..probe.layers.control import control_labels
from ..probe.layers.examples import Examples
from ..probe.layers.features import Features
from ..probe.layers.logistic import judged
from ..probe.layers.measures import Judged
from ..probe.layers.mlp import fit_mlp
from ..probe.layers.quantities import PENALTIES, quantities_of, read_numbers
from ..probe.layers.store import StateStore
from ..probe.layers.survey import Asking, Finding, surveys
from ..probe.layers.tasks import Words
from .columns import HEAD
from .layer_asking import Asked, Networks, captured
from .result import Column, Table

if TYPE_CHECKING:
    from .layers import LayersSettings

SHARE = "share, 0 to 1"
_SIDE = Column("side", "text", "encoder or decoder")
_TASK = Column("task", "text", "what the probe was asked")
_LAYER = Column("layer", "whole", "0 is what enters the first layer, l what leaves the l-th")
_UNIT = Column("unit", "text", "the layer again, or `norm`: what leaves the final norm, no layer")
LOST = (
    _SIDE,
    _TASK,
    Column("family", "text", "syntax, semantics, morphology, sentence or translation"),
    _LAYER,
    _UNIT,
    Column("whole", "number", "accuracy in the whole model", SHARE),
    Column("smaller", "number", "accuracy in the smaller model", SHARE),
    Column("difference", "number", "smaller - whole; below 0 went with the heads", "share"),
    Column("low", "number", "lower bound of the paired interval", "share"),
    Column("high", "number", "upper bound of the paired interval", "share"),
)
HEADS = (
    _SIDE,
    *HEAD,
    _TASK,
    Column("accuracy", "number", "right predictions on test sentences", SHARE),
    Column("low", "number", "lower bound of the interval", SHARE),
    Column("high", "number", "upper bound of the interval", SHARE),
    Column("random", "number", "the same head of a network with random weights", SHARE),
    Column("layer_accuracy", "number", "of the states that the head's layer reads", SHARE),
)
NUMBERS = (
    _SIDE,
    Column("quantity", "text", "what number is read"),
    _LAYER,
    _UNIT,
    Column("r2", "number", "explained share of the variance on test sentences; can be below 0"),
    Column("low", "number", "lower bound of the interval"),
    Column("high", "number", "upper bound of the interval"),
    Column("random", "number", "the same in a network with random weights"),
    Column("penalty", "number", "penalty that validation chose"),
    Column("test_examples", "whole", "test examples"),
)
NONLINEAR = (
    _SIDE,
    _TASK,
    _LAYER,
    _UNIT,
    Column("accuracy", "number", "of the probe with a hidden layer", SHARE),
    Column("low", "number", "lower bound of the interval", SHARE),
    Column("high", "number", "upper bound of the interval", SHARE),
    Column("linear", "number", "accuracy of the linear probe, with all training examples", SHARE),
    Column("control", "number", "accuracy of the control task with a hidden layer", SHARE),
    Column("linear_control", "number", "accuracy of the control task, linear", SHARE),
    Column("epochs", "whole", "until the best validation loss"),
)


def _bounds(values: NDArray[np.float64]) -> dict[str, float]:
    low, high = np.nanpercentile(values, (2.5, 97.5))
    return {"low": float(low), "high": float(high)}


def _drawn(counts: Sequence[NDArray[np.float64]], seed: int, resamples: int) -> list[Any]:
    """Resample sentences; the same draws for every table."""
    return list(resampled_sums(list(counts), np.random.default_rng(seed), resamples))


def lost_table(asked: Sequence[Asked], seed: int, resamples: int, n: str) -> Table:
    """Return what the smaller model knows, task by task and layer by layer."""
    records = []
    for it in asked:
        pairs = zip(it.trained[0], it.smaller[0], strict=True)
        for whole, smaller in pairs:
            size = len(it.text.sentences)
            right, examples = whole.test.correct_by_sentence(size)
            left, _ = smaller.test.correct_by_sentence(size)
            sums = np.column_stack([left - right, examples])[examples > 0]  # [sentence, 2]
            drawn = _drawn([sums], seed, resamples)[0]  # [resample, 2]
            records.append(
                {
                    "side": it.side,
                    "task": whole.task,
                    "family": it.families[whole.task],
                    "layer": whole.layer,
                    "unit": it.store.units[whole.layer],
                    "whole": whole.test.accuracy,
                    "smaller": smaller.test.accuracy,
                    "difference": smaller.test.accuracy - whole.test.accuracy,
                    **_bounds(drawn[:, 0] / np.maximum(drawn[:, 1], 1)),
                }
            )
    return Table.of(
        "What the model knows without the removed heads; its probes are fitted anew.",
        LOST,
        records,
        n=n,
        interval=f"95 % percentile bootstrap over test sentences, paired, {resamples} resamples",
    )


def heads_table(
    asked: Sequence[Asked],
    networks: Networks,
    settings: LayersSettings,
    seed: int,
    folder: Path,
    n: str,
) -> Table:
    """Probe the output of every head, in the first model and with random weights."""
    records = []
    for it in asked:
        found: dict[str, list[Finding]] = {}
        questions = [each for each in it.questions if each.task in settings.heads]
        for kind, network in networks.named(seed):
            if questions and kind in ("trained", "random") and kind not in found:
                where = folder / f"{it.side}-heads-{kind}"
                store = captured(network, it.text, settings, where, "heads")
                asking = Asking(store, questions, it.text.split, plain=True)
                found[kind] = surveys([asking], settings.survey, seed)[0]
                units = store.units
        before = {(each.task, each.layer): each.test.accuracy for each in it.trained[0]}
        for index, own in enumerate(found.get("trained", ())):
            head = Head.parse(units[own.layer])
            sums = np.column_stack(own.test.correct_by_sentence(len(it.text.sentences)))
            drawn = _drawn([sums[sums[:, 1] > 0]], seed, settings.resamples)[0]
            random = found["random"][index].test.accuracy if "random" in found else None
            records.append(
                {
                    "side": it.side,
                    "site": head.site,
                    "layer": head.layer,
                    "head": head.head,
                    "task": own.task,
                    "accuracy": own.test.accuracy,
                    **_bounds(drawn[:, 0] / np.maximum(drawn[:, 1], 1)),
                    "random": random,
                    "layer_accuracy": before[own.task, head.layer],
                }
            )
    caption = "What a linear probe reads from the output of a single head, before it is projected."
    interval = f"95 % percentile bootstrap over test sentences, {settings.resamples} resamples"
    return Table.of(caption, HEADS, records, n=n, interval=interval)


def numbers_table(asked: Sequence[Asked], seed: int, resamples: int, n: str) -> Table:
    """Read quantities as numbers from every layer."""
    records = []
    for it in asked:
        words = Words.of(it.store, it.text.sentences)
        for quantity in quantities_of(it.text.sentences, words, it.text.split):
            for layer, unit in enumerate(it.store.units):
                own = read_numbers(it.store.layer(layer), quantity, it.text.split, PENALTIES)
                drawn = _drawn([own.sums], seed, resamples)[0]  # [resample, 4]
                random = None
                if it.random_store is not None:
                    states = it.random_store.layer(layer)
                    random = read_numbers(states, quantity, it.text.split, PENALTIES).r_squared
                records.append(
                    {
                        "side": it.side,
                        "quantity": quantity.name,
                        "layer": layer,
                        "unit": unit,
                        "r2": own.r_squared,
                        **_bounds(own.explained(drawn)),
                        "random": random,
                        "penalty": own.penalty,
                        "test_examples": int(own.sums[:, 0].sum()),
                    }
                )
    caption = "Quantities that ridge regression reads from every layer."
    interval = f"95 % percentile bootstrap over test sentences, {resamples} resamples"
    return Table.of(caption, NUMBERS, records, n=n, interval=interval)


def nonlinear_table(asked: Sequence[Asked], settings: LayersSettings, seed: int, n: str) -> Table:
    """Ask some tasks of every layer with a hidden layer."""
    records = []
    for it in asked:
        linear = {(each.task, each.layer): each for each in it.trained[0]}
        for question in it.questions:
            for layer, unit in enumerate(it.store.units):
                if question.task in settings.nonlinear:
                    found = _nonlinear(it, question, layer, settings, seed)
                    own = linear[question.task, layer]
                    found |= {
                        "linear": own.test.accuracy,
                        "linear_control": float(np.mean(own.control)) if own.control else None,
                    }
                    names = {"side": it.side, "task": question.task, "layer": layer}
                    records.append({**names, "unit": unit, **found})
    caption = (
        "What a probe with one hidden layer reads, from at most "
        f"{settings.mix_examples} training examples."
    )
    interval = f"95 % percentile bootstrap over test sentences, {settings.resamples} resamples"
    return Table.of(caption, NONLINEAR, records, n=n, interval=interval)


def _nonlinear(
    asked: Asked, question: Examples, layer: int, settings: LayersSettings, seed: int
) -> dict[str, Any]:
    """Train a probe with a hidden layer, and one on a control task."""
    split, store = asked.text.split, asked.store
    parts = [split.examples(question.sentences, part) for part in ("train", "valid", "test")]
    draw = np.random.default_rng(seed)
    if len(parts[0]) > settings.mix_examples:
        parts[0] = np.sort(draw.choice(parts[0], size=settings.mix_examples, replace=False))
    whole = _states(store, question, layer)
    features = Features(whole, question.rows, question.partners).standardised(parts[0])
    train, valid, test = (features.select(part) for part in parts)

    def trained(labels: NDArray[np.int64]) -> tuple[Judged, int]:
        generator = torch.Generator().manual_seed(seed)
        known = labels[parts[0]], labels[parts[1]]
        probe = fit_mlp(train, valid, known, len(question.classes), generator, settings.mlp)
        said, gold = probe.predict(test, labels[parts[2]]), labels[parts[2]]
        sentences = question.sentences[parts[2]]
        return judged(said, gold, sentences, len(question.classes)), probe.epochs

    own, epochs = trained(question.labels)
    accuracies = own.resampled(np.random.default_rng(seed), settings.resamples)["accuracy"]
    row: dict[str, Any] = {"accuracy": own.accuracy, **_bounds(accuracies), "epochs": epochs}
    if question.has_types:
        row["control"] = trained(control_labels(question, split, draw, 1)[0])[0].accuracy
    return row


def _states(store: StateStore, question: Examples, layer: int) -> NDArray[np.floating]:
    return store.sentence_means(layer) if question.unit == "sentence" else store.layer(layer)
