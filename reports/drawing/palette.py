"""Colours, dashes and markers, and the style sheet that is made of them.

Lines: hues that stay apart for readers with protanopia, deuteranopia and tritanopia, each
with a dash and a marker of its own, so that a black-and-white print still tells them apart.
Random removal is always the same grey. Every line has a contrast of at least 4.5 with its
background, light and dark.

Cells: viridis (van der Walt & Smith 2015), which grows evenly in lightness, in sixteen
steps; the number in a cell is black or white, whichever has the higher contrast with it. One
of the two always reaches 4.58, because (1.05 / 0.05) ** 0.5 is the worst case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

LIGHT_BACKGROUND, DARK_BACKGROUND = "#ffffff", "#14171c"


@dataclass(frozen=True)
class LineStyle:
    """How one line is drawn.

    Args:
        light, dark: colour on a light and on a dark background.
        dash: SVG dash pattern; empty for a solid line.
        marker: one of the shapes in `charts.MARKERS`.
    """

    light: str
    dark: str
    dash: str
    marker: str


LINES = (
    LineStyle("#0b5fa5", "#6cb6ff", "", "circle"),
    LineStyle("#b3470b", "#ffa06b", "8 3", "square"),
    LineStyle("#0b7a5b", "#5fd3a8", "2 3", "triangle"),
    LineStyle("#8f3a86", "#e79be0", "10 3 2 3", "diamond"),
    LineStyle("#20131b", "#d4e84a", "5 2", "cross"),
    LineStyle("#3d1a99", "#8f78ff", "1 2", "plus"),
)
# Six hues are all that stay apart; the next six lines tell themselves from the first by dash
# and marker alone.
_AGAIN = (
    ("12 4", "down"),
    ("4 4", "left"),
    ("1 5", "right"),
    ("6 2 1 2", "star"),
    ("14 2 2 2 2 2", "bar"),
    ("3 1", "pillar"),
)
STYLES = LINES + tuple(
    replace(line, dash=dash, marker=marker)
    for line, (dash, marker) in zip(LINES, _AGAIN, strict=True)
)
RANDOM_LINE = LineStyle("#6b6f76", "#a3a8b0", "3 3", "none")

HEAT = (
    "#440154",
    "#481a6c",
    "#472f7d",
    "#414487",
    "#39568c",
    "#31688e",
    "#2a788e",
    "#23888e",
    "#1f988b",
    "#22a884",
    "#35b779",
    "#54c568",
    "#7ad151",
    "#a5db36",
    "#d2e21b",
    "#fde725",
)

ROLES = {
    "position": "#0b5fa5",
    "syntax": "#0b7a5b",
    "semantics": "#8f3a86",
    "tokens": "#b3470b",
    "alignment": "#5a3fc0",
    "block": "#7a6a00",
    "rest": "#5d646e",
    "other": "#20131b",
}
"""One colour a family of roles; a letter always says the same."""


def style_of(style: int | str) -> LineStyle:
    """Return the n-th style, or that of `random`; after twelve they come round again."""
    return RANDOM_LINE if isinstance(style, str) else STYLES[style % len(STYLES)]


def class_of(style: int | str) -> str:
    """Return the class that gives a line its style."""
    return f"line-{style if isinstance(style, str) else style % len(STYLES)}"


def heat_step(share: float) -> int:
    """Return which of the sixteen colours a share of the scale has.

    Args:
        share: 0 for the lowest value of the map, 1 for the highest; clipped.
    """
    return min(len(HEAT) - 1, max(0, round(share * (len(HEAT) - 1))))


def luminance(colour: str) -> float:
    """Return the relative luminance of `#rrggbb` (WCAG 2.2)."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21 (WCAG 2.2)."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def ink_on(colour: str) -> str:
    """Return black or white, whichever is easier to read on a colour."""
    return max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, colour))


def style_sheet() -> str:
    """Return the rules for lines and cells, for both colour schemes."""
    named = [(f".line-{index}", style) for index, style in enumerate(STYLES)]
    named.append((".line-random", RANDOM_LINE))
    rules = [
        f"{name}{{--line:{style.light};--dash:{style.dash or 'none'}}}" for name, style in named
    ]
    dark = [f"{name}{{--line:{style.dark}}}" for name, style in named]
    rules.append(f"@media screen and (prefers-color-scheme:dark){{{''.join(dark)}}}")
    rules += [
        f".heat-{step}{{background:{colour};fill:{colour};color:{ink_on(colour)}}}"
        for step, colour in enumerate(HEAT)
    ]
    rules += [
        f".role-{name}{{background:{colour};fill:{colour};color:{ink_on(colour)}}}"
        for name, colour in ROLES.items()
    ]
    return "\n".join(rules)
