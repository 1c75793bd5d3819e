"""Which sentences and which phenomena pay for removed heads.

BLEU of a whole test split hides where its losses lie. Two tables say it, both along the order
of removal that keeps most: the sentences that lose most chrF at each head count, and quality
by phenomenon, where the sentences of the split are known to show one.

Pitfall: the worst sentences are chosen because they are the worst; they say what can happen
and not what happens on average. Pitfall: of twenty phenomena compared at 95 % one differs by
chance alone, so a single small interval off zero proves little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..models.data.parallel_text import ParallelText
from ..models.gates import Head
from ..models.quality import measure, resampled_sums, sentence_statistics
from .columns import BLEU, BLEU_DIFFERENCE, NLL
from .phenomena import by_phenomenon
from .points import Measured
from .prune_tables import bleu_by_model
from .removal import Point
from .result import Column, Table

Record = dict[str, Any]
WORST = 5

_PLACE = (
    Column("order", "text", "order of removal: a metric"),
    Column("heads_left", "whole", "heads of the smaller model, all sites together"),
)
LOSSES = (
    *_PLACE,
    Column("place", "whole", "1 = the sentence that loses most"),
    Column("sentence", "whole", "number of the sentence in the test split, 0-based"),
    Column("phenomenon", "text", "what the sentence shows; empty if not known"),
    Column("chrf", "number", "chrF of this one sentence by the smaller model", "chrF points"),
    Column("chrf_difference", "number", "that less the whole model's", "chrF points"),
    Column("source", "text", "source sentence"),
    Column("reference", "text", "reference translation"),
    Column("whole", "text", "what the whole model says"),
    Column("translation", "text", "what the smaller model says"),
)
PHENOMENA = (
    *_PLACE,
    Column("phenomenon", "text", "what the sentences show"),
    Column("sentences", "whole", "sentences that show it"),
    *BLEU,
    *BLEU_DIFFERENCE,
    NLL,
    Column("nll_difference", "number", "that less the whole model's", "nats a token"),
    Column("nll_difference_low", "number", "lower bound of nll_difference", "nats a token"),
    Column("nll_difference_high", "number", "upper bound of nll_difference", "nats a token"),
)


def sentence_tables(
    points: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
    shown: Sequence[str],
    resamples: int,
    seed: int,
) -> dict[str, Table]:
    """Return the tables `losses` and `phenomena`; each only where it has rows.

    Args:
        points: one order's, the whole model among them.
        measured: what each model did, by its removed heads.
        data: the test sentences.
        shown: the phenomenon of each sentence, or nothing.
        resamples: bootstrap resamples of the sentences.
        seed: draws the resamples.
    """
    tables = {}
    losses = _losses(points, measured, data, shown)
    if losses:
        caption = "The sentences that lose most chrF at each head count."
        n = f"the worst {WORST} of {len(data)} test sentences ({data.name}) at each head count"
        tables["losses"] = Table.of(caption, LOSSES, losses, n=n)
    groups = by_phenomenon(shown[: len(data)])
    rows = [
        {"phenomenon": name, "sentences": len(numbers), **row}
        for name, numbers in groups.items()
        for row in _of_sentences(points, measured, data, numbers, resamples, seed)
    ]
    if rows:
        tables["phenomena"] = Table.of(
            "Quality by phenomenon against the heads that are left.",
            PHENOMENA,
            rows,
            n=f"{len(data)} test sentences ({data.name}), {len(groups)} phenomena",
            interval="95 % percentile bootstrap over the sentences of a phenomenon, "
            f"{resamples} resamples, paired with the whole model",
        )
    return tables


def sentence_scores(name: str, said: Sequence[str], references: Sequence[str]) -> Any:
    """Return a measure of every sentence by itself  # [sentence]."""
    return measure[name].scores(sentence_statistics(name, said, references))


def _losses(
    points: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
    shown: Sequence[str],
) -> list[Record]:
    """Return the rows of `LOSSES`; sentences that lose nothing are no losses."""
    whole = measured[frozenset()]
    before = sentence_scores("chrf", whole.translations, data.target)  # [sentence]
    rows = []
    for point in points:
        smaller = measured[point.removed]
        after = sentence_scores("chrf", smaller.translations, data.target)  # [sentence]
        change = after - before
        worst = np.argsort(change, kind="stable")[:WORST].tolist()
        for place, number in enumerate((it for it in worst if change[it] < 0), 1):
            rows.append(
                {
                    "order": point.order.name,
                    "heads_left": point.heads_left,
                    "place": place,
                    "sentence": number,
                    "phenomenon": shown[number] if shown else "",
                    "chrf": float(after[number]),
                    "chrf_difference": float(change[number]),
                    "source": data.source[number],
                    "reference": data.target[number],
                    "whole": whole.translations[number],
                    "translation": smaller.translations[number],
                }
            )
    return rows


def _of_sentences(
    points: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
    numbers: Sequence[int],
    resamples: int,
    seed: int,
) -> list[Record]:
    """Return the rows of `PHENOMENA` for some of the sentences, the largest model first."""
    some = {point.removed: _only(measured[point.removed], numbers) for point in points}
    bleu = bleu_by_model(some, frozenset(), data.select(numbers), resamples, seed)
    arrays = [np.array([it.losses, it.tokens], dtype=np.float64).T for it in some.values()]
    sums = resampled_sums(arrays, np.random.default_rng(seed), resamples)
    drawn = {removed: one[:, 0] / one[:, 1] for removed, one in zip(some, sums, strict=True)}
    rows = []
    for point in points:
        low, high = np.percentile(drawn[point.removed] - drawn[frozenset()], (2.5, 97.5))
        nll = some[point.removed].nll
        rows.append(
            {
                "order": point.order.name,
                "heads_left": point.heads_left,
                **bleu[point.removed],
                "nll": nll,
                "nll_difference": nll - some[frozenset()].nll,
                "nll_difference_low": float(low),
                "nll_difference_high": float(high),
            }
        )
    return rows


def _only(measured: Measured, numbers: Sequence[int]) -> Measured:
    """Return what a model did on some of the sentences."""
    return replace(
        measured,
        translations=[measured.translations[number] for number in numbers],
        losses=[measured.losses[number] for number in numbers],
        tokens=[measured.tokens[number] for number in numbers],
    )
