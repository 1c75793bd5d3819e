"""The tables of the `ways` analysis, made of the points of all its arms.

Intervals are over sentences and over repetitions at once: every resample draws sentences with
replacement, the same ones for every model, and for each way repetitions with replacement; the
mean over these repetitions is what the way does in this resample. So a way that does well by
one lucky seed has a wide interval, and two ways are compared on the same sentences. With one
repetition the interval is over sentences alone.

Where the network was trained several times, repetitions of one training are not independent: a
resample draws trainings first, the same ones for every way, and then for each way repetitions
of every training that was drawn.

Pitfall: three repetitions say little about the tails of a distribution over seeds; the range
over the repetitions stands beside the interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...models.data.parallel_text import ParallelText
from ...models.quality import measure as quality_measure
from ...models.quality import resampled_sums, sentence_statistics
from ..columns import BLEU_DIFFERENCE
from ..points import Measured
from ..result import Column, Table
from .arms import ArmPoint

Array = NDArray[np.float64]
Record = dict[str, Any]
Place = tuple[str, str]
"""A way, and where heads may go."""
MEASURES = ("bleu", "chrf", "nll")
_UNITS = {"bleu": "BLEU points", "chrf": "chrF points", "nll": "nats a token"}

WAY = (
    Column("order", "text", "the way heads were chosen, or `from scratch`"),
    Column("where", "text", "sites where heads may go: all, or their names"),
)
LEFT = Column("heads_left", "whole", "heads of the smaller model, all sites together")
REPETITIONS = Column("repetitions", "whole", "seeds, or random draws")


def _columns(measure: str) -> tuple[Column, ...]:
    unit = _UNITS[measure]
    return (
        Column(measure, "number", f"mean {measure} of the repetitions", unit),
        Column(f"{measure}_low", "number", "lower bound of the interval", unit),
        Column(f"{measure}_high", "number", "upper bound of the interval", unit),
        Column(f"{measure}_least", "number", "smallest of the repetitions", unit),
        Column(f"{measure}_most", "number", "largest of the repetitions", unit),
    )


SUMMARY = (
    *WAY,
    LEFT,
    REPETITIONS,
    *(it for name in MEASURES for it in _columns(name)),
    *BLEU_DIFFERENCE,
)
AGAINST = (
    *WAY,
    Column("against", "text", "the way it is compared with"),
    LEFT,
    Column("difference", "number", "mean BLEU less that of the other way", "BLEU points"),
    Column("difference_low", "number", "lower bound of the paired interval", "BLEU points"),
    Column("difference_high", "number", "upper bound of the paired interval", "BLEU points"),
)
OVERVIEW = (
    *WAY,
    REPETITIONS,
    Column("area", "number", "mean area under BLEU against share left, whole model = 1"),
    Column("area_low", "number", "lower bound of the interval"),
    Column("area_high", "number", "upper bound of the interval"),
    Column("knee", "number", "mean number of heads below which BLEU falls faster than on average"),
    Column("updates", "number", "updates trained for all models of one curve"),
    Column("choosing", "number", "processor time to choose, one curve", "seconds"),
    Column("training", "number", "processor time to train on, one curve", "seconds"),
    Column("measuring", "number", "processor time to measure, one curve", "seconds"),
)


@dataclass(frozen=True)
class Resampled:
    """Every model's quality, exactly and in every resample, of one measure.

    Args:
        exact: by way, number of heads and repetition.
        drawn: the same with the mean over drawn repetitions, by way and number of heads
            # each [resample]
    """

    exact: dict[tuple[Place, int], list[float]]
    drawn: dict[tuple[Place, int], Array]


def resampled(
    points: Sequence[ArmPoint], measure: str, data: ParallelText, resamples: int, seed: int
) -> Resampled:
    """Return what every way does by one measure, with resamples of sentences and repetitions.

    Args:
        points: of all arms, the whole model among them once an arm, in the order of their
            repetitions, of which every training has as many.
        measure: of `MEASURES`.
        data: the test sentences.
        resamples: how many.
        seed: draws them; the same ones for every measure and way.
    """
    generator = np.random.default_rng(seed)
    statistics = [_statistics(measure, point.measured, data) for point in points]
    sums = resampled_sums(statistics, generator, resamples)  # each [resample, statistic]
    scores = quality_measure[measure].scores if measure in quality_measure else _mean
    draws: dict[tuple[Place, int], list[Array]] = {}
    exact: dict[tuple[Place, int], list[float]] = {}
    for point, one, drawn in zip(points, statistics, sums, strict=True):
        key = ((point.name, point.where), len(point.kept))
        exact.setdefault(key, []).append(float(scores(one.sum(0, keepdims=True))[0]))
        draws.setdefault(key, []).append(scores(drawn))  # [resample]
    trainings = 1 + max(point.model for point in points)
    drawn_trainings = generator.integers(trainings, size=(trainings, 1, resamples))
    picks: dict[tuple[Place, int], Array] = {}
    chosen: dict[Place, NDArray[np.int64]] = {}
    for (place, heads), of_repetitions in draws.items():
        each = len(of_repetitions) // trainings  # one training's stand together, in its order
        if place not in chosen:
            within = generator.integers(each, size=(trainings, each, resamples))
            chosen[place] = (drawn_trainings * each + within).reshape(-1, resamples)
        stacked = np.stack(of_repetitions)  # [repetition, resample]
        picks[place, heads] = np.take_along_axis(stacked, chosen[place], 0).mean(0)
    return Resampled(exact, picks)


def summary_table(
    found: dict[str, Resampled], n: str, interval: str, order: Iterable[tuple[Place, int]]
) -> Table:
    """Return what every way does at every number of heads, by every measure."""
    rows = []
    for place, heads in order:
        row: Record = {"order": place[0], "where": place[1], "heads_left": heads}
        for name, one in found.items():
            values, drawn = one.exact[place, heads], one.drawn[place, heads]
            low, high = np.percentile(drawn, (2.5, 97.5))
            row["repetitions"] = len(values)
            row |= {name: float(np.mean(values)), f"{name}_low": low, f"{name}_high": high}
            row |= {f"{name}_least": min(values), f"{name}_most": max(values)}
        rows.append(row | _from_whole(found["bleu"], place, heads))
    caption = "Quality by way and number of heads, mean over seeds and draws."
    return Table.of(caption, SUMMARY, rows, n=n, interval=interval)


def _from_whole(bleu: Resampled, place: Place, heads: int) -> Record:
    """Return BLEU less that of the whole model, the point of a way with most heads."""
    whole = max(number for other, number in bleu.exact if other == place)
    difference = np.mean(bleu.exact[place, heads]) - np.mean(bleu.exact[place, whole])
    low, high = np.percentile(bleu.drawn[place, heads] - bleu.drawn[place, whole], (2.5, 97.5))
    return {"bleu_difference": difference, "difference_low": low, "difference_high": high}


def against_table(bleu: Resampled, n: str, interval: str) -> Table:
    """Return the difference of every two ways at every number of heads both were measured at."""
    rows = []
    for (place, heads), drawn in bleu.drawn.items():
        for (other, number), theirs in bleu.drawn.items():
            same = number == heads and other[1] == place[1]
            if not same or other == place:
                continue
            means = [float(np.mean(bleu.exact[it, heads])) for it in (place, other)]
            low, high = np.percentile(drawn - theirs, (2.5, 97.5))
            rows.append(
                {
                    "order": place[0],
                    "where": place[1],
                    "against": other[0],
                    "heads_left": heads,
                    "difference": means[0] - means[1],
                    "difference_low": low,
                    "difference_high": high,
                }
            )
    caption = "Ways against each other, at the same number of heads."
    return Table.of(caption, AGAINST, rows, n=n, interval=interval)


def overview_table(
    points: Sequence[ArmPoint],
    bleu: Resampled,
    knees: Sequence[Record],
    n: str,
    interval: str,
) -> Table:
    """Return one row a way: how much it keeps over all numbers of heads, and what it costs."""
    rows = []
    for place in dict.fromkeys((point.name, point.where) for point in points):
        own = [point for point in points if (point.name, point.where) == place]
        repetitions = len({point.draw for point in own})
        counts = sorted({len(point.kept) for point in own})
        exact = np.array([np.mean(bleu.exact[place, it]) for it in counts])  # [point]
        drawn = np.stack([bleu.drawn[place, it] for it in counts])  # [point, resample]
        areas = _area(counts, drawn)  # [resample]
        low, high = np.percentile(areas, (2.5, 97.5))
        bent = [it["heads_left"] for it in knees if (it["order"], it["where"]) == place]
        row = {"order": place[0], "where": place[1], "repetitions": repetitions}
        row |= {"area": float(_area(counts, exact[:, None])[0]), "area_low": low}
        row |= {"area_high": high, "knee": float(np.mean(bent))}
        row["updates"] = sum(it.fresh for it in own) / repetitions
        for name in ("choosing", "training", "measuring"):
            row[name] = sum(getattr(it, name) for it in own) / repetitions
        rows.append(row)
    caption = "How much of the quality each way keeps over all numbers of heads, and its price."
    return Table.of(caption, OVERVIEW, rows, n=n, interval=interval)


def _area(counts: Sequence[int], bleu: Array) -> Array:
    """Return the area under curves [point, curve] of ascending counts, see `area_of`."""
    share = np.array(counts) / counts[-1]  # [point]
    rectangle = (share[-1] - share[0]) * bleu[-1]  # [curve]
    area = np.trapezoid(bleu, share, axis=0)  # [curve]
    return np.where(rectangle > 0, area / np.where(rectangle > 0, rectangle, 1), np.nan)


def _statistics(measure: str, measured: Measured, data: ParallelText) -> Array:
    """Return the sums of which a measure is made, for every sentence  # [sentence, statistic]."""
    if measure == "nll":
        return np.stack([measured.losses, measured.tokens], 1).astype(np.float64)
    return sentence_statistics(measure, measured.translations, data.target)


def _mean(sums: Array) -> Array:
    """Return nats a token of sums of losses and tokens  # [resample]."""
    return sums[:, 0] / sums[:, 1]
