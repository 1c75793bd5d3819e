"""The tables of the analysis `roles`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..models.gates import Head
from ..probe.roles import KINDS, OffsetProfile, RelativeMap, SinkMass, Tested
from ..probe.roles.positional import STRICT
from ..probe.roles.testing import PARTS
from .columns import HEAD
from .result import Column, Table

RESTING = 0.5
"""Share of a head's attention from which it is said to rest on a kind of key."""
SHARE = "share, 0 to 1"
BY_SENTENCE = "95 % percentile bootstrap over sentences"
FAMILIES = "position, rest, block, syntax, semantics, tokens or alignment"
ARCS = (
    *HEAD,
    Column("family", "text", "syntax, semantics, tokens or alignment"),
    Column("kind", "text", "what was asked: a relation, a role, ..."),
    Column("direction", "text", "who asks, and what is right"),
    Column("questions", "whole", "questions on the scoring half"),
    Column("accuracy", "number", "right answers", SHARE),
    Column("place", "text", "best fixed place on the choosing half: offset, first or last"),
    Column("baseline", "number", "right answers of that place", SHARE),
    Column("chance", "number", "right answers of a random key", SHARE),
    Column("floor", "number", "right answers of the best head with random weights", SHARE),
    Column("effect", "number", "accuracy - the strongest of the three", SHARE),
    Column("effect_low", "number", "lower bound of the interval", SHARE),
    Column("effect_high", "number", "upper bound of the interval", SHARE),
    Column("p", "number", "sign-flip test against all three, one-sided", "probability"),
    Column("p_holm", "number", "p corrected for all heads and questions", "probability"),
    Column("chosen", "truth", "whether it is the best head on the choosing half"),
    Column("role", "truth", "whether the effect is 10 points or more, and p_holm 0.05 or less"),
)
ROLES = (
    *HEAD,
    Column("family", "text", FAMILIES),
    Column("role", "text", "what the head looks at"),
    Column("share", "number", "queries that do so, or the attention that rests there", SHARE),
    Column("share_low", "number", "lower bound of the interval", SHARE),
    Column("share_high", "number", "upper bound of the interval", SHARE),
    Column(
        "baseline", "number", "strongest of place, chance, random weights; distance alone", SHARE
    ),
    Column("effect", "number", "share - baseline", SHARE),
    Column("effect_low", "number", "lower bound of the interval", SHARE),
    Column("effect_high", "number", "upper bound of the interval", SHARE),
    Column("p_holm", "number", "corrected p; empty where nothing was tested", "probability"),
)
OFFSETS = (
    *HEAD,
    Column("offset", "whole", "key position - query position; empty for all further away"),
    Column("share", "number", "queries whose largest weight is there", SHARE),
    Column("weight", "number", "mean weight on a word that is there; no value: none is", SHARE),
    Column("random", "number", "the same in random weights, the largest of all heads", SHARE),
)
SINKS = (
    *HEAD,
    Column("kind", "text", "what kind of key: words, punctuation, start, end, self"),
    Column("mass", "number", "attention that rests there, mean of all queries", SHARE),
    Column("mass_low", "number", "lower bound of the interval", SHARE),
    Column("mass_high", "number", "upper bound of the interval", SHARE),
    Column("random", "number", "the same in random weights, the largest of all heads", SHARE),
)
Row = dict[str, Any]
Weights = NDArray[np.int16]


@dataclass(frozen=True)
class Answer:
    """One tested question with its family and corrected p."""

    family: str
    found: Tested
    p_holm: float

    @property
    def name(self) -> str:
        """Return what the head was asked for."""
        return f"{self.found.arc.relation}, {self.found.arc.direction}"

    @property
    def role(self) -> bool:
        """Tell whether the head has the role."""
        return self.found.holds(self.p_holm)


