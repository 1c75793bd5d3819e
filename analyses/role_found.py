"""What was seen of a network, tested, and laid out in the tables of `roles`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..probe.roles import compared, drawn_sentences, holm
from .result import Table
from .role_alignment import alignment_table
from .role_drift import drift_tables, roles_of
from .role_seeing import Seen
from .role_shapes import blocks_table, shapes_table
from .role_tables import (
    Answer,
    Weights,
    arcs_table,
    offsets_table,
    roles_table,
    sinks_table,
)


@dataclass(frozen=True)
class Found:
    """What was seen of one network, and what that says.

    Args:
        seen: all counts.
        answers: every question, tested.
    """

    seen: Seen
    answers: list[Answer]


def answers_of(own: Seen, floors: Sequence[Seen], resamples: int, seed: int) -> list[Answer]:
    """Test every head on every kind of question, with one correction for all of them.

    Args:
        own: of the model.
        floors: of networks with random weights, which were asked the same.
        resamples: of the sentences, for the intervals.
        seed: of the resamples.
    """
    choose, score = halves(len(own.offsets.counts))
    found = []
    for place, (family, scores) in enumerate(own.answers):
        others = [floor.answers[place][1] for floor in floors]
        generator = np.random.default_rng(seed)
        rows = compared(scores, choose, score, others, generator=generator, resamples=resamples)
        found += [(family, row) for row in rows]
    corrected = holm([row.p for _, row in found])
    return [Answer(*pair, p) for pair, p in zip(found, corrected, strict=True)]


def halves(sentences: int) -> tuple[range, range]:
    """Return the sentences that choose, and those on which the choice is scored."""
    return range(0, sentences, 2), range(1, sentences, 2)


def tables_of(
    own: Found,
    floors: Sequence[Seen],
    others: Mapping[str, Found],
    resamples: int,
    seed: int,
    n: str,
) -> dict[str, Table]:
    """Return the tables of what heads look at.

    Args:
        own: of the model.
        floors: of the networks with random weights.
        others: of what is left of the model, by name.
        resamples: of the sentences, for the intervals.
        seed: of the resamples.
        n: how many sentences, in words.
    """
    seen, size = own.seen, len(own.seen.offsets.counts)
    choose, score = halves(size)
    draw = np.random.default_rng(seed)
    whole = drawn_sentences(draw, size, resamples)
    half = f"{len(score)} of {n}"
    shapes = [(network.relative, network.sinks) for network in (seen, *floors)]
    tables = _roles(own, floors, whole, n) | {
        "arcs": arcs_table(own.answers, half),
        "offsets": offsets_table(
            seen.offsets, [floor.offsets for floor in floors], seen.relative, n
        ),
        "shapes": shapes_table(shapes, n),
    }
    if seen.alignment:
        drawn = drawn_sentences(draw, len(score), resamples)
        models = {"whole": seen.alignment} | {
            name: found.seen.alignment for name, found in others.items()
        }
        tables["alignment"] = alignment_table(models, choose, score, drawn, half)
    if others:
        after = {}
        for name, found in others.items():
            has = roles_of(_roles(found, floors, whole, n)["roles"])
            after[name] = (found.seen, has)
        before = (seen, roles_of(tables["roles"]))
        tables |= drift_tables(before, after, score, resamples, seed, half)
    return tables


def _roles(found: Found, floors: Sequence[Seen], weights: Weights, n: str) -> dict[str, Table]:
    """Return the table `roles` of a network, with those that it is made of."""
    seen = found.seen
    sinks = sinks_table(seen.sinks, [floor.sinks for floor in floors], weights, n)
    blocks = blocks_table(seen.relative, [floor.relative for floor in floors], weights, n)
    roles = roles_table(found.answers, seen.offsets, sinks, blocks, weights, n)
    return {"roles": roles, "sinks": sinks, "blocks": blocks}
