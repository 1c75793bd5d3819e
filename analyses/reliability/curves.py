"""How well does a metric's order prune? The area under its joint-removal curve.

Heads go in the order of each metric, the least important first, and at some head counts the
smaller model reads the references (NLL) and translates (BLEU). Two numbers sum up a curve
over the share s of heads that are left:

    NLL:   mean over s of  NLL(s) - NLL(whole),        nats a token, 0 is no loss
    BLEU:  mean over s of  BLEU(s) / BLEU(whole),      a share, 1 is no loss

both by the trapezoid rule. Two orders stand beside the metrics'. RANDOM orders are the null.
The GREEDY order takes away, again and again, the head without which the model that is left
loses least: backward elimination, measured anew after each removal. It
knows what no single ranking knows, that two heads can do the same work, and is close to the
best that an order can do; it is no upper bound.

Orders come from some validation sentences and curves from others, so that no order is
flattered by the sentences that made it. The test split is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...models.data.parallel_text import ParallelText
from ...models.gates import Head
from ...models.quality import measure, resampled_sums, sentence_statistics
from ...models.translator import SearchSettings, Translator
from ..analysis import Progress
from ..columns import NLL
from ..elimination import cheapest_first
from ..points import Measured, PointStore, measure_all, reference_losses
from ..ranking import Array, bounds
from ..removal import RANDOM, Point, RemovalOrder
from ..result import Column, Table

GREEDY = "greedy"
CURVES = (
    Column("order", "text", "order of removal: a metric, random or greedy"),
    Column("draw", "whole", "which random draw; 0 for the others"),
    Column("heads_left", "whole", "heads of the smaller model"),
    Column("share_left", "number", "heads left / heads of the whole model"),
    NLL,
    Column("bleu", "number", "corpus BLEU; NaN: not measured", "BLEU points"),
)
AREAS = (
    Column("order", "text", "order of removal: a metric, random or greedy"),
    Column("measure", "text", "nll or bleu"),
    Column("area", "number", "mean rise of NLL, or mean share of BLEU kept", "see unit"),
    Column("low", "number", "lower bound of the interval; of random: the least draw", "see unit"),
    Column("high", "number", "upper bound of the interval; of random: the most", "see unit"),
    Column("against_random", "number", "area less the mean area of random orders", "see unit"),
    Column("against_random_low", "number", "lower bound of the paired interval", "see unit"),
    Column("against_random_high", "number", "upper bound of the paired interval", "see unit"),
    Column("against_greedy", "number", "area less that of the greedy order", "see unit"),
    Column("against_greedy_low", "number", "lower bound of the paired interval", "see unit"),
    Column("against_greedy_high", "number", "upper bound of the paired interval", "see unit"),
    Column("unit", "text", "nats a token (low is good) or share of BLEU (high is good)"),
)
UNITS = {"nll": "nats a token", "bleu": "share of the whole model's BLEU"}


def greedy_order(translator: Translator, data: ParallelText, progress: Progress) -> RemovalOrder:
    """Return backward elimination by NLL, measured anew after each removal (`elimination.py`).

    Args:
        translator: the whole model; it stays as it is.
        data: the sentences that the NLL is measured on.
        progress: hears how many heads are gone.
    """
    batches = list(translator.batches(data.source, data.target))
    removed, left = list[Head](), list(translator.layout)
    while len(left) > 1:
        progress("reliability: greedy order", len(removed), len(translator.layout))
        left = cheapest_first(translator, batches, removed, left)
        removed.append(left.pop(0))
    return RemovalOrder(GREEDY, 0, (*removed, *left))


def measure_points(
    translator: Translator,
    points: Sequence[Point],
    data: ParallelText,
    search: SearchSettings | None,
    folder: Path | None,
    jobs: int,
    progress: Progress,
) -> dict[frozenset[Head], Measured]:
    """Measure every model on the curves once.

    Args:
        search: how to translate; None measures NLL alone.
        folder: keeps finished models between calls; None keeps them nowhere.
        jobs: processes that translate; 0 takes one a core.
    """
    sets = list(dict.fromkeys(point.removed for point in points))
    if search is None:
        found = {}
        for done, removed in enumerate(sets):
            progress("reliability: curves", done, len(sets))
            losses, tokens = reference_losses(translator.without(removed), data)
            found[removed] = Measured([], losses, tokens, 0, 0.0)
        return found
    about = {
        "model": translator.fingerprint,
        "data": data.fingerprint,
        "search": search.model_dump(mode="json"),
    }
    if folder is not None:
        store = PointStore(folder, about)
        return measure_all(translator, sets, data, search, store, jobs, progress)
    with TemporaryDirectory() as place:
        store = PointStore(Path(place), about)
        return measure_all(translator, sets, data, search, store, jobs, progress)


def area(share: Array, values: Array) -> Array:
    """Return the mean of a curve over the shares that it covers, by the trapezoid rule.

    Args:
        share: ascending  # [point]
        values: [..., point]

    Returns:
        NaN for a curve of one point  # [...]
    """
    width = share[-1] - share[0]
    if width <= 0:
        return np.full(values.shape[:-1], np.nan)
    return np.asarray(np.trapezoid(values, share, axis=-1) / width)


def curve_tables(
    points: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
    resamples: int,
    seed: int,
) -> dict[str, Table]:
    """Return the tables `curves` and `areas`.

    Args:
        points: every point of every order, the whole model among them.
        measured: what each model did, by its removed heads.
        data: the sentences that were read.
        resamples: bootstrap resamples of the sentences, the same for all models.
        seed: draws the resamples.
    """
    quality = _quality_by_model(measured, data, resamples, seed)
    total = max(point.heads_left for point in points)
    curves = [
        {
            "order": point.order.name,
            "draw": point.order.draw,
            "heads_left": point.heads_left,
            "share_left": point.heads_left / total,
            "nll": float(quality["nll"][point.removed][0]),
            "bleu": float(quality["bleu"][point.removed][0]) if "bleu" in quality else np.nan,
        }
        for point in points
    ]
    n = f"{len(data)} sentences ({data.name}), none of which made an order"
    how = f"95 % percentile bootstrap over sentences, {resamples} resamples, the same for all"
    rows = [row for name, found in quality.items() for row in _areas(name, points, found, total)]
    return {
        "curves": Table.of("Quality while heads are removed jointly.", CURVES, curves, n=n),
        "areas": Table.of(
            "The area under each joint-removal curve, against random and greedy orders.",
            AREAS,
            rows,
            n=n,
            interval=f"{how}; of random orders the least and the most of the draws",
        ),
    }


def _quality_by_model(
    measured: Mapping[frozenset[Head], Measured], data: ParallelText, resamples: int, seed: int
) -> dict[str, dict[frozenset[Head], Array]]:
    """Return each measure of each model, exactly and then over resamples  # [1 + resample]."""
    losses = [np.array(it.losses)[:, None] for it in measured.values()]  # each [sentence, 1]
    tokens = np.array(next(iter(measured.values())).tokens, dtype=float)[:, None]
    drawn = _with_exact([*losses, tokens], resamples, seed)
    length = drawn.pop()  # [1 + resample, 1]
    found = {"nll": dict(zip(measured, (it[:, 0] / length[:, 0] for it in drawn), strict=True))}
    if all(it.translations for it in measured.values()):
        counted = [
            sentence_statistics("bleu", it.translations, data.target) for it in measured.values()
        ]  # each [sentence, statistic]
        scores = [measure["bleu"].scores(it) for it in _with_exact(counted, resamples, seed)]
        found["bleu"] = dict(zip(measured, scores, strict=True))
    return found


