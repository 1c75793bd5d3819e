"""Does every metric find the head that carries the answer? The planted network as a test.

The network of `models/planted.py` was set by hand so that one head carries the answer. Each
metric of the family is measured on it, at its default options, and must rank that head
first; each proof that the metric gives of itself must hold there. A random order is
measured too, for it says what finding the head by luck looks like, and is excused.

Pitfall: to pass here is necessary, not sufficient. In a trained network many heads share
the work, and the truth has more than one name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..models.planted import CARRIER, COPIER, planted_text, planted_translator
from ..probe.importance import HeadScores, Proof, metric
from .analysis import Progress, silent
from .provenance import Stopwatch, provenance
from .removal import RANDOM
from .result import Column, Result, Table
from .score_tables import proofs_table

PLANTED = (
    Column("metric", "text", "importance metric"),
    Column("rank", "whole", "rank of the head that carries the answer; 1 is right"),
    Column("value", "number", "value of the head that carries the answer", "see unit"),
    Column("copier", "number", "value of the head that copies the previous token", "see unit"),
    Column("idle", "number", "value of the idle head that looks most important", "see unit"),
    Column("unit", "text", "unit of the values"),
    Column("seconds", "number", "time to measure all heads, wall-clock", "seconds"),
    Column("proofs", "whole", "proofs that the metric gives of itself"),
    Column("hold", "whole", "proofs that hold"),
    Column("exempt", "truth", "whether nothing is asked of it, for it is chance"),
    Column("passes", "truth", "whether it ranks the carrier first and its proofs hold"),
)


def planted(
    metrics: Sequence[str] | None = None,
    sentences: int = 16,
    seed: int = 0,
    progress: Progress = silent,
) -> Result:
    """Measure metrics on the planted network.

    Args:
        metrics: members of the `metric` family; None takes them all.
        sentences: of the planted text.
        seed: of metrics that sample; the network and its text are always the same.
        progress: hears how far the work has come.

    Raises:
        UsageError: an unknown metric.
    """
    stopwatch = Stopwatch()
    translator = planted_translator()
    text = planted_text("planted text", 1, sentences)
    names = list(metric if metrics is None else metrics)
    members = {name: metric[name]() for name in names}
    rows, proofs = [], {}
    for done, (name, member) in enumerate(members.items()):
        progress(f"planted: {name}", done, len(members))
        clock = Stopwatch()
        scores = member.scores(translator, text, torch.Generator().manual_seed(seed))
        seconds = clock.seconds
        given = member.prove(translator, text, torch.Generator().manual_seed(seed))
        rows.append({"metric": name, "seconds": seconds, **_found(name, scores, given)})
        proofs[name] = given
    progress("planted", len(members), len(members))
    n = f"{len(text)} planted sentences"
    what = f"Where each metric ranks {CARRIER}, the head that carries the answer."
    tables = {
        "planted": Table.of(what, PLANTED, rows, n=n),
        "proofs": proofs_table(proofs, n, "What each metric proves of itself there."),
    }
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"planted": text.fingerprint},
        device=translator.device,
    )
    remarks = (f"{COPIER} copies the previous token, too faintly to win; 16 heads are idle.",)
    return Result("planted", tables, {"sentences": sentences}, origin, remarks)


def _found(name: str, scores: HeadScores, proofs: Sequence[Proof]) -> dict[str, Any]:
    """Return what a metric says of the carrier, the copier and the idle heads."""
    sign = 1 if scores.higher_is_important else -1
    by_head = dict(zip(scores.layout, scores.mean.tolist(), strict=True))
    idle = [value for head, value in by_head.items() if head not in (CARRIER, COPIER)]
    rank = int(scores.ranks()[scores.layout.column_of(CARRIER)])
    hold = sum(it.holds for it in proofs)
    return {
        "rank": rank,
        "value": by_head[CARRIER],
        "copier": by_head[COPIER],
        "idle": max(idle, key=lambda value: sign * value),
        "unit": scores.unit,
        "proofs": len(proofs),
        "hold": hold,
        "exempt": name == RANDOM,
        "passes": rank == 1 and hold == len(proofs),
    }
