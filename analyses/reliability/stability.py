"""Would the metric say the same again? On other sentences, another model, another domain.

- `halves`: the sentences are split in two at random, many times, and the two orders of heads
  are correlated. The Spearman-Brown formula 2 r / (1 + r) says what the correlation would
  be between two samples of the FULL size, since a half is noisier than the whole.
- `sentences`: n sentences against all the others, none of which is among the n. What counts
  is the smallest n from which on the order is stable. A metric that reads no text, such as
  a norm of weights, is the same on all sentences and is not asked these two.
- `seeds`: models trained alike from different seeds. Head 3 of one has nothing to do with
  head 3 of the other but the number. The correlation by head is above zero all the same,
  because heads of one sublayer resemble each other; what chance gives when the numbers are
  shuffled within the sublayers stands beside it, and only what exceeds that would speak of
  the heads themselves. Two comparisons do not depend on how the
  heads of a sublayer are numbered: the mean importance of each SUBLAYER, and the heads of
  each sublayer in order of importance (RANKED), largest with largest. The second is above
  zero for any two models, because both rows descend; what chance gives is the mean over
  shuffled heads and stands beside it. SHAPE needs no order at all: the largest distance
  between the two curves of how much of all importance the k largest heads have, 0 for equal
  curves.
- `domain`: the same model on other text. Here heads are the same heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...models.errors import UsageError
from ...models.gates import HeadLayout
from ...probe.importance import HeadScores
from ..ranking import ALL, Array, between, bounds, columns_of, means, resampled
from ..result import Column, Table

STABILITY = (
    Column("metric", "text", "importance metric"),
    Column("across", "text", "what differs: halves, sentences, seeds or domain"),
    Column("compared", "text", "what is matched: heads, sublayers, ranked heads, or shape"),
    Column("detail", "text", "which models or texts"),
    Column("site", "text", "encoder, decoder, cross, or all"),
    Column("sentences", "whole", "sentences of the one side"),
    Column("others", "whole", "sentences of the other side"),
    Column("draws", "whole", "random choices of sentences, or resamples"),
    Column("kendall", "number", "Kendall's tau-b, mean over draws; NaN: not defined"),
    Column("kendall_low", "number", "2.5 percentile of the draws"),
    Column("kendall_high", "number", "97.5 percentile of the draws"),
    Column("spearman", "number", "Spearman's rho, mean over draws; NaN: not defined"),
    Column("spearman_low", "number", "2.5 percentile of the draws"),
    Column("spearman_high", "number", "97.5 percentile of the draws"),
    Column("spearman_brown", "number", "2 rho / (1 + rho), for halves"),
    Column("chance", "number", "mean rho with shuffled heads, for seeds"),
    Column("distance", "number", "largest distance of the curves of shares, for shape"),
)
_SHUFFLES = 200
Record = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """What the metrics say of one model on one text.

    Args:
        name: of the model or the text, for tables.
        measured: metrics by name.
    """

    name: str
    measured: Mapping[str, HeadScores]

    @property
    def counted(self) -> Sample:
        """Return the same without sentences that a metric did not measure."""
        return Sample(self.name, {name: it.counted for name, it in self.measured.items()})


def halves(scores: HeadScores, draws: int, generator: np.random.Generator) -> list[Record]:
    """Return the correlation of the two halves of random splits, at each site."""
    count = len(scores)
    if count < 2 or reads_no_text(scores):
        return []
    kept = np.array([generator.permutation(count) < count // 2 for _ in range(draws)])
    rows = _splits(scores, kept, {"across": "halves"})
    for row in rows:
        row["spearman_brown"] = 2 * row["spearman"] / (1 + row["spearman"])
    return rows


def reads_no_text(scores: HeadScores) -> bool:
    """Say whether a metric is the same on all of several sentences, as one of weights is."""
    return len(scores) > 1 and bool((scores.values == scores.values[0]).all())


def sizes(
    scores: HeadScores, counts: Sequence[int], draws: int, generator: np.random.Generator
) -> list[Record]:
    """Return the correlation of n sentences with all the others, for each n that leaves n."""
    total = len(scores)
    rows: list[Record] = []
    for count in () if reads_no_text(scores) else counts:
        if 2 * count > total:
            continue
        kept = np.array([generator.permutation(total) < count for _ in range(draws)])
        rows += _splits(scores, kept, {"across": "sentences", "detail": f"{count} sentences"})
    return rows


def _splits(scores: HeadScores, kept: NDArray[np.bool_], about: Record) -> list[Record]:
    """Compare the kept sentences of every draw [draw, sentence] with the others."""
    one, other = means(scores, kept.astype(float)), means(scores, (~kept).astype(float))
    chosen = int(kept[0].sum())
    rows = []
    for site, columns in columns_of(scores.layout).items():
        drawn = between(one[:, columns], other[:, columns])
        numbers = {"sentences": chosen, "others": kept.shape[1] - chosen, "draws": len(kept)}
        rows.append({**about, "compared": "heads", "site": site, **numbers, **_summary(*drawn)})
    return rows


def _summary(kendalls: Array, spearmans: Array) -> Record:
    """Return mean and percentiles of correlations over draws; NaN where any is undefined."""
    found: Record = {}
    for name, drawn in (("kendall", kendalls), ("spearman", spearmans)):
        low, high = bounds(drawn)
        found |= {name: float(drawn.mean()), f"{name}_low": float(low), f"{name}_high": float(high)}
    return found


def domains(metric: str, own: Sample, other: Sample, seed: int, resamples: int) -> list[Record]:
    """Return the correlation of one model on two texts, with both texts resampled."""
    one, two = own.measured[metric], other.measured[metric]
    if reads_no_text(one):
        return []
    drawn = resampled(one, seed, resamples), resampled(two, seed + 1, resamples)
    exact = _whole(one), _whole(two)
    rows = []
    for site, columns in columns_of(one.layout).items():
        found = _summary(*between(drawn[0][:, columns], drawn[1][:, columns]))
        tau, rho = between(exact[0][columns], exact[1][columns])
        numbers = {"sentences": len(one), "others": len(two), "draws": resamples}
        rows.append(
            {
                "across": "domain",
                "compared": "heads",
                "detail": other.name,
                "site": site,
                **numbers,
                **found,
                "kendall": float(tau),
                "spearman": float(rho),
            }
        )
    return rows


def seeds(metric: str, samples: Sequence[Sample], generator: np.random.Generator) -> list[Record]:
    """Return the comparisons of models trained from different seeds, for each two of them.

    Raises:
        UsageError: the models have different heads.
    """
    rows: list[Record] = []
    for one, other in combinations(samples, 2):
        pair = one.measured[metric], other.measured[metric]
        layout = pair[0].layout
        if pair[1].layout != layout:
            raise UsageError(f"{one.name} and {other.name} have different heads: compare equals")
        values = _whole(pair[0]), _whole(pair[1])  # each [head]
        about = {
            "across": "seeds",
            "detail": f"{one.name} / {other.name}",
            "sentences": len(pair[0]),
            "others": len(pair[1]),
        }
        shuffled = shuffled_within(values[1], layout, generator)
        for site, columns in columns_of(layout).items():
            both = values[0][columns], values[1][columns]
            chance = {"chance": float(np.mean(between(both[0], shuffled[:, columns])[1]))}
            rows.append({**about, "compared": "heads", "site": site, **_plain(*both), **chance})
        sublayers = [_sublayer_means(it, layout) for it in values]
        rows.append({**about, "compared": "sublayers", "site": ALL, **_plain(*sublayers)})
        ranked = _ranked(values[0], layout), _ranked(values[1], layout)
        by_chance = [
            between(ranked[0], _ranked(generator.permutation(values[1]), layout))[1]
            for _ in range(_SHUFFLES)
        ]
        chance = {"chance": float(np.mean(by_chance))}
        rows.append({**about, "compared": "ranked", "site": ALL, **_plain(*ranked), **chance})
        if pair[0].higher_is_important:
            apart = {"distance": curve_distance(*values)}
            rows.append({**about, "compared": "shape", "site": ALL, **apart})
    return rows


def curve_distance(one: Array, other: Array) -> float:
    """Return the largest distance of two curves of shares, for values [head].

    A curve says what share of the sum of the positive parts the k largest heads have; NaN
    where that sum is zero.
    """
    curves = []
    for values in (one, other):
        descending = np.sort(np.maximum(values, 0))[::-1]  # [head]
        total = descending.sum()
        curves.append(np.cumsum(descending) / total if total > 0 else np.full(len(values), np.nan))
    return float(np.abs(curves[0] - curves[1]).max())


def stability_table(
    own: Sample,
    others: Sequence[Sample],
    domain: Sample | None,
    *,
    counts: Sequence[int],
    draws: int,
    resamples: int,
    seed: int,
    n: str,
) -> Table:
    """Return all comparisons of each metric.

    Args:
        own: the model in question, on its own text.
        others: models of other seeds.
        domain: the model in question on other text, if there is any.
        counts: numbers of sentences that are compared with the rest.
        draws: random splits of each kind.
        resamples: bootstrap resamples, for the domain.
        seed: of the splits, the same for every metric.
        n: what it rests on, in words.
    """
    records: list[Record] = []
    own, others, domain = own.counted, [it.counted for it in others], domain and domain.counted
    for metric, scores in own.measured.items():
        # Every metric that measured the same sentences sees the same splits.
        found = halves(scores, draws, np.random.default_rng(seed))
        found += sizes(scores, counts, draws, np.random.default_rng(seed))
        found += seeds(metric, [own, *others], np.random.default_rng(seed))
        if domain is not None:
            found += domains(metric, own, domain, seed, resamples)
        records += [{"metric": metric, "detail": "", **row} for row in found]
    return Table.of(
        "How far each metric says the same of other sentences, seeds and text.",
        STABILITY,
        records,
        n=n,
        interval=f"2.5 to 97.5 percentile of {draws} random splits (halves, sentences) or of "
        f"{resamples} bootstrap resamples of both texts (domain)",
    )


def _whole(scores: HeadScores) -> Array:
    """Return importance over all sentences  # [head]."""
    return np.asarray(means(scores, np.ones((1, len(scores))))[0])


def _plain(one: Array, other: Array) -> Record:
    tau, rho = between(one, other)
    return {"kendall": float(tau), "spearman": float(rho)}


def _sublayer_means(values: Array, layout: HeadLayout) -> Array:
    """Return the mean over the heads of every sublayer that has any  # [sublayer]."""
    parts = [values[columns] for columns in layout.slices.values()]
    return np.array([part.mean() for part in parts if len(part)])


def shuffled_within(values: Array, layout: HeadLayout, generator: np.random.Generator) -> Array:
    """Return values [head] with the heads of each sublayer shuffled  # [shuffle, head]."""
    rows = np.repeat(values[None], _SHUFFLES, axis=0)  # [shuffle, head]
    parts = [generator.permuted(rows[:, at], axis=1) for at in layout.slices.values()]
    return np.concatenate(parts, axis=1)


def _ranked(values: Array, layout: HeadLayout) -> Array:
    """Return values sorted within every sublayer, the largest first  # [head]."""
    return np.concatenate([np.sort(values[columns])[::-1] for columns in layout.slices.values()])