def _with_exact(statistics: Sequence[Array], resamples: int, seed: int) -> list[Array]:
    """Sum statistics over all sentences and over resamples  # each [1 + resample, statistic]."""
    if len(statistics[0]) < 2:  # one sentence cannot be resampled
        nothing = [np.full((resamples, it.shape[1]), np.nan) for it in statistics]
    else:
        nothing = resampled_sums(statistics, np.random.default_rng(seed), resamples)
    return [
        np.concatenate([it.sum(0, keepdims=True), drawn])
        for it, drawn in zip(statistics, nothing, strict=True)
    ]


def _areas(
    name: str, points: Sequence[Point], quality: Mapping[frozenset[Head], Array], total: int
) -> list[dict[str, Any]]:
    """Return one row an order for one measure."""
    whole = quality[frozenset()]  # [1 + resample]
    by_order: dict[tuple[str, int], list[Point]] = {}
    for point in points:
        by_order.setdefault((point.order.name, point.order.draw), []).append(point)
    found: dict[str, list[Array]] = {}
    for (order, _), own in by_order.items():
        own = sorted(own, key=lambda point: point.heads_left)
        share = np.array([point.heads_left / total for point in own])  # [point]
        curve = np.stack([quality[point.removed] for point in own], axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            curve = curve - whole[:, None] if name == "nll" else curve / whole[:, None]
        found.setdefault(order, []).append(area(share, curve))  # each [1 + resample]
    mean = {order: np.mean(areas, axis=0) for order, areas in found.items()}
    return [_area_row(name, order, found[order], mean) for order in found]


def _area_row(
    name: str, order: str, areas: Sequence[Array], mean: Mapping[str, Array]
) -> dict[str, Any]:
    """Return the row of an order: its area, and what it has more than random and greedy."""
    own = mean[order]  # [1 + resample]
    row: dict[str, Any] = {"order": order, "measure": name, "unit": UNITS[name]}
    row["area"] = float(own[0])
    if order == RANDOM:
        exact = [float(it[0]) for it in areas]
        row |= {"low": min(exact), "high": max(exact)}
    else:
        low, high = bounds(own[1:])
        row |= {"low": float(low), "high": float(high)}
    for other in (RANDOM, GREEDY):
        if other in mean and other != order:
            difference = own - mean[other]  # [1 + resample]
            low, high = bounds(difference[1:])
            row[f"against_{other}"] = float(difference[0])
            row |= {f"against_{other}_low": float(low), f"against_{other}_high": float(high)}
    return row