def arcs_table(answers: Sequence[Answer], n: str) -> Table:
    """Return every head on every kind of question."""
    rows = []
    for it in answers:
        found = it.found
        rows.append(
            {
                **found.head._asdict(),
                "family": it.family,
                "kind": found.arc.relation,
                "direction": found.arc.direction,
                **_some(found, "questions", "accuracy", "place", "baseline", "chance", "floor"),
                **_some(found, "effect", "p", "chosen"),
                "effect_low": found.low,
                "effect_high": found.high,
                "p_holm": it.p_holm,
                "role": it.role,
            }
        )
    caption = (
        "How often each head looks at the right word, beside what knows nothing. Places and the "
        "best random head are chosen on one half of the sentences; all numbers are of the other."
    )
    return Table.of(caption, ARCS, rows, n=n, interval=BY_SENTENCE)


def _some(found: Tested, *names: str) -> Row:
    return {name: getattr(found, name) for name in names}


def offsets_table(
    profile: OffsetProfile, floors: Sequence[OffsetProfile], means: RelativeMap, n: str
) -> Table:
    """Return every head's full profile, and its mean map by relative position."""
    largest = largest_of([floor.shares() for floor in floors], profile.layout.heads)
    mean = means.mean()  # [head, bin]
    rows = []
    for column, (head, shares) in enumerate(
        zip(profile.layout, profile.shares().tolist(), strict=True)
    ):
        for bin, offset in enumerate([*profile.offsets, None]):
            weight = float(mean[column, bin])
            rows.append(
                {
                    **head._asdict(),
                    "offset": offset,
                    "share": shares[bin],
                    "weight": None if math.isnan(weight) else weight,
                    "random": largest[head.site][bin] if floors else None,
                }
            )
    caption = "At which distance every head's largest weight is, and its mean weight by distance."
    return Table.of(caption, OFFSETS, rows, n=n)


def sinks_table(found: SinkMass, floors: Sequence[SinkMass], weights: Weights, n: str) -> Table:
    """Return what every head rests on.

    Args:
        weights: how often each resample has a sentence [resample, sentence]
    """
    largest = largest_of([floor.shares() for floor in floors], found.layout.heads)
    bounds = resampled(found.mass, found.queries[..., None], weights)
    shares = found.shares().tolist()
    rows = []
    for column, head in enumerate(found.layout):
        for place, kind in enumerate(KINDS):
            rows.append(
                {
                    **head._asdict(),
                    "kind": kind,
                    "mass": shares[column][place],
                    "mass_low": bounds[0][column, place],
                    "mass_high": bounds[1][column, place],
                    "random": largest[head.site][place] if floors else None,
                }
            )
    caption = "On which kind of key every head's attention rests; the kinds of a head sum to 1."
    return Table.of(caption, SINKS, rows, n=n, interval=BY_SENTENCE)


def largest_of(shares: Sequence[torch.Tensor], heads: Sequence[Head]) -> dict[str, list[float]]:
    """Return, for every site and bin, the largest share of any head of any network."""
    largest: dict[str, list[float]] = {}
    for site in {head.site for head in heads} if shares else ():
        columns = [column for column, head in enumerate(heads) if head.site == site]
        largest[site] = torch.stack([it[columns] for it in shares]).amax((0, 1)).tolist()
    return largest


