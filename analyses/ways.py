"""Which way of choosing heads keeps most of the quality? The `ways` analysis.

Every way chooses heads at the same numbers of heads, the heads are cut out of the weights, all
smaller models are trained on alike (or not at all), and all translate the same test
sentences. Ways that depend on a seed are repeated with several, and random orders show what
chance gives; a control of the same shapes from random weights shows what the shape gives.

The table `curve` is that of the `prune` analysis with chrF, one row a way, repetition and
number of heads; `summary` has mean and range over the repetitions; `area` judges a way over
all numbers; `knee` is the number of heads below which its curve falls; `kept` says which heads
each model has left, and so in which order sites lose theirs.

Pitfall: ways that train see more updates than those that only measure. Compare them after a
fine-tuning that is long enough for all, or look at the updates beside the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pydantic import Field

from ..models.data.parallel_text import Corpus, ParallelText
from ..models.gates import SITES
from ..models.quality import RESAMPLES, quality, signature
from ..models.settings import Settings
from ..models.training.from_corpus import Recipe
from ..models.translator import SearchSettings, Translator
from .analysis import Progress, silent
from .columns import HEAD
from .points import measure
from .provenance import Stopwatch, provenance
from .prune_tables import AREA, CURVE, area_of, bleu_by_model
from .pruning.arms import Arm, ArmPoint, run_arms
from .pruning.finish import Finish
from .pruning.goal import Goal, fewest, way_of
from .pruning.way import Task
from .removal import RANDOM, head_counts
from .result import Column, Result, Table

Record = dict[str, Any]
_PLACE = (*CURVE[:3],)
WAYS_CURVE = (
    *CURVE,
    Column("chrf", "number", "corpus chrF", "chrF points"),
    Column("undecided", "number", "heads that were undecided when a training ended", "share"),
)
SUMMARY = (
    CURVE[0],
    CURVE[2],
    Column("repetitions", "whole", "seeds, or random draws"),
    Column("mean", "number", "mean BLEU of the repetitions", "BLEU points"),
    Column("low", "number", "BLEU of the worst", "BLEU points"),
    Column("high", "number", "BLEU of the best", "BLEU points"),
)
KNEE = (
    *CURVE[:2],
    Column("heads_left", "whole", "heads below which BLEU falls faster than on average"),
)
KEPT = (
    *_PLACE,
    *HEAD,
)


class WaysSettings(Settings):
    """Which ways, at how many heads, how often, on how much text.

    Args:
        ways: members of the `way` family, or metrics, whose order is then followed.
        options: options of single ways, `{"l0": {"share": 0.5}}`.
        finish: what is done after heads are gone, for all ways alike.
        shares: of the heads, how many are left at each point; the whole model is added.
        sites: where heads may go.
        seeds: repetitions of what depends on a seed.
        draws: random orders, where `random` is among the ways and nothing is trained after.
        control: the way whose shapes are also trained from scratch.
        sentences: the first so many of the main test split.
        search: how to translate; greedy by default.
        resamples: bootstrap resamples of the sentences.
        jobs: processes; 0 takes one a core on a CPU and one on a GPU.
    """

    ways: tuple[str, ...] = ("leave_one_out", "greedy", "l0", "subset", "random")
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    finish: Finish = Finish()
    shares: tuple[float, ...] = (7 / 8, 3 / 4, 5 / 8, 1 / 2, 3 / 8, 1 / 4, 1 / 6, 1 / 8)
    sites: tuple[str, ...] = SITES
    seeds: int = Field(default=1, ge=1)
    draws: int = Field(default=10, ge=1)
    control: str | None = None
    sentences: int = Field(default=300, ge=1)
    search: SearchSettings = SearchSettings(beam=1)
    resamples: int = RESAMPLES
    jobs: int = Field(default=0, ge=0)


def ways(
    translator: Translator,
    corpus: Corpus,
    settings: WaysSettings,
    seed: int,
    progress: Progress = silent,
    *,
    recipe: Recipe,
    folder: Path | None = None,
) -> Result:
    """Measure the curve of quality against heads for every way.

    Args:
        recipe: how the model was trained.
        folder: keeps finished points and trainings, so that a killed comparison goes on.

    Raises:
        UsageError: an unknown way or option.
    """
    stopwatch = Stopwatch()
    layout = translator.layout
    candidates = Goal(sites=settings.sites).candidates(layout)
    data = corpus.test.head(settings.sentences)
    least = fewest(layout, len(candidates))
    counts = [it for it in head_counts(len(candidates), settings.shares)[1:] if it >= least]
    with nullcontext(str(folder)) if folder else TemporaryDirectory() as place:
        task = Task(translator, corpus, recipe, candidates, seed, Path(place))
        arms = _arms(task, settings)
        total = len(counts) * sum(1 + arm.control for arm in arms)
        points = []
        progress("ways", 0, total)
        search, jobs = settings.search, settings.jobs
        for point in run_arms(arms, counts, data, search, Path(place) / "points", jobs):
            points.append(point)
            progress("ways", len(points), total, f"{point.name}, {point.heads} heads")
    tables = _tables(translator, points, data, settings, seed)
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"valid": corpus.valid.fingerprint, "test": data.fingerprint},
        device=translator.device,
        signatures={"bleu": signature("bleu", data.target)},
    )
    remarks = (
        "Heads were chosen on training and validation text; test text only judged.",
        f"All smaller models were trained on alike: {settings.finish.finetune}.",
    )
    return Result("ways", tables, settings.model_dump(mode="json"), origin, remarks)


def _arms(task: Task, settings: WaysSettings) -> list[Arm]:
    """Return one arm a way and repetition, in folders of their own."""
    trained = settings.finish.finetune != "none" or bool(settings.finish.share)
    arms = []
    for name in settings.ways:
        member = way_of(name, settings.options.get(name, {}))
        chance = name == RANDOM and not trained
        repetitions = settings.seeds if trained or member.seeded else 1
        for draw in range(settings.draws if chance else repetitions):
            own = replace(task, seed=task.seed + draw, folder=task.folder / f"{name}-{draw}")
            control = name == settings.control
            arms.append(Arm(name, draw, member, own, settings.finish, control))
    return arms


def _tables(
    translator: Translator,
    points: Sequence[ArmPoint],
    data: ParallelText,
    settings: WaysSettings,
    seed: int,
) -> dict[str, Table]:
    """Return all tables of the analysis."""
    whole = measure(translator, (), data, settings.search)
    places = dict.fromkeys((point.name, point.draw) for point in points)
    every = [
        ArmPoint(*place, len(translator.layout), translator.layout.heads, whole) for place in places
    ] + list(points)
    every.sort(key=lambda it: (list(places).index((it.name, it.draw)), -len(it.kept)))
    measured = {(it.name, it.draw, len(it.kept)): it.measured for it in every}
    first = next(iter(measured))
    bleu = bleu_by_model(measured, first, data, settings.resamples, seed)
    total = len(translator.layout)
    curve = [_record(it, total, data, bleu[it.name, it.draw, len(it.kept)]) for it in every]
    areas = [area_of(*place, curve) for place in places]
    knees = [_knee(*place, curve) for place in places]
    kept = [
        {"order": it.name, "draw": it.draw, "heads_left": len(it.kept), **head._asdict()}
        for it in points
        for head in it.kept
    ]
    n = f"{len(data)} test sentences ({data.name})"
    how = f"95 % percentile bootstrap over sentences, {settings.resamples} resamples"
    span = "smallest and largest of the repetitions"
    captions = {
        "curve": "Quality of physically smaller models by the way their heads were chosen.",
        "summary": "The same over seeds and draws.",
        "area": "How much of the quality each way keeps, over all numbers of heads.",
        "knee": "Where each curve bends.",
        "kept": "Which heads each smaller model has.",
    }
    return {
        "curve": Table.of(captions["curve"], WAYS_CURVE, curve, n=n, interval=how),
        "summary": Table.of(captions["summary"], SUMMARY, _summary(curve), n=n, interval=span),
        "area": Table.of(captions["area"], AREA, areas, n=n),
        "knee": Table.of(captions["knee"], KNEE, knees, n=n),
        "kept": Table.of(captions["kept"], KEPT, kept),
    }


def _record(point: ArmPoint, total: int, data: ParallelText, bleu: Record) -> Record:
    """Return one row of `WAYS_CURVE`."""
    said = point.measured.translations
    chrf = quality("chrf", said, data.target, np.random.default_rng(0), resamples=1)
    return {
        "order": point.name,
        "draw": point.draw,
        "heads_left": len(point.kept),
        "share_left": len(point.kept) / total,
        **{f"{site}_left": sum(head.site == site for head in point.kept) for site in SITES},
        **bleu,
        "nll": point.measured.nll,
        "parameters": point.measured.parameters,
        "seconds": point.measured.seconds,
        "sentences": len(said),
        "chrf": chrf.score,
        "undecided": float("nan") if point.undecided is None else point.undecided,
    }


def _summary(curve: Sequence[Record]) -> list[Record]:
    """Summarise the repetitions of each way at each number of heads."""
    rows = []
    for order, heads in dict.fromkeys((row["order"], row["heads_left"]) for row in curve):
        values = [
            row["bleu"] for row in curve if (row["order"], row["heads_left"]) == (order, heads)
        ]
        rows.append(
            {
                "order": order,
                "heads_left": heads,
                "repetitions": len(values),
                "mean": float(np.mean(values)),
                "low": min(values),
                "high": max(values),
            }
        )
    return rows


def _knee(order: str, draw: int, curve: Sequence[Record]) -> Record:
    """Return the point that lies highest above the line from the fewest to the most heads.

    With share and BLEU both scaled to 0 ... 1 this is where the slope equals the mean slope
    (Satopää et al. 2011).
    """
    rows = [row for row in curve if (row["order"], row["draw"]) == (order, draw)]
    share = np.array([row["share_left"] for row in rows])  # [point], many to few
    bleu = np.array([row["bleu"] for row in rows])  # [point]
    width, height = share[0] - share[-1], bleu[0] - bleu[-1]
    above = (bleu - bleu[-1]) / (height or 1) - (share - share[-1]) / (width or 1)  # [point]
    return {"order": order, "draw": draw, "heads_left": rows[int(above.argmax())]["heads_left"]}
