"""The card of every head: what is known of it, as texts that the page's script lays out.

The importance by every metric is not repeated here: the script reads it from the maps, and
the place in every order of removal from the data of the slider.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .findings import Findings
from .removal import Name, head_names
from .role_letters import letter_of, percent, role_words, roles_by_head
from .wording import fixed, interval, missing, signed, significant

Row = Mapping[str, Any]
Rows = list[list[str]]
QUESTIONS = 3  # the best questions of a head that are listed, whether it has a role or not
NEAREST = 3
SHOWN = 8  # offsets further away are one bar
HEIGHT = 48


def dotted(name: Sequence[Any]) -> str:
    """Write a head: `encoder.2.5`."""
    return ".".join(map(str, name))


def anchor(name: Sequence[Any]) -> str:
    """Return the fragment that opens a head's card: `head-encoder-2-5`."""
    return "-".join(("head", *map(str, name)))


def cards_of(findings: Findings) -> dict[str, Any] | None:
    """Return the cards of all heads for the script.

    Returns:
        `heads`, their names by place; `parts`, what every card has in order: a title, the
        headings of its columns, and what is said where it is empty; `rows`, for every head
        the rows of each part; `profiles`, for every head the path of its offset bars and
        what they show in words. None where a run knows no heads.
    """
    names = head_names(findings)
    if not names:
        return None
    parts, by_part = [], []
    for title, columns, empty, rows in (
        _alone(findings),
        _roles(findings),
        _questions(findings),
        _rests(findings),
        _nearest(findings),
    ):
        if rows is not None:
            parts.append({"title": title, "columns": columns, "empty": empty})
            by_part.append(rows)
    return {
        "heads": [dotted(name) for name in names],
        "parts": parts,
        "rows": [[rows.get(name, []) for rows in by_part] for name in names],
        "profiles": _profiles(findings, names),
    }


Part = tuple[str, list[str], str, dict[Name, Rows] | None]


def _name(row: Row) -> Name:
    return row["site"], row["layer"], row["head"]


def _known(row: Row, column: str) -> str:
    """Write a share in percent, or nothing where it was not measured."""
    return "" if missing(row.get(column)) else percent(row[column])


def _bounds(row: Row, column: str, before: str = "") -> str:
    """Write the interval of a share in percent, or nothing where it has none."""
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    if low is None or high is None or missing(low) or missing(high):
        return ""
    return before + interval(100 * low, 100 * high, 0)


def _alone(findings: Findings) -> Part:
    """What breaks when the head alone goes."""
    found: dict[Name, Rows] = {}
    for row in findings.records("score", "heads"):
        if row["metric"] == "leave_one_out" and not missing(row["value"]):
            bounds = interval(1000 * row["low"], 1000 * row["high"])
            change = signed(1000 * row["value"])
            found.setdefault(_name(row), []).append(["NLL, 10⁻³ nats a token", change, bounds, ""])
    for row in findings.records("score", "bleu"):
        p = f"{significant(row['p_holm'], 2)} (Holm)"
        bounds = interval(row["low"], row["high"])
        found.setdefault(_name(row), []).append(
            ["BLEU, points", signed(row["difference"]), bounds, p]
        )
    if found and findings.table("score", "bleu") is None:
        for rows in found.values():
            rows.append(["BLEU, points", "not measured", "", ""])
    columns = ["When it alone goes", "Change", "Interval", "p"]
    return "What breaks without it", columns, "", found or None


def _roles(findings: Findings) -> Part:
    """The roles that passed their tests, beside their baselines."""
    if findings.table("roles", "offsets") is None:
        return "Roles", [], "", None
    found: dict[Name, Rows] = {}
    for name, rows in roles_by_head(findings).items():
        for row in rows:
            lead = ""
            if not missing(row["effect"]):
                lead = signed(100 * row["effect"], 0) + _bounds(row, "effect", " ")
            found.setdefault(name, []).append(
                [
                    f"{letter_of(row['family'])}: {role_words(row)}",
                    percent(row["share"]),
                    _known(row, "baseline"),
                    lead,
                ]
            )
    columns = ["Looks at", "Share", "Best baseline", "Lead, points"]
    return "Roles", columns, "No role passed its tests.", found