def resampled(
    counts: torch.Tensor, total: torch.Tensor, weights: Weights
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the percentile interval of a ratio of sums over sentences.

    Args:
        counts, total: numerator and denominator, which may be broadcast  # each [sentence, ...]
        weights: how often each resample has a sentence [resample, sentence]
    """
    top, bottom = _summed(counts, weights), _summed(total, weights)  # each [resample, ...]
    with np.errstate(invalid="ignore"):  # a resample in which nothing was asked
        ratios = top / bottom
    shape = ratios.shape[1:]
    ratios = ratios.reshape(len(ratios), -1)
    missing = np.isnan(ratios)
    whole, some = ~missing.any(0), missing.any(0) & ~missing.all(0)
    bounds = np.full((2, ratios.shape[1]), np.nan)
    bounds[:, whole] = np.percentile(ratios[:, whole], (2.5, 97.5), axis=0)
    if some.any():  # much slower
        bounds[:, some] = np.nanpercentile(ratios[:, some], (2.5, 97.5), axis=0)
    low, high = bounds
    return low.reshape(shape), high.reshape(shape)


def _summed(counts: torch.Tensor, weights: Weights) -> NDArray[np.float64]:
    """Return the sums of every resample, some resamples at once  # [resample, ...].

    Args:
        counts: [sentence, ...]
        weights: [resample, sentence]
    """
    flat = counts.reshape(len(counts), -1).double().numpy()
    parts = [some.astype(np.float64) @ flat for some in np.array_split(weights, PARTS)]
    return np.concatenate(parts).reshape(len(weights), *counts.shape[1:])


def roles_table(
    answers: Iterable[Answer],
    profile: OffsetProfile,
    sinks: Table,
    blocks: Table,
    weights: Weights,
    n: str,
) -> Table:
    """Return every role of every head, one a row, by head.

    Args:
        answers: to all questions.
        profile: where heads look by distance.
        sinks, blocks: the tables of this name.
        weights: how often each resample has a sentence [resample, sentence]
        n: how many sentences, in words.
    """
    rows = [*_positions(profile, weights), *_rests(sinks), *_blocks(blocks)]
    for it in answers:
        if it.role:
            found = it.found
            strongest = max(found.baseline, found.chance, found.floor)
            rows.append(
                {
                    **found.head._asdict(),
                    "family": it.family,
                    "role": it.name,
                    "share": found.accuracy,
                    "baseline": strongest,
                    "effect": found.effect,
                    "effect_low": found.low,
                    "effect_high": found.high,
                    "p_holm": it.p_holm,
                }
            )
    order = {head: place for place, head in enumerate(profile.layout)}
    rows.sort(key=lambda row: (order[Head(row["site"], row["layer"], row["head"])], -row["share"]))
    caption = (
        f"What heads were found to do: {STRICT:.0%} of the queries at one offset; half of the "
        "attention on one kind of key; 10 points more of it inside a block than distance and "
        "random weights explain; or at least 10 points more right answers than the best "
        "fixed place, chance and random weights, after Holm's correction."
    )
    return Table.of(caption, ROLES, rows, n=n, interval=BY_SENTENCE)


def _positions(profile: OffsetProfile, weights: Weights) -> Iterable[Row]:
    for column, (head, (offset, share)) in enumerate(
        zip(profile.layout, profile.best(), strict=True)
    ):
        if share >= STRICT:
            counts = profile.counts[:, column]  # [sentence, bin]
            there = counts[:, profile.offsets.index(offset)]  # [sentence]
            low, high = resampled(there[:, None], counts.sum(1, keepdim=True), weights)
            yield {
                **head._asdict(),
                "family": "position",
                "role": f"{offset:+d}" if offset else "0",
                "share": share,
                "share_low": low[0],
                "share_high": high[0],
            }


def _blocks(blocks: Table) -> Iterable[Row]:
    for row in blocks.rows.to_dict("records"):
        if row["role"]:
            named = {name: row[name] for name in ("site", "layer", "head", "effect")}
            yield {
                **named,
                "family": "block",
                "role": "block",
                "share": row["inside"],
                "baseline": max(row["expected"], row["inside"] - row["effect"]),
                "effect_low": row["effect_low"],
                "effect_high": row["effect_high"],
            }


def _rests(sinks: Table) -> Iterable[Row]:
    for row in sinks.rows.to_dict("records"):
        # Words are no sink: a head that looks at words looks at all sorts of things.
        if row["kind"] != "words" and row["mass"] >= RESTING:
            yield {
                **{name: row[name] for name in ("site", "layer", "head")},
                "family": "rest",
                "role": row["kind"],
                "share": row["mass"],
                "share_low": row["mass_low"],
                "share_high": row["mass_high"],
            }
