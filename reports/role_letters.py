"""Roles of heads as letters: one for every family of roles, with a colour of its own."""

from __future__ import annotations

from typing import Any

from .findings import Findings
from .wording import fixed, signed

FAMILIES = {
    "position": ("P", "looks at a fixed distance"),
    "syntax": ("S", "finds a syntactic relation"),
    "semantics": ("M", "finds words by their meaning"),
    "tokens": ("T", "finds rare or repeated tokens"),
    "alignment": ("A", "aligns words with their translation"),
    "block": ("B", "looks at a block of tokens"),
    "rest": ("R", "rests on one kind of token"),
}
OTHER = "other"


def letter_of(family: str) -> str:
    """Return the letter of a family; one that is not known here has its own initial."""
    return FAMILIES[family][0] if family in FAMILIES else family[:1].upper()


def style_of_role(family: str) -> str:
    """Return the name of the colour of a family."""
    return family if family in FAMILIES else OTHER


def roles_by_head(findings: Findings) -> dict[tuple[str, int, int], list[dict[str, Any]]]:
    """Return the rows of `roles/roles` by head, in the order of the table."""
    found: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
    for row in findings.records("roles", "roles"):
        found.setdefault((row["site"], row["layer"], row["head"]), []).append(row)
    return found


def letters(roles: list[dict[str, Any]]) -> str:
    """Return the letters of a head's roles, each once, in the order of `FAMILIES`."""
    order = [*FAMILIES]
    families = sorted(
        {row["family"] for row in roles},
        key=lambda it: (order.index(it) if it in order else len(order), it),
    )
    return "".join(letter_of(family) for family in families)


def role_words(row: dict[str, Any]) -> str:
    """Write a role: `offset −1`, `subject → verb`, `rests on punctuation`."""
    if row["family"] == "position":
        offset = str(row["role"])
        number = offset.replace("\u2212", "-").replace("+", "")
        return f"offset {signed(int(number), 0)}" if number.lstrip("-").isdigit() else offset
    words = str(row["role"]).replace("->", " → ")
    return f"rests on {words}" if row["family"] == "rest" else words


def percent(share: Any, digits: int = 0) -> str:
    """Write a share in percent: `92 %`; a dash where there is none."""
    text = fixed(None if share is None else 100 * share, digits)
    return f"{text} %" if text[-1].isdigit() else text