def _questions(findings: Findings) -> Part:
    """The questions that the head answers best against its baselines."""
    by_head: dict[Name, list[Row]] = {}
    for row in findings.records("roles", "arcs"):
        if not missing(row["effect"]):
            by_head.setdefault(_name(row), []).append(row)
    found = {
        name: [
            [
                f"{row['kind']}, {row['direction']}".replace("->", " → "),
                percent(row["accuracy"]),
                percent(row["baseline"]),
                percent(row["chance"]),
                percent(row["floor"]),
                signed(100 * row["effect"], 0),
            ]
            for row in sorted(rows, key=lambda it: -it["effect"])[:QUESTIONS]
        ]
        for name, rows in by_head.items()
    }
    columns = ["Who looks for what", "Right", "Best place", "Chance", "Random weights", "Lead"]
    return "Best of all questions", columns, "", found or None


def _rests(findings: Findings) -> Part:
    """What the head's attention rests on."""
    found: dict[Name, Rows] = {}
    for row in findings.records("roles", "sinks"):
        bounds, random = _bounds(row, "mass"), _known(row, "random")
        cells = [row["kind"], percent(row["mass"]), bounds, random]
        found.setdefault(_name(row), []).append(cells)
    columns = ["Attention on", "Share", "Interval, %", "Random weights"]
    return "What it rests on", columns, "", found or None


def _nearest(findings: Findings) -> Part:
    """The heads of the same site whose attention is most like this one's."""
    by_head: dict[Name, list[tuple[float, Name, bool]]] = {}
    for row in findings.records("roles", "likeness"):
        one, other = _name(row), (row["site"], row["other_layer"], row["other_head"])
        for near, far in ((one, other), (other, one)):
            by_head.setdefault(near, []).append((row["distance"], far, bool(row["twins"])))
    found = {
        name: [
            [dotted(other), fixed(distance), "yes" if twins else "no"]
            for distance, other, twins in sorted(rows)[:NEAREST]
        ]
        for name, rows in by_head.items()
    }
    return "Most alike", ["Head", "Distance", "Twins"], "", found or None


def _profiles(findings: Findings, names: Sequence[Name]) -> list[list[str]] | None:
    """Return, for every head, the path of its bars by offset, and what they show in words."""
    if findings.table("roles", "offsets") is None:
        return None
    shares: dict[Name, dict[int | None, float]] = {}
    for row in findings.records("roles", "offsets"):
        far = missing(row["offset"]) or abs(row["offset"]) > SHOWN
        bars = shares.setdefault(_name(row), {})
        at = None if far else int(row["offset"])
        bars[at] = bars.get(at, 0.0) + (0.0 if missing(row["share"]) else row["share"])
    return [[_bars(shares.get(name, {})), _in_words(shares.get(name, {}))] for name in names]


def _bars(shares: Mapping[int | None, float]) -> str:
    """Return the path of one bar an offset, ten units apart; that of further ones stands last."""
    bars = []
    for place, at in enumerate((*range(-SHOWN, SHOWN + 1), None)):
        height = round(HEIGHT * shares.get(at, 0.0))
        if height:
            left = 10 * place + (10 if at is None else 0)
            bars.append(f"M{left} {HEIGHT}v-{height}h8v{height}z")
    return "".join(bars)


def _in_words(shares: Mapping[int | None, float]) -> str:
    """Write where most queries look: `−1: 93 %, 0: 3 %, further: 2 %`."""
    most = sorted(shares.items(), key=lambda it: (-it[1], math.inf if it[0] is None else it[0]))
    return ", ".join(
        f"{'further' if at is None else signed(at, 0)}: {percent(share)}"
        for at, share in most[:4]
        if share >= 0.005
    )
