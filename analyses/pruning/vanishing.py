"""In which order sites and roles lose their heads as a model shrinks.

Voita et al. 2019 (section 6.3, figure 8) see encoder self-attention lose its heads first and
cross-attention keep them longest, and heads with a role outlive those without. Here a group
is a site, or the heads that have a role of one family in the whole model; a head can be in
several. For every head, the number of heads that the model had left when the head was gone
says how early that was; a group's mean of it stands beside that of all heads, which is what
a group gives that is treated like any other.

Pitfall: a head was gone somewhere between two points of the curve; the fewer points, the
coarser the number. Heads that never went count as gone at 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...models.gates import SITES, Head, HeadLayout
from ..result import Column, Result, Table
from .arms import ArmPoint
from .curves import LEFT, REPETITIONS, WAY

Record = dict[str, Any]
Groups = dict[tuple[str, str], frozenset[Head]]
"""Heads by (kind of the group, its name)."""

GROUP = (
    *WAY,
    Column("kind", "text", "site, role, or all"),
    Column("group", "text", "the site, or the family of the role; `none` for heads without one"),
    Column("heads", "whole", "heads of the group in the whole model"),
)
SHARES = (
    *GROUP,
    LEFT,
    Column("left", "number", "heads of the group that are left, mean of the repetitions"),
    Column("share", "number", "the same over the heads of the group"),
)
GONE = (
    *GROUP,
    REPETITIONS,
    Column("gone_at", "number", "mean number of heads left when a head of it was gone"),
    Column("gone_at_least", "number", "the same in the repetition where it is smallest"),
    Column("gone_at_most", "number", "the same in the repetition where it is largest"),
    Column("of_all", "number", "the same of all heads that may go"),
)


def groups_of(layout: HeadLayout, roles: Mapping[str, Sequence[Head]]) -> Groups:
    """Return the groups of a model's heads.

    Args:
        layout: of the whole model.
        roles: heads that have a role, by the family of the role; empty where none was sought.
    """
    groups: Groups = {
        ("site", site): frozenset(head for head in layout if head.site == site) for site in SITES
    }
    named = {("role", name): frozenset(layout) & frozenset(them) for name, them in roles.items()}
    if named:
        named["role", "none"] = frozenset(layout).difference(*named.values())
    return {key: heads for key, heads in (groups | named).items() if heads}


def roles_of(result: Result) -> dict[str, list[Head]]:
    """Return the heads that have a role, by its family, from a `roles` Result."""
    found: dict[str, list[Head]] = {}
    for row in result.tables["roles"].rows.to_dict("records"):
        head = Head(str(row["site"]), int(row["layer"]), int(row["head"]))
        found.setdefault(str(row["family"]), []).append(head)
    return found


def vanishing_tables(
    points: Sequence[ArmPoint], layout: HeadLayout, roles: Mapping[str, Sequence[Head]]
) -> dict[str, Table]:
    """Return the tables `groups` and `gone`.

    Args:
        points: of all arms, the whole model among them.
        layout: of the whole model.
        roles: see `groups_of`.
    """
    groups = groups_of(layout, roles)
    shares: list[Record] = []
    gone: list[Record] = []
    for place in dict.fromkeys((point.name, point.where) for point in points):
        arms = _by_draw([it for it in points if (it.name, it.where) == place])
        lost = [_gone_at(of_arm, layout) for of_arm in arms.values()]
        sites = SITES if place[1] == "all" else place[1].split("+")
        may_go = [head for head in layout if head.site in sites]
        everyone = float(np.mean([at[head] for at in lost for head in may_go]))
        for (kind, name), heads in groups.items():
            own = [head for head in heads if head in may_go]
            if not own:
                continue
            row: Record = {"order": place[0], "where": place[1], "kind": kind, "group": name}
            row["heads"] = len(own)
            means = [float(np.mean([at[head] for head in own])) for at in lost]
            extremes = {"gone_at_least": min(means), "gone_at_most": max(means)}
            summary = {"repetitions": len(means), "gone_at": float(np.mean(means))}
            gone.append(row | summary | extremes | {"of_all": everyone})
            shares += [row | it for it in _left(arms, frozenset(own))]
    said = "The number is that of the whole model's heads; larger means earlier."
    return {
        "groups": Table.of("Heads of each site and role that are left.", SHARES, shares),
        "gone": Table.of(f"How early sites and roles lose their heads. {said}", GONE, gone),
    }


def _by_draw(points: Sequence[ArmPoint]) -> dict[int, list[ArmPoint]]:
    """Return the points of each repetition, from many heads to few."""
    ordered = sorted(points, key=lambda it: -len(it.kept))
    return {draw: [it for it in ordered if it.draw == draw] for draw in {p.draw for p in points}}


def _gone_at(points: Sequence[ArmPoint], layout: HeadLayout) -> dict[Head, int]:
    """Return how many heads were left at the first point without each head; 0 for no point."""
    gone = dict.fromkeys(layout, 0)
    for point in reversed(points):
        for head in set(layout) - set(point.kept):
            gone[head] = len(point.kept)
    return gone


def _left(arms: Mapping[int, Sequence[ArmPoint]], heads: frozenset[Head]) -> list[Record]:
    """Return how many of some heads are left at every number, mean over the repetitions."""
    rows = []
    for of_number in zip(*arms.values(), strict=True):
        left = float(np.mean([len(heads & set(point.kept)) for point in of_number]))
        number = len(of_number[0].kept)
        rows.append({"heads_left": number, "left": left, "share": left / len(heads)})
    return rows
