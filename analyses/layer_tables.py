"""The tables of the analysis `layers`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..models.quality import resampled_sums
from ..probe.layers.control import majority, most_frequent_by_type
from ..probe.layers.examples import Examples, Split
from ..probe.layers.measures import intervals, resampled_alike
from ..probe.layers.survey import Finding
from ..probe.layers.verdict import Verdict
from .result import Column, Table

if TYPE_CHECKING:
    from .layer_asking import Asked

SHARE = "share, 0 to 1"
SIDE = Column("side", "text", "encoder or decoder")
TASK = Column("task", "text", "what the probe was asked")
FAMILY = Column("family", "text", "syntax, semantics, morphology, sentence or translation")
LAYER = Column("layer", "whole", "0 is what enters the first layer, l what leaves the l-th")
UNIT = Column("unit", "text", "the layer again, or `norm`: what leaves the final norm, no layer")
PROBES = (
    SIDE,
    Column("network", "text", "trained, smaller (heads removed), or random (weights)"),
    Column("model", "whole", "which trained model, 0 is the one shown first"),
    TASK,
    FAMILY,
    LAYER,
    UNIT,
    Column("accuracy", "number", "right predictions on test sentences", SHARE),
    Column("accuracy_low", "number", "lower bound of the interval", SHARE),
    Column("accuracy_high", "number", "upper bound of the interval", SHARE),
    Column("macro_f1", "number", "mean F1 of the classes", SHARE),
    Column("macro_f1_low", "number", "lower bound of the interval", SHARE),
    Column("macro_f1_high", "number", "upper bound of the interval", SHARE),
    Column("log_loss", "number", "mean -log2 p of the label", "bits"),
    Column("log_loss_low", "number", "lower bound of the interval", "bits"),
    Column("log_loss_high", "number", "upper bound of the interval", "bits"),
    Column(
        "control", "number", "accuracy of the control task, mean over draws; not of seeds", SHARE
    ),
    Column("selectivity", "number", "accuracy - control", SHARE),
    Column("unseen", "number", "accuracy on word types that training lacks", SHARE),
    Column("unseen_examples", "whole", "test examples of such types"),
    Column("online", "number", "online code of the training labels", "bits"),
    Column("uniform", "number", "uniform code of the training labels", "bits"),
    Column("compression", "number", "uniform / online"),
    Column("penalty", "number", "penalty that validation chose, against the sum of the losses"),
    Column("at_edge", "truth", "whether it is the first or last that was offered"),
    Column("gradient", "number", "largest absolute entry of the gradient of the fitted probe"),
    Column("converged", "truth", "whether the gradient is within the tolerance"),
)
SEEDS = (
    SIDE,
    TASK,
    FAMILY,
    LAYER,
    UNIT,
    Column("accuracy", "number", "right predictions on test sentences, mean of models", SHARE),
    Column("low", "number", "lower bound of the interval over models and sentences", SHARE),
    Column("high", "number", "upper bound of the interval over models and sentences", SHARE),
    Column("spread", "number", "best model - worst model", "share"),
    Column("models", "whole", "trained models"),
)
BASELINES = (
    SIDE,
    TASK,
    FAMILY,
    Column("classes", "whole", "labels"),
    Column("train_examples", "whole", "training examples"),
    Column("test_examples", "whole", "test examples"),
    Column("dropped", "whole", "examples left out because training has their label only once"),
    Column("majority", "number", "accuracy of the most frequent label", SHARE),
    Column("by_type", "number", "accuracy of the most frequent label of the word type", SHARE),
)
VERDICT = (
    SIDE,
    Column("answer", "text", "syntax lower, semantics lower, equivalent or undecided"),
    Column("reason", "text", "why"),
    Column("difference", "number", "mean centre of semantics - mean centre of syntax", "layers"),
    Column("low", "number", "lower bound of the interval", "layers"),
    Column("high", "number", "upper bound of the interval", "layers"),
    Column("p", "number", "share of namings of the families with at least this difference"),
    Column("smallest_p", "number", "the smallest p that so few tasks allow"),
    Column("detectable", "number", "smallest difference that could be shown", "layers"),
    Column("models", "whole", "trained models"),
)
_TASK = (
    SIDE,
    TASK,
    Column("family", "text", "syntax or semantics"),
)
CENTRES = (
    *_TASK,
    Column("centre", "number", "sum of l gain(l) / sum of gain(l), l >= 1", "layers"),
    Column("low", "number", "lower bound of the interval", "layers"),
    Column("high", "number", "upper bound of the interval", "layers"),
)
GAINS = (
    *_TASK,
    LAYER,
    Column(
        "gain",
        "number",
        "accuracy above layer 0, less what random weights add",
        "share of the most added",
    ),
    Column("low", "number", "lower bound of the interval", "share"),
    Column("high", "number", "upper bound of the interval", "share"),
)


def probes_table(asked: Sequence[Asked], seed: int, resamples: int, n: str) -> Table:
    """Return one row for each side, network, task and layer."""
    records = []
    for of_side in asked:
        bounds = _bounds(of_side, seed, resamples)
        for kind in ("trained", "smaller", "random"):
            networks: list[list[Finding]] = getattr(of_side, kind)
            for model, findings in enumerate(networks):
                for it in findings:
                    names: dict[str, Any] = {"side": of_side.side, "network": kind, "model": model}
                    names |= {"family": of_side.families[it.task]}
                    names |= {"unit": of_side.store.units[it.layer]}
                    records.append({**names, **_row(it, bounds[id(it)])})
    return Table.of(
        "What a linear probe reads from every layer, beside its baselines.",
        PROBES,
        records,
        n=n,
        interval=f"95 % percentile bootstrap over test sentences, {resamples} resamples",
    )


def _bounds(asked: Asked, seed: int, resamples: int) -> dict[int, dict[str, float]]:
    """Return the intervals of all findings of a side, by their identity.

    The same draws for every task and layer, so that intervals can be compared.
    """
    bounds: dict[int, dict[str, float]] = {}
    networks = [*asked.trained, *asked.smaller, *asked.random]
    for question in asked.questions:
        own = [it for found in networks for it in found if it.task == question.task]
        generator = np.random.default_rng(seed)
        drawn = resampled_alike([it.test for it in own], generator, resamples)
        for it, draws in zip(own, drawn, strict=True):
            bounds[id(it)] = {
                f"{name}_{end}": value
                for name, both in intervals(draws).items()
                for end, value in zip(("low", "high"), both, strict=True)
            }
    return bounds


def seeds_table(asked: Sequence[Asked], seed: int, resamples: int, n: str) -> Table:
    """Return the accuracy of all trained models together, one row a side, task and layer."""
    records = []
    for it in asked:
        size, models = len(it.text.sentences), len(it.trained)
        for question in it.questions:
            found = [
                one for of_model in it.trained for one in of_model if one.task == question.task
            ]
            sums = [np.column_stack(one.test.correct_by_sentence(size)) for one in found]
            generator = np.random.default_rng(seed)
            inside = sums[0][:, 1] > 0  # [sentence]
            drawn = resampled_sums([one[inside] for one in sums], generator, resamples)
            shares = np.stack([one[:, 0] / np.maximum(one[:, 1], 1) for one in drawn])
            shares = shares.reshape(models, -1, resamples)  # [model, layer, resample]
            chosen = generator.integers(0, models, size=(models, 1, resamples))
            means = np.take_along_axis(shares, chosen, axis=0).mean(0)  # [layer, resample]
            for place, one in enumerate(found[: len(means)]):
                values = [each.test.accuracy for each in found[place :: len(means)]]
                low, high = np.percentile(means[place], (2.5, 97.5))
                names = {"side": it.side, "task": one.task, "family": it.families[one.task]}
                records.append(
                    {
                        **names,
                        "layer": one.layer,
                        "unit": it.store.units[one.layer],
                        "accuracy": float(np.mean(values)),
                        "low": float(low),
                        "high": float(high),
                        "spread": max(values) - min(values),
                        "models": models,
                    }
                )
    return Table.of(
        "What a linear probe reads from every layer of models of several seeds.",
        SEEDS,
        records,
        n=n,
        interval=f"95 % percentile bootstrap over models and test sentences, {resamples} resamples",
    )


def _row(found: Finding, bounds: dict[str, float]) -> dict[str, Any]:
    test, chosen, code = found.test, found.chosen, found.code
    row: dict[str, Any] = {"task": found.task, "layer": found.layer, **test.values(), **bounds}
    if found.control:
        control = float(np.mean(found.control))
        row |= {"control": control, "selectivity": test.accuracy - control}
    if found.unseen is not None:
        row["unseen_examples"] = int(found.unseen.sum())
        if found.unseen.any():
            row["unseen"] = test.where(found.unseen).accuracy
    if code is not None:
        row |= {"online": code.online, "uniform": code.uniform, "compression": code.compression}
    return row | {
        "penalty": chosen.penalty,
        "at_edge": chosen.at_edge,
        "gradient": chosen.solution.gradient,
        "converged": chosen.solution.converged,
    }


def baselines_table(asked: Sequence[Asked], n: str) -> Table:
    """Return one row a side and task: what needs no states."""
    records = [
        {
            "side": it.side,
            "family": it.families[question.task],
            **_baseline(question, it.text.split),
        }
        for it in asked
        for question in it.questions
    ]
    caption = "What can be said without looking at any state."
    return Table.of(caption, BASELINES, records, n=n)


def _baseline(question: Examples, split: Split) -> dict[str, Any]:
    gold = question.part(split, "test").labels
    row: dict[str, Any] = {
        "task": question.task,
        "classes": len(question.classes),
        "train_examples": len(question.part(split, "train")),
        "test_examples": len(gold),
        "dropped": question.dropped,
        "majority": float((majority(question, split) == gold).mean()),
    }
    if question.has_types:
        row["by_type"] = float((most_frequent_by_type(question, split) == gold).mean())
    return row


def verdict_table(verdicts: Mapping[str, Verdict], models: int, n: str) -> Table:
    """Return one row a side."""
    records = [
        {
            "side": side,
            "answer": it.answer,
            "reason": it.reason,
            "difference": _number(it.difference),
            "low": _number(it.interval[0]),
            "high": _number(it.interval[1]),
            "p": it.p,
            "smallest_p": it.smallest_p,
            "detectable": _number(it.detectable),
            "models": models,
        }
        for side, it in verdicts.items()
    ]
    return Table.of(
        "Whether lower layers lean to syntax and upper ones to semantics.",
        VERDICT,
        records,
        n=n,
        interval="95 %, hierarchical bootstrap over models, test sentences and tasks",
    )


def centre_tables(verdicts: Mapping[str, Verdict], n: str) -> dict[str, Table]:
    """Return the tables `centres`, one row a task, and `gains`, one row a task and layer."""
    centres, gains = [], []
    for side, found in verdicts.items():
        for it in found.gains:
            names = {"side": side, "task": it.task, "family": it.family}
            low, high = it.interval or (None, None)
            centres.append({**names, "centre": it.centre, "low": low, "high": high})
            values = zip(it.values.tolist(), it.low.tolist(), it.high.tolist(), strict=True)
            gains += [
                {**names, "layer": layer, "gain": gain, "low": low, "high": high}
                for layer, (gain, low, high) in enumerate(values)
            ]
    interval = "95 %, percentile bootstrap over models and test sentences"
    return {
        "centres": Table.of(
            "Where the layers add what, in layers; empty where none surely adds anything.",
            CENTRES,
            centres,
            n=n,
            interval=interval,
        ),
        "gains": Table.of(
            "What each layer adds to layer 0, beyond what random weights add, as a share of the "
            "most that any layer adds.",
            GAINS,
            gains,
            n=n,
            interval=interval,
        ),
    }


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None
