"""The tables of the `ways` analysis, one row a model, and its curves over all numbers of heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...models.data.parallel_text import ParallelText
from ...models.gates import SITES, Head, HeadLayout
from ...models.quality import quality
from ..columns import HEAD
from ..points import Measured
from ..proof import PROOF, PROOF_BEAM
from ..prune_tables import AREA, CURVE, area_of, bleu_by_model
from ..result import Column, Table
from .arms import ArmPoint
from .curves import MEASURES, WAY, against_table, overview_table, resampled, summary_table
from .descent import PROOF_SENTENCES
from .vanishing import vanishing_tables

Record = dict[str, Any]
Key = tuple[str, str, int, int]
"""Where heads may go, the way, the repetition, and how many heads are left."""
_WHERE = WAY[1]
WAYS_CURVE = (
    *CURVE,
    _WHERE,
    Column("chrf", "number", "corpus chrF", "chrF points"),
    Column("undecided", "number", "heads that were undecided when a training ended", "share"),
    Column("updates", "whole", "updates trained since the whole model"),
    Column("choosing", "number", "processor time to choose", "seconds"),
    Column("training", "number", "processor time to train on", "seconds"),
    Column("measuring", "number", "processor time to measure", "seconds"),
    Column("model", "whole", "which training of the network, 0 for the run's own"),
)
WAYS_AREA = (*AREA, _WHERE)
KNEE = (
    *CURVE[:2],
    _WHERE,
    Column("heads_left", "whole", "heads below which BLEU falls faster than on average"),
)
KEPT = (
    *CURVE[:3],
    _WHERE,
    *HEAD,
)


def way_tables(
    points: Sequence[ArmPoint],
    wholes: Sequence[Measured],
    layout: HeadLayout,
    data: ParallelText,
    resamples: int,
    seed: int,
    roles: Mapping[str, Sequence[Head]],
) -> dict[str, Table]:
    """Return all tables of the analysis.

    Args:
        points: of all arms.
        wholes: what the whole model does on test text, by training of the network.
        layout: its heads.
        data: the test sentences.
        resamples: bootstrap resamples.
        seed: draws them.
        roles: heads that have a role, by its family.
    """
    every = _with_whole(layout, points, wholes)
    bleu: dict[Key, Record] = {}
    for model in range(len(wholes)):
        measured = {_key(it): it.measured for it in every if it.model == model}
        bleu |= bleu_by_model(measured, next(iter(measured)), data, resamples, seed)
    total = len(layout)
    curve = [_record(it, total, data, bleu[_key(it)]) for it in every]
    arms = list(dict.fromkeys((it.where, it.name, it.draw) for it in every))
    knees, areas = [], []
    for where, name, draw in arms:
        rows = [row for row in curve if row["where"] == where]
        areas.append({**area_of(name, draw, rows), "where": where})
        knees.append({**_knee(name, draw, rows), "where": where})
    kept = [
        {
            "order": it.name,
            "draw": it.draw,
            "heads_left": len(it.kept),
            "where": it.where,
            **head._asdict(),
        }
        for it in points
        for head in it.kept
    ]
    found = {name: resampled(every, name, data, resamples, seed) for name in MEASURES}
    n = f"{len(data)} test sentences ({data.name})"
    how = f"95 % percentile bootstrap over sentences, {resamples} resamples"
    over = "sentences, trainings of the network and their" if len(wholes) > 1 else "sentences and"
    both = f"95 % percentile bootstrap over {over} repetitions, {resamples} resamples; least and "
    both += "most: of the repetitions"
    caption = "Quality of physically smaller models by the way their heads were chosen."
    return {
        "curve": Table.of(caption, WAYS_CURVE, curve, n=n, interval=how),
        "summary": summary_table(found, n, both, list(found["bleu"].exact)),
        "against": against_table(found["bleu"], n, both),
        "overview": overview_table(every, found["bleu"], knees, n, both),
        "area": Table.of("How much of the quality each curve keeps.", WAYS_AREA, areas, n=n),
        "knee": Table.of("Where each curve bends.", KNEE, knees, n=n),
        "kept": Table.of("Which heads each smaller model has.", KEPT, kept),
        "proof": Table.of(
            "Closed gates against heads cut out of the weights.",
            (*PROOF, _WHERE),
            [
                {"order": it.name, "draw": it.draw, "heads_left": len(it.kept), "where": it.where}
                | dict(it.proof)
                for it in points
                if it.proof
            ],
            n=f"{PROOF_SENTENCES} validation sentences a model, beam {PROOF_BEAM}",
        ),
        **vanishing_tables(every, layout, roles),
    }


def _key(point: ArmPoint) -> Key:
    return (point.where, point.name, point.draw, len(point.kept))


def _with_whole(
    layout: HeadLayout, points: Sequence[ArmPoint], wholes: Sequence[Measured]
) -> list[ArmPoint]:
    """Return all points with the whole model in front of every arm, from many heads to few."""
    heads = layout.heads
    arms = {(it.where, it.name, it.draw): it.model for it in points}
    every = [
        ArmPoint(name, draw, len(heads), heads, wholes[model], where=where, model=model)
        for (where, name, draw), model in arms.items()
    ]
    place = {arm: number for number, arm in enumerate(arms)}
    return sorted(
        [*every, *points], key=lambda it: (place[it.where, it.name, it.draw], -len(it.kept))
    )


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
        "where": point.where,
        "chrf": chrf.score,
        "undecided": float("nan") if point.undecided is None else point.undecided,
        "updates": point.updates,
        "choosing": point.choosing,
        "training": point.training,
        "measuring": point.measuring,
        "model": point.model,
    }


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
