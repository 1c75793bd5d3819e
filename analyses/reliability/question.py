"""Which importance metric can be believed? The `reliability` analysis.

A metric is a claim about heads, and this analysis puts the claim to the test, on the model
that it was made about:

- `agreement`: do the metrics order the heads alike, at each site?
- `faithfulness`, `curves`, `areas`: does a metric order single heads as leave-one-out does,
  and does its order prune well, between random orders and a greedy one?
- `stability`: would other sentences, other seeds and other text say the same?
- `concentration`: are few heads important, and is that more than in a network with random
  weights?
- `verdict`: one row a metric, believable or not, and why.

Importance is measured on the first validation sentences and the curves on the next ones (or
on training and validation sentences); the test split is never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ...models.data.parallel_text import Corpus, ParallelText
from ...models.quality import signature
from ...models.translator import Translator
from ...probe.importance import HeadScores, Metric
from ..analysis import Progress, analysis, silent
from ..provenance import Stopwatch, provenance
from ..removal import RANDOM, Point, RemovalOrder, head_counts, orders_by_chance
from ..result import Result, Table
from ..score import measure, prove
from .agreement import agreement_table, with_leave_one_out
from .concentration import concentration_table
from .curves import curve_tables, greedy_order, measure_points
from .measuring import random_networks, token_nll
from .settings import Other, ReliabilitySettings
from .stability import Sample, stability_table
from .verdict import verdict_table


@analysis("reliability")
def reliability(
    translator: Translator,
    corpus: Corpus,
    settings: ReliabilitySettings,
    seed: int,
    progress: Progress = silent,
    *,
    seeds: Sequence[Other] = (),
    domain: Other | None = None,
    folder: Path | None = None,
    name: str = "this model",
) -> Result:
    """Ask of every metric whether it can be believed on this model.

    Args:
        seeds: models that were trained alike from other seeds.
        domain: other text for the same model.
        folder: keeps the finished models of the curves, so that an interrupted analysis goes
            on; without one they are kept until the analysis ends.
        name: of the model, for tables.

    Raises:
        UsageError: an unknown metric, an unknown option of one, or a seed with other heads.
        DataError: the validation split is empty or holds empty sentences only.
    """
    stopwatch = Stopwatch()
    data, unread = texts_of(corpus, settings)
    members = settings.members()
    scored = partial(_scored, members, seed=seed, progress=progress)
    measured = scored(translator, data)
    compared = (*seeds, *([domain] if domain else []))
    others = [
        Sample(it.name, scored(it.translator, it.text.head(settings.sentences))) for it in compared
    ]
    untrained = [
        scored(it, data.head(settings.random_sentences))
        for it in random_networks(translator, settings.random_networks, seed)
    ]
    which = "validation" if settings.split == "valid" else "training"
    n, resamples = f"{len(data)} {which} sentences ({data.name})", settings.resamples
    agreement = agreement_table(measured, seed, resamples, n)
    tables = {"agreement": agreement, "faithfulness": with_leave_one_out(agreement)}
    if len(unread):
        orders = _orders(translator, data, measured, settings, seed, progress)
        tables |= _curves(translator, unread, orders, settings, seed, progress, folder)
    tables["stability"] = stability_table(
        Sample(name, measured),
        others[: len(seeds)],
        others[-1] if domain else None,
        counts=settings.sizes,
        draws=settings.splits,
        resamples=resamples,
        seed=seed,
        n=n,
    )
    few = f"{n}; random weights on the first {min(len(data), settings.random_sentences)}"
    tables["concentration"] = concentration_table(measured, untrained, seed, resamples, few)
    proofs = prove(members, translator, data, settings.proof_sentences, seed, progress)
    tables["verdict"] = verdict_table(list(members), proofs, tables, settings.thresholds, n)
    progress("reliability", 1, 1)
    read = {settings.split: data, "valid, for the curves": unread}
    read |= {it.name: it.text.head(settings.sentences) for it in compared}
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={key: text.fingerprint for key, text in read.items() if len(text)},
        device=translator.device,
        signatures=_signatures(settings, unread),
    )
    remarks = _remarks(settings, translator, data, unread, domain)
    return Result("reliability", tables, settings.model_dump(mode="json"), origin, remarks)


def _scored(
    members: dict[str, Metric],
    translator: Translator,
    data: ParallelText,
    *,
    seed: int,
    progress: Progress,
) -> dict[str, HeadScores]:
    """Return what every metric says of a model on a text, those that can in one walk over it."""
    measured = measure(members, translator, data, seed, progress)
    return {name: it.scores for name, it in measured.items()}


def _signatures(settings: ReliabilitySettings, unread: ParallelText) -> dict[str, str]:
    """Return the signature of BLEU where it was measured."""
    return {"bleu": signature("bleu", unread.target)} if settings.bleu and len(unread) else {}


def texts_of(corpus: Corpus, settings: ReliabilitySettings) -> tuple[ParallelText, ParallelText]:
    """Return what importance is measured on, and what the curves are: no sentence is in both."""
    if settings.split == "train":
        return corpus.train.head(settings.sentences), corpus.valid.head(settings.curve_sentences)
    data = corpus.valid.head(settings.sentences)
    end = min(len(data) + settings.curve_sentences, len(corpus.valid))
    return data, corpus.valid.select(range(len(data), end))


def _orders(
    translator: Translator,
    data: ParallelText,
    measured: Mapping[str, HeadScores],
    settings: ReliabilitySettings,
    seed: int,
    progress: Progress,
) -> list[RemovalOrder]:
    """Return the order of each metric, random orders, and the greedy one if it is wanted."""
    orders = [
        RemovalOrder(name, 0, tuple(scores.removal_order()))
        for name, scores in measured.items()
        if name != RANDOM
    ]
    layout = translator.layout
    orders += orders_by_chance(layout, settings.draws, np.random.default_rng(seed))
    if settings.makes_greedy(len(layout)):
        orders.append(greedy_order(translator, data.head(settings.greedy_sentences), progress))
    return orders


def _curves(
    translator: Translator,
    data: ParallelText,
    orders: Sequence[RemovalOrder],
    settings: ReliabilitySettings,
    seed: int,
    progress: Progress,
    folder: Path | None,
) -> dict[str, Table]:
    """Measure the curve of every order."""
    counts = head_counts(len(translator.layout), settings.shares)
    points = [Point(order, count) for order in orders for count in counts]
    search = settings.search if settings.bleu else None
    measured = measure_points(translator, points, data, search, folder, settings.jobs, progress)
    return curve_tables(points, measured, data, settings.resamples, seed)


def _remarks(
    settings: ReliabilitySettings,
    translator: Translator,
    data: ParallelText,
    unread: ParallelText,
    domain: Other | None,
) -> tuple[str, ...]:
    """Return what a reader must know: what was left out and why."""
    said, sentences = [], len(data)
    if len(unread):
        said.append(
            "Removal orders come from other validation sentences than their curves; nothing was "
            "trained after a removal."
        )
        heads = len(translator.layout)
        if settings.makes_greedy(heads):
            used = min(sentences, settings.greedy_sentences)
            said.append(f"The greedy order was made on {used} sentences.")
        else:
            said.append(
                f"No greedy order was made for {heads} heads, because it takes about "
                f"{heads * (heads + 1) // 2:,} forward passes; ask for it with --greedy."
            )
    else:
        said.append("No validation sentences are left for removal curves; there are none.")
    left_out = [size for size in settings.sizes if 2 * size > sentences]
    if left_out:
        few = ", ".join(f"{size:,}" for size in left_out)
        said.append(
            f"{sentences:,} sentences are too few to compare {few} with as many others; "
            "give more with --sentences."
        )
    if domain is not None:
        text = domain.text.head(settings.sentences)
        said.append(
            f"{domain.name} is foreign to the model by {token_nll(translator, text):.2f} nats a "
            f"token, its own text by {token_nll(translator, data):.2f}."
        )
    return tuple(said)
