"""What does it cost to remove heads? The `prune` analysis.

Heads are removed in the order of each importance metric, the least important first, and in
random orders. At each head count the heads are cut out of the weights, and the smaller
model translates the main test split. The curve of BLEU against the heads that are left is
the answer, and the area under it, as a share of what the whole model would have, judges the
metrics: a good metric keeps the curve high for long. Random orders are the null.

The orders come from validation text (the `score` analysis), the curve from test text.
Nothing is trained after a removal. All models are scored on the same bootstrap resamples
of the sentences, so that differences from the whole model are paired.

Pitfall: one random order says little; ten show a band. Pitfall: the order of single
ablations is not the best order of joint ones (Michel et al. 2019, section 4.1), so a metric
that predicts leave-one-out best need not have the best curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
from pydantic import Field

from ..models.data.parallel_text import Corpus
from ..models.errors import UsageError
from ..models.quality import RESAMPLES, signature
from ..models.settings import Settings
from ..models.translator import SearchSettings, Translator
from .analysis import Progress, analysis, silent
from .points import PointStore, decoded_together, measure_all
from .proof import proof_points, proof_table
from .provenance import Stopwatch, provenance
from .prune_costs import costs_table
from .prune_sentences import sentence_tables
from .prune_sites import site_points, sites_table
from .prune_tables import curve_tables, points_of_best, samples_table
from .removal import Point, head_counts, orders_by_chance, orders_by_metric
from .result import Result

Share = Annotated[float, Field(ge=0, le=1)]


class PruneSettings(Settings):
    """Which orders, how many heads, how much text.

    Args:
        metrics: orders to follow; None follows every metric that was scored.
        draws: random orders.
        shares: of all heads, how many are left at each point; the whole model is added.
        sentences: the first so many sentences of the main test split.
        search: how the smaller models translate; greedy by default.
        resamples: bootstrap resamples of the sentences.
        proofs: points at which the smaller model is compared with closed gates; None for all.
        proof_sentences: sentences of each such comparison, which is made by a beam.
        examples: sentences shown before and after.
        samples: sentences shown at every point of every order.
        site_order: the metric by which heads of one site alone are removed; the first order
            where this one is not followed.
        jobs: processes; 0 takes one a core on a CPU and one on a GPU.
    """

    metrics: tuple[str, ...] | None = None
    draws: int = Field(default=10, ge=0)
    shares: tuple[Share, ...] = (1, 7 / 8, 3 / 4, 5 / 8, 1 / 2, 3 / 8, 1 / 4, 1 / 8, 0)
    sentences: int = Field(default=300, ge=1)
    search: SearchSettings = SearchSettings(beam=1)
    resamples: int = Field(default=RESAMPLES, ge=1)
    proofs: int | None = Field(default=None, ge=0)
    proof_sentences: int = Field(default=4, ge=1)
    examples: int = Field(default=6, ge=0)
    samples: int = Field(default=3, ge=0)
    site_order: str = "leave_one_out"
    jobs: int = Field(default=0, ge=0)


@analysis("prune")
def prune(
    translator: Translator,
    corpus: Corpus,
    settings: PruneSettings,
    seed: int,
    progress: Progress = silent,
    *,
    scores: Result,
    folder: Path | None = None,
    shown: Sequence[str] = (),
) -> Result:
    """Measure the curve of BLEU against heads, for every order.

    Args:
        scores: the Result of `score` for this very model.
        folder: keeps finished points, so that an interrupted analysis goes on; without one
            they are kept until the analysis ends.
        shown: the phenomenon of every sentence of the main test split, where it is known.

    Raises:
        UsageError: scores of another model, or settings that ask for what was not measured.
        DataError: the test split is empty.
    """
    stopwatch = Stopwatch()
    model = translator.fingerprint
    if scores.provenance.model != model:
        raise UsageError("the scores are of another model: score this model first")
    name, test = next(iter(corpus.tests.items()))
    data = test.head(settings.sentences)
    layout = translator.layout
    orders = orders_by_metric(scores, settings.metrics, layout)
    orders += orders_by_chance(layout, settings.draws, np.random.default_rng(seed))
    counts = head_counts(len(layout), settings.shares)
    points = [Point(order, count) for order in orders for count in counts]
    alone = site_points(orders, settings.site_order, settings.shares)
    about = {
        "model": model,
        "data": data.fingerprint,
        "search": settings.search.model_dump(mode="json"),
    }
    with nullcontext(folder) if folder else TemporaryDirectory() as place:
        store = PointStore(Path(place), about)
        sets = [point.removed for point in (*points, *alone)]
        search, jobs = settings.search, settings.jobs
        measured = measure_all(translator, sets, data, search, store, jobs, progress)
    proven = proof_points(points, settings.proofs)
    some = data.head(settings.proof_sentences)
    drawn = (settings.resamples, seed)
    made = curve_tables(points, measured, data, *drawn, settings.examples)
    best = points_of_best(points, made["area"].rows)
    tables = {
        **made,
        **samples_table(points, measured, data, settings.samples),
        **sites_table(alone, measured, data, *drawn, len(layout)),
        **costs_table(translator, points, measured, data),
        **sentence_tables(best, measured, data, shown, *drawn),
        "proof": proof_table(translator, proven, some, settings.search),
    }
    origin = provenance(
        stopwatch,
        seed=seed,
        model=model,
        data={name: data.fingerprint, **scores.provenance.data},
        device=translator.device,
        signatures={"bleu": signature("bleu", data.target)},
    )
    remarks = (
        "Orders were chosen on validation text; nothing was trained after a removal.",
        "Models were decoded side by side, so the time that each takes alone is not known."
        if decoded_together(data) > 1
        else "Decoding times were taken with other processes running and are rough.",
    )
    return Result("prune", tables, settings.model_dump(mode="json"), origin, remarks)
