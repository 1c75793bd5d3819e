"""Tables of the analysis `layers` that look at several layers or whole trees at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from joblib import Parallel, delayed

from ..models.quality import resampled_sums
from ..probe.layers.cka import linear_cka
from ..probe.layers.examples import PARTS
from ..probe.layers.features import Features
from ..probe.layers.mixing import MixFinding
from ..probe.layers.store import StateStore
from ..probe.layers.structural import (
    StructuralSettings,
    Tree,
    fit_structural,
    judge_structure,
)
from ..probe.layers.survey import SurveySettings
from .result import Column, Table

if TYPE_CHECKING:
    from .layer_asking import Asked

MIXES = (
    Column("side", "text", "encoder or decoder"),
    Column("task", "text", "what the probe was asked"),
    Column("centre", "number", "centre of gravity of the scalar mix, sum of l s_l", "layers"),
    Column("divergence", "number", "KL(s || uniform): 0 means the mix prefers no layer", "bits"),
    Column("expected", "number", "expected layer of cumulative mixes; empty: refused", "layers"),
    Column("expected_low", "number", "lower bound of the interval", "layers"),
    Column("expected_high", "number", "upper bound of the interval", "layers"),
    Column("gain", "number", "accuracy of the mix of all layers - of layer 0", "share"),
    Column("gain_low", "number", "lower bound of the interval", "share"),
    Column("gain_high", "number", "upper bound; refused if the interval includes 0", "share"),
    Column("gradient", "number", "largest absolute entry of the gradient of the fitted mix"),
)
SHARES = (
    Column("side", "text", "encoder or decoder"),
    Column("task", "text", "what the probe was asked"),
    Column("layer", "whole", "0 is what enters the first layer"),
    Column("share", "number", "s_l, share of the layer in the mix of all", "share, 0 to 1"),
    Column("cumulative", "number", "accuracy of the mix of layers 0 to l", "share, 0 to 1"),
)
STRUCTURE = (
    Column("side", "text", "encoder or decoder"),
    Column("layer", "whole", "0 is what enters the first layer"),
    Column("kind", "text", "distance between words, or depth below the root"),
    Column("accuracy", "number", "distance: UUAS without punctuation; depth: roots", "0 to 1"),
    Column("low", "number", "lower bound of the interval", "0 to 1"),
    Column("high", "number", "upper bound of the interval", "0 to 1"),
    Column("spearman", "number", "rank correlation with the tree, sentences of 5 to 50 words"),
    Column("error", "number", "mean absolute error on validation sentences", "arcs"),
)
LIKENESS = (
    Column("side", "text", "encoder or decoder"),
    Column("layer", "whole", "a layer"),
    Column("other", "whole", "another layer"),
    Column("cka", "number", "linear CKA of the word vectors, 0 to 1"),
)


def mix_tables(found: Sequence[tuple[str, MixFinding]], resamples: int, n: str) -> dict[str, Table]:
    """Return the tables `mixes` and `shares`."""
    mixes, shares = [], []
    for side, it in found:
        names = {"side": side, "task": it.task}
        low, high = it.expected.interval or (None, None)
        mixes.append(
            {
                **names,
                "centre": it.mix.centre,
                "divergence": it.mix.divergence,
                "expected": it.expected.value,
                "expected_low": low,
                "expected_high": high,
                "gain": it.expected.gain,
                "gain_low": it.expected.gain_interval[0],
                "gain_high": it.expected.gain_interval[1],
                "gradient": it.mix.solution.gradient,
            }
        )
        shares += [
            {**names, "layer": layer, "share": float(share), "cumulative": it.scores[layer]}
            for layer, share in enumerate(it.mix.shares)
        ]
    interval = f"95 % percentile bootstrap over test sentences, {resamples} resamples"
    caption = "Which layers a probe wants when it may mix them, and where the gain comes from."
    return {
        "mixes": Table.of(caption, MIXES, mixes, n=n, interval=interval),
        "shares": Table.of("The mixes layer by layer.", SHARES, shares, n=n),
    }


KINDS: tuple[Literal["distance", "depth"], ...] = ("distance", "depth")


def _trees(asked: Asked, part: str, limit: int) -> list[Tree]:
    """Return the trees of the first sentences of a part."""
    text, store = asked.text, asked.store
    numbers = np.flatnonzero(text.split.part == PARTS.index(part)).tolist()
    starts = store.starts
    return [
        Tree.of(
            text.sentences[number],
            int(starts[number]),
            store.aligned[starts[number] : starts[number + 1]],
        )
        for number in numbers
        if text.sentences[number].has_tree
    ][:limit]


def structure_rows(
    asked: Asked,
    settings: StructuralSettings,
    limit: int,
    resamples: int,
    seed: int,
    survey: SurveySettings,
) -> list[dict[str, Any]]:
    """Return the rows of the table `structure`; none without trees.

    Args:
        survey: how many layers are probed at once, and how much of them is held.
    """
    train, valid, test = (_trees(asked, part, limit) for part in PARTS)
    if not (train and valid and test):
        return []
    count = min(survey.workers, asked.store.layers)
    memory = survey.memory // count
    work = [
        delayed(_structure)(
            asked.store, layer, (train, valid, test), settings, resamples, seed, memory
        )
        for layer in range(asked.store.layers)
    ]
    found = Parallel(n_jobs=count)(work)
    return [{"side": asked.side, **row} for of_layer in found for row in of_layer]


def _structure(
    store: StateStore,
    layer: int,
    trees: tuple[list[Tree], list[Tree], list[Tree]],
    settings: StructuralSettings,
    resamples: int,
    seed: int,
    memory: int,
) -> list[dict[str, Any]]:
    """Probe one layer for distances and depths."""
    known = np.concatenate([tree.rows for tree in trees[0]])
    chosen = np.concatenate([tree.rows for part in trees for tree in part])
    whole = Features(store.layer(layer), np.arange(len(store.sentences))).standardised(known)
    # Every epoch reads the words of the chosen sentences again.
    features = whole.select(chosen).held(memory)
    starts = iter(np.cumsum([0, *[len(tree) for part in trees for tree in part]]))
    train, valid, test = (
        [replace(it, rows=np.arange(len(it)) + next(starts)) for it in part] for part in trees
    )
    rows = []
    for kind in KINDS:
        generator = torch.Generator().manual_seed(seed)
        probe = fit_structural(features, (train, valid), kind, generator, settings)
        found = judge_structure(features, test, probe)
        sums = resampled_sums([found.arcs], np.random.default_rng(seed), resamples)[0]
        low, high = np.nanpercentile(sums[:, 0] / np.maximum(sums[:, 1], 1), (2.5, 97.5))
        rows.append(
            {
                "layer": layer,
                "kind": kind,
                "accuracy": found.accuracy,
                "low": float(low),
                "high": float(high),
                "spearman": found.spearman,
                "error": probe.validation,
            }
        )
    return rows


def structure_table(rows: Sequence[dict[str, Any]], resamples: int, n: str) -> Table:
    """Return the table `structure`."""
    interval = f"95 % percentile bootstrap over test sentences, {resamples} resamples"
    caption = "How far the dependency tree is in the distances and lengths of mapped states."
    return Table.of(caption, STRUCTURE, rows, n=n, interval=interval)


def likeness_table(asked: Sequence[Asked], n: str) -> Table:
    """Return the table `likeness`; sides with too few words are left out."""
    rows = []
    for it in asked:
        chosen = np.flatnonzero(it.store.aligned)
        if len(chosen) <= it.store.states.shape[2]:
            continue
        layers = [Features(it.store.layer(layer), chosen) for layer in range(it.store.layers)]
        rows += [
            {"side": it.side, "layer": layer, "other": other, "cka": float(value)}
            for layer, values in enumerate(linear_cka(layers))
            for other, value in enumerate(values)
        ]
    return Table.of("How alike the layers are.", LIKENESS, rows, n=n)
