"""The map of heads: how much each one matters, its role, when it goes; and a card for each."""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from ..attention import attention_of
from ..cards import anchor, cards_of, dotted
from ..findings import Findings, records
from ..maps import exact, importance_map, role_map, step_map
from ..removal import Name, first_order, head_names, removal_of
from ..rendering import Sheet, caption_of, render
from ..role_letters import FAMILIES, roles_by_head
from ..unproven import unproven
from ..wording import title_of
from . import section

TEASER = 70  # characters of an example sentence in the list to choose from


@section("heads", title="The map of heads", place=30, needs=("score",))
def heads(findings: Findings) -> Markup | None:
    """Every head by the metric you choose, its role, when it goes, and its card."""
    if findings.table("score", "heads") is None:
        return None
    rows, names = findings.rows("score", "heads"), head_names(findings)
    text = (
        "One table for each attention site, one row for each layer, one column for each head. "
        "Brighter is more important; the colour follows the square root of the value's place "
        "between the lowest and the highest of the map. Ids are those of the uncut model."
    )
    broken = unproven(findings)
    metrics = list(rows["metric"].unique())
    maps = [
        {**importance_map(findings, metric, names), "broken": broken.get(metric, "")}
        for metric in metrics
    ]
    attention = attention_of(findings)
    return render(
        "heads.html",
        {
            "maps": maps,
            "others": _other_maps(findings, names),
            "first": _first(findings, metrics),
            "families": _families(findings),
            "heads": len(names),
            "cards": cards_of(findings),
            "attention": attention,
            "sentences": _teasers(findings, attention),
            "remarks": findings.results["score"].remarks,
            "caption": caption_of(
                findings,
                "score",
                ("heads",),
                text,
                unit="as stated above each map",
                figure="heads",
            ),
            "sheet": _sheet(rows[~rows["metric"].isin(broken)], names),
        },
    )


def _other_maps(findings: Findings, names: list[Name]) -> list[dict[str, Any]]:
    """Return the maps that are not of importance, where there is something to show."""
    maps = []
    if findings.table("roles", "offsets") is not None:
        maps.append(role_map(findings, names))
    removal = removal_of(findings)
    if removal is not None:
        shown = removal["orders"][removal["first"]]
        maps.append(step_map(findings, names, shown["title"].lower(), shown["gone"]))
    return maps


def _families(findings: Findings) -> list[tuple[str, str, str]]:
    """Return (name, letter, meaning) of the families of roles that some head has."""
    found = {row["family"] for rows in roles_by_head(findings).values() for row in rows}
    return [(name, *words) for name, words in FAMILIES.items() if name in found]


def _first(findings: Findings, metrics: list[str]) -> str:
    """Return the metric that is shown before a reader chooses: that of the answer's order."""
    order = first_order(findings) if findings.table("prune", "curve") is not None else ""
    return order if order in metrics else metrics[0]


def _teasers(findings: Findings, attention: dict[str, Any] | None) -> list[str]:
    """Return the example sentences as they stand in the list to choose from."""
    if attention is None:
        return []
    rows = findings.records("attention_examples", "sentences")
    sources = {row["sentence"]: " ".join(row["source"].split()) for row in rows}
    texts = [sources[it["number"]] for it in attention["sentences"]]
    return [text if len(text) <= TEASER else f"{text[:TEASER]}…" for text in texts]


def _sheet(rows: pd.DataFrame, names: list[Name]) -> Sheet:
    """Return all values in one table: one row a head, for readers who want numbers."""
    metrics = list(rows["metric"].unique())
    columns = ["Head"]
    for metric in metrics:
        unit = rows[rows["metric"] == metric]["unit"].iloc[0]
        columns.append(f"{title_of(metric)} ({unit})")
    by_head: dict[Name, dict[str, Any]] = {}
    for row in records(rows):
        by_head.setdefault((row["site"], row["layer"], row["head"]), {})[row["metric"]] = row
    printed = []
    for name in names:
        found = by_head.get(name, {})
        values = [found.get(metric) for metric in metrics]
        cells = [f"{exact(it['value'])} ({it['rank']})" if it else "–" for it in values]
        printed.append([dotted(name), *cells])
    ids = [anchor(name) for name in names]
    return Sheet("Every head by every metric, and its rank", columns, printed, ids=ids)
