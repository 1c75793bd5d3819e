"""The tables of the `prune` analysis, made of what was measured at its points."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..models.data.parallel_text import ParallelText
from ..models.gates import SITES, Head
from ..models.quality import measure, resampled_sums, sentence_statistics
from .analysis import spread
from .columns import BLEU, BLEU_DIFFERENCE, HEAD, NLL
from .points import Measured
from .removal import RANDOM, Point
from .result import Column, Table

Record = dict[str, Any]
Array = NDArray[np.float64]
Key = TypeVar("Key", bound=Hashable)
EXAMPLE_SHARES = (0.5, 0.25, 0.125)

_ORDER = (
    Column("order", "text", "order of removal: a metric, or random"),
    Column("draw", "whole", "which random draw; 0 for a metric"),
)
_LEFT = Column("heads_left", "whole", "heads of the smaller model, all sites together")
CURVE = (
    *_ORDER,
    _LEFT,
    Column("share_left", "number", "heads left / heads of the whole model"),
    *(Column(f"{site}_left", "whole", f"heads left at the site {site}") for site in SITES),
    *BLEU,
    *BLEU_DIFFERENCE,
    NLL,
    Column("parameters", "whole", "parameters of the smaller model"),
    Column("seconds", "number", "time to decode all sentences, one process", "seconds"),
    Column("sentences", "whole", "test sentences"),
)
BAND = (
    _LEFT,
    Column("draws", "whole", "random orders"),
    Column("mean", "number", "mean BLEU of the draws", "BLEU points"),
    Column("low", "number", "BLEU of the worst draw", "BLEU points"),
    Column("high", "number", "BLEU of the best draw", "BLEU points"),
)
REMOVALS = (
    *_ORDER,
    Column("step", "whole", "1 = removed first"),
    *HEAD,
)
AREA = (
    *_ORDER,
    Column("area", "number", "area under BLEU against share left, whole model = 1"),
)
EXAMPLES = (
    _ORDER[0],
    _LEFT,
    Column("sentence", "whole", "number of the sentence in the test split, 0-based"),
    Column("source", "text", "source sentence"),
    Column("reference", "text", "reference translation"),
    Column("translation", "text", "what the model says"),
)


def curve_tables(
    points: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
    resamples: int,
    seed: int,
    examples: int,
) -> dict[str, Table]:
    """Return the tables `curve`, `band`, `removals`, `area` and `examples`.

    Args:
        points: every point of every order.
        measured: what each model did, by its removed heads.
        data: the test sentences.
        resamples: bootstrap resamples of the sentences.
        seed: draws the resamples.
        examples: how many sentences to show.
    """
    n = f"{len(data)} test sentences ({data.name})"
    bleu = bleu_by_model(measured, frozenset(), data, resamples, seed)
    curve = [_curve_record(point, measured[point.removed], bleu[point.removed]) for point in points]
    orders = list(dict.fromkeys(point.order for point in points))
    areas = [area_of(order.name, order.draw, curve) for order in orders]
    removals = [
        {"order": order.name, "draw": order.draw, "step": step, **head._asdict()}
        for order in orders
        for step, head in enumerate(order.heads, 1)
    ]
    captions = {
        "curve": "BLEU of physically smaller models against the heads that are left.",
        "band": "BLEU of random orders: the null that a metric has to beat.",
        "removals": "The orders in which heads were removed.",
        "area": "How much of the quality each order keeps, over all head counts.",
        "examples": "What the whole model says, and what smaller ones say.",
    }
    area = Table.of(captions["area"], AREA, areas, n=n)
    shown = examples_of(_shown(points, area.rows), measured, data, examples)
    how = f"95 % percentile bootstrap over sentences, {resamples} resamples, the same for all"
    return {
        "curve": Table.of(captions["curve"], CURVE, curve, n=n, interval=how),
        "band": Table.of(
            captions["band"], BAND, _band(curve), n=n, interval="smallest and largest of the draws"
        ),
        "removals": Table.of(captions["removals"], REMOVALS, removals),
        "area": area,
        "examples": Table.of(captions["examples"], EXAMPLES, shown),
    }


def bleu_by_model(
    measured: Mapping[Key, Measured], whole: Key, data: ParallelText, resamples: int, seed: int
) -> dict[Key, Record]:
    """Return every model's BLEU and its difference from the whole model, with intervals.

    Args:
        measured: what every model did, by whatever names it.
        whole: names the whole model.
        data: the test sentences.
        resamples: bootstrap resamples of the sentences, the same for all models.
        seed: draws the resamples.
    """
    statistics = {
        removed: sentence_statistics("bleu", it.translations, data.target)
        for removed, it in measured.items()
    }  # each [sentence, statistic]
    generator = np.random.default_rng(seed)
    sums = resampled_sums(list(statistics.values()), generator, resamples)
    scores = measure["bleu"].scores
    drawn = {removed: scores(one) for removed, one in zip(statistics, sums, strict=True)}
    exact = {r: float(scores(one.sum(0, keepdims=True))[0]) for r, one in statistics.items()}
    records = {}
    for removed, of_model in drawn.items():  # [resample]
        low, high = np.percentile(of_model, (2.5, 97.5))
        lower, upper = np.percentile(of_model - drawn[whole], (2.5, 97.5))
        records[removed] = {
            "bleu": exact[removed],
            "bleu_low": float(low),
            "bleu_high": float(high),
            "bleu_difference": exact[removed] - exact[whole],
            "difference_low": float(lower),
            "difference_high": float(upper),
        }
    return records


def _curve_record(point: Point, measured: Measured, bleu: Record) -> Record:
    """Return one row of `CURVE`."""
    heads, removed = point.order.heads, point.removed
    left = {
        f"{site}_left": sum(head.site == site and head not in removed for head in heads)
        for site in SITES
    }
    return {
        "order": point.order.name,
        "draw": point.order.draw,
        "heads_left": point.heads_left,
        "share_left": point.heads_left / len(heads),
        **left,
        **bleu,
        "nll": measured.nll,
        "parameters": measured.parameters,
        "seconds": measured.seconds,
        "sentences": len(measured.translations),
    }


def _band(curve: Sequence[Record]) -> list[Record]:
    """Summarise the random draws at each head count."""
    rows = []
    chance = [record for record in curve if record["order"] == RANDOM]
    for count in dict.fromkeys(record["heads_left"] for record in chance):
        values = [record["bleu"] for record in chance if record["heads_left"] == count]
        rows.append(
            {
                "heads_left": count,
                "draws": len(values),
                "mean": float(np.mean(values)),
                "low": min(values),
                "high": max(values),
            }
        )
    return rows


def area_of(order: str, draw: int, curve: Sequence[Record]) -> Record:
    """Return the area under one order's curve by the trapezoid rule, the whole model = 1.

    It is divided by the width of the shares that were measured, so a curve that never falls
    has area 1. A whole model with BLEU 0 gives NaN: nothing can be kept of nothing.
    """
    rows = [r for r in curve if (r["order"], r["draw"]) == (order, draw)]
    share = np.array([row["share_left"] for row in rows])[::-1]  # [point], few to many
    bleu = np.array([row["bleu"] for row in rows])[::-1]  # [point]
    rectangle = (share[-1] - share[0]) * bleu[-1]
    area = float(np.trapezoid(bleu, share) / rectangle) if rectangle else float("nan")
    return {"order": order, "draw": draw, "area": area}


def points_of_best(points: Sequence[Point], areas: pd.DataFrame) -> list[Point]:
    """Return the points of the metric's order that keeps most, of a random one if alone.

    Args:
        points: every point of every order.
        areas: the rows of `AREA`.
    """
    rows = list(zip(areas["order"], areas["draw"], areas["area"], strict=True))
    best = max(rows, key=lambda row: (row[0] != RANDOM, row[2]))[:2]
    return [point for point in points if (point.order.name, point.order.draw) == best]


def _shown(points: Sequence[Point], areas: pd.DataFrame) -> list[Point]:
    """Choose the models for examples: whole, and on the best metric's order some smaller."""
    of_best = points_of_best(points, areas)
    total = max(point.heads_left for point in of_best)
    chosen = [
        min(of_best, key=lambda point: abs(point.heads_left - share * total))
        for share in (1.0, *EXAMPLE_SHARES)
    ]
    return list(dict.fromkeys(chosen))


def samples_table(
    points: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
    count: int,
) -> dict[str, Table]:
    """Return the table `samples`: a few sentences at every point of every order.

    Of random orders only the first draw is shown.
    """
    shown = [point for point in points if point.order.draw == 0]
    rows = examples_of(shown, measured, data, count)
    return {"samples": Table.of("The same sentences by every smaller model.", EXAMPLES, rows)}


def examples_of(
    shown: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
    count: int,
) -> list[Record]:
    """Return the translations of sentences spread evenly over the split, never hand-picked."""
    numbers = spread(len(data), count)
    return [
        {
            "order": point.order.name,
            "heads_left": point.heads_left,
            "sentence": number,
            "source": data.source[number],
            "reference": data.target[number],
            "translation": measured[point.removed].translations[number],
        }
        for point in shown
        for number in numbers
    ]
