"""How alike the metrics order the heads, as one square table for each site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .drawing.palette import heat_step
from .findings import Findings
from .wording import fixed, interval, missing, title_of

ALL = "all"
NOT_DEFINED = "n/d"


@dataclass(frozen=True)
class Cell:
    """One cell of a heat table: what is printed, its colour (None for none), and what it says."""

    text: str
    step: int | None
    title: str


@dataclass(frozen=True)
class Square:
    """One site: Kendall's tau below the diagonal and Spearman's rho above it.

    Args:
        site: encoder, decoder, cross, or all heads.
        heads: heads compared.
        rows: for each metric its number, its title and its cells.
    """

    site: str
    heads: int
    rows: list[tuple[int, str, list[Cell]]]


def squares(findings: Findings, broken: Mapping[str, str]) -> list[Square]:
    """Return the tables of all sites, all heads first.

    Args:
        broken: metrics that must not be shown, with their reasons.
    """
    rows = findings.records("reliability", "agreement")
    names = list(dict.fromkeys(name for row in rows for name in (row["metric"], row["other"])))
    sites = list(dict.fromkeys(row["site"] for row in rows))
    return [_square(site, names, rows, broken) for site in sites]


def _square(
    site: str, names: list[str], rows: list[dict[str, Any]], broken: Mapping[str, str]
) -> Square:
    own = [row for row in rows if row["site"] == site]
    pairs = {frozenset((row["metric"], row["other"])): row for row in own}
    printed = []
    for down, one in enumerate(names):
        cells = []
        for across, other in enumerate(names):
            measure = "kendall" if across < down else "spearman"
            row = pairs.get(frozenset((one, other)))
            cells.append(_cell(one, other, row, measure, broken))
        printed.append((down + 1, title_of(one), cells))
    return Square(site, own[0]["heads"], printed)


def _cell(
    one: str, other: str, row: dict[str, Any] | None, measure: str, broken: Mapping[str, str]
) -> Cell:
    """Return one cell; the diagonal is empty, and so is what must not be shown."""
    pair = f"{title_of(one)} and {title_of(other).lower()}"
    if row is None:
        return Cell("", None, "the same metric")
    for name in (one, other):
        if name in broken:
            return Cell("–", None, f"{pair}: not shown, because a proof of {title_of(name)} fails")
    value = row[measure]
    if missing(value):
        return Cell(NOT_DEFINED, None, f"{pair}: not defined, all heads have the same value")
    bounds = interval(row[f"{measure}_low"], row[f"{measure}_high"])
    sign = "τ" if measure == "kendall" else "ρ"
    text = fixed(value).replace("0.", ".", 1) if abs(value) < 0.995 else fixed(value, 0)
    return Cell(text, heat_step((value + 1) / 2), f"{pair}: {sign} {fixed(value)} {bounds}")
