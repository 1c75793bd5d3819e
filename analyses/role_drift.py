"""What became of the roles of the heads that stayed? The same heads before and after pruning.

Two models are set beside the whole one: the CUT one, from which heads were removed and nothing
else was done, and the SMALLER one that was trained on. A head keeps its id, so every head and
question that had a role before, or has one after, is one row: its right answers before and
after on the same sentences, those on which questions are scored, with the paired interval of
the change; for resting and blocks, the attention that goes there.

A role that was there before and is not after was LOST, although its head was kept; one that
was not there before was GAINED: heads take over what others did. Roles of removed heads are
counted in the table `kept`, and whether another head has the same role now.

Pitfall: a role is held at a limit (10 points, corrected p), so a small change can make or
unmake it. Look at the change and its interval before the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor

from ..models.gates import SITES, Head
from ..probe.roles import KINDS, drawn_sentences
from .columns import HEAD
from .result import Column, Table
from .role_seeing import Seen
from .role_tables import BY_SENTENCE, FAMILIES, SHARE, Weights, resampled

DRIFT = (
    Column("model", "text", "cut (heads removed), or smaller (and trained on)"),
    *HEAD,
    Column("family", "text", FAMILIES),
    Column("role", "text", "what the head looks at"),
    Column("before", "number", "as in `roles`, in the whole model", SHARE),
    Column("after", "number", "the same in the other model", SHARE),
    Column("change", "number", "after - before", SHARE),
    Column("change_low", "number", "lower bound of the paired interval", SHARE),
    Column("change_high", "number", "upper bound of the paired interval", SHARE),
    Column("had", "truth", "whether the head had the role"),
    Column("has", "truth", "whether it has it after"),
)
KEPT = (
    Column("model", "text", "cut (heads removed), or smaller (and trained on)"),
    Column("family", "text", FAMILIES),
    Column("role", "text", "what heads looked at"),
    Column("heads", "whole", "heads of the whole model that had the role"),
    Column("removed", "whole", "of them, removed"),
    Column("stayed", "whole", "of them, there and still with the role"),
    Column("gained", "whole", "heads that have it now and had not"),
)
Has = Mapping[tuple[str, str], set[Head]]
"""Heads with a role, by family and role."""


def roles_of(found: Table) -> Has:
    """Return the heads of every role.

    Args:
        found: the table `roles`.
    """
    has: dict[tuple[str, str], set[Head]] = {}
    for row in found.rows.to_dict("records"):
        head = Head(str(row["site"]), int(row["layer"]), int(row["head"]))
        has.setdefault((str(row["family"]), str(row["role"])), set()).add(head)
    return has


def drift_tables(
    before: tuple[Seen, Has],
    after: Mapping[str, tuple[Seen, Has]],
    score: Sequence[int],
    resamples: int,
    seed: int,
    n: str,
) -> dict[str, Table]:
    """Return the tables `drift` and `kept`.

    Args:
        before: what was seen of the whole model, and its roles.
        after: the same of other models, by name, with heads that the whole model has.
        score: sentences on which questions are scored.
        resamples: of these sentences.
        seed: of the resamples.
        n: how many sentences, in words.
    """
    rows, kept = [], []
    for model, (seen, has) in after.items():
        layout = seen.offsets.layout
        generator = np.random.default_rng(seed)
        weights = drawn_sentences(generator, len(score), resamples)
        for role in sorted({*before[1], *has}):
            had, now = before[1].get(role, set()), has.get(role, set())
            kept.append(
                {
                    "model": model,
                    "family": role[0],
                    "role": role[1],
                    "heads": len(had),
                    "removed": sum(head not in layout for head in had),
                    "stayed": len(had & now),
                    "gained": len(now - had),
                }
            )
            for head in sorted({head for head in had | now if head in layout}):
                change = _change(before[0], seen, role, head, list(score), weights)
                if change:
                    named = {"model": model, **head._asdict(), "family": role[0], "role": role[1]}
                    rows.append({**named, **change, "had": head in had, "has": head in now})
    captions = {
        "drift": "Roles of the heads that stayed, in the whole model and after heads were removed.",
        "kept": "What became of each role when heads were removed.",
    }
    return {
        "drift": Table.of(captions["drift"], DRIFT, rows, n=n, interval=BY_SENTENCE),
        "kept": Table.of(captions["kept"], KEPT, kept, n=n),
    }


def _change(
    before: Seen,
    after: Seen,
    role: tuple[str, str],
    head: Head,
    score: list[int],
    weights: Weights,
) -> dict[str, float] | None:
    """Return the share of a role before and after, None where it was not asked for in both."""
    own, other = (_counts(seen, role, head) for seen in (before, after))
    if own is None or other is None:
        return None
    (right, asked), (then, _) = own, other
    right, then, asked = (it[score] for it in (right, then, asked))  # each [sentence]
    low, high = resampled((then - right)[:, None], asked[:, None], weights)
    total = float(asked.sum())
    if not total:
        return None
    shares = float(right.sum()) / total, float(then.sum()) / total
    return {
        "before": shares[0],
        "after": shares[1],
        "change": shares[1] - shares[0],
        "change_low": float(low[0]),
        "change_high": float(high[0]),
    }


def _counts(seen: Seen, role: tuple[str, str], head: Head) -> tuple[Tensor, Tensor] | None:
    """Return how often a head did what a role asks, and how often it was asked  # [sentence]."""
    family, name = role
    column = seen.offsets.layout.column_of(head)
    if family == "position":
        counts = seen.offsets.counts[:, column]  # [sentence, bin]
        return counts[:, seen.offsets.offsets.index(int(name))].double(), counts.sum(1).double()
    if family == "rest":
        mass = seen.sinks.mass[:, column, KINDS.index(name)]  # [sentence]
        return mass.double(), seen.sinks.queries[:, column].double()
    if family == "block":
        asked = seen.relative.asked[:, SITES.index(head.site)]  # [sentence]
        return seen.relative.inside[:, column].double(), asked.double()
    for of, scores in seen.answers:
        if of == family and head in scores.heads:
            names = [f"{arc.relation}, {arc.direction}" for arc in scores.arcs]
            if name in names:
                row = names.index(name)
                right = scores.right[:, row, scores.heads.index(head)]
                return right.double(), scores.asked[:, row].double()
    return None
