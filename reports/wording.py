"""How numbers and names are written on the page.

A value that was not measured is a dash and never a zero; a minus is a real minus sign, so
that columns line up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

ABSENT = "–"  # an en dash
_NAMES = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "ter": "TER",
    "nll": "NLL",
    "lrp": "LRP",
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
    "random": "Random order",
    "fisher": "Squared gradient (Fisher)",
    "attention_norm": "Attention norm",
    "entropy": "Attention entropy",
    "leave_one_out": "Leave-one-out",
    "l0": "L0 gates",
    "subset": "Subset gates",
    "greedy": "Greedy elimination",
    "early": "Early pruning",
    "untrained": "Before any training",
}


def title_of(name: str) -> str:
    """Write the name of a metric, site or measure as a reader expects it.

    Args:
        name: as it stands in a Result, such as `leave_one_out`.
    """
    return _NAMES.get(name) or name.replace("_", " ").capitalize()


def trained_on(finish: Mapping[str, Any]) -> bool:
    """Say whether smaller models were trained on after the cut.

    Args:
        finish: the settings of this name; a share of the updates goes before `finetune`.
    """
    share = finish.get("share")
    return bool(share) if share is not None else finish.get("finetune", "none") != "none"


def short_commit(commit: str) -> str:
    """Write a commit short, and keep what follows its 40 digits, such as `+changes`."""
    return commit[:12] + commit[40:]


def missing(value: Any) -> bool:
    """Say whether a cell holds no value: None, NaN or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and math.isnan(value)


def fixed(value: Any, digits: int = 2) -> str:
    """Write a number with a fixed count of decimals and thousands apart: `1,204.50`."""
    if missing(value):
        return ABSENT
    text = f"{float(value):,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return text.replace("-", "\u2212")


def scaled(value: Any, unit: float) -> str:
    """Write a size in a larger unit: `4.2` for 4,200,000 bytes in units of 1e6."""
    return ABSENT if missing(value) else fixed(float(value) / unit, 1)


def signed(value: Any, digits: int = 2) -> str:
    """Write a difference with its sign: `+0.31`, `−0.80`, `0.00`."""
    text = fixed(value, digits)
    positive = not missing(value) and text[0] != "\u2212" and any(c in "123456789" for c in text)
    return f"+{text}" if positive else text


def whole(value: Any) -> str:
    """Write a count: `1,204,224`."""
    return fixed(value, 0)


def significant(value: Any, digits: int = 3) -> str:
    """Write a number of unknown size with so many significant digits: `0.0312`, `3.1e−06`."""
    if missing(value):
        return ABSENT
    number = float(value)
    if number == 0:
        return "0"
    if not 1e-4 <= abs(number) < 1e6:
        return f"{number:.{digits - 1}e}".replace("-", "\u2212")
    places = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    return fixed(number, places)


def interval(low: Any, high: Any, digits: int = 2) -> str:
    """Write an interval: `[87.81, 90.02]`, or a dash where there is none."""
    if missing(low) or missing(high):
        return ABSENT
    return f"[{fixed(low, digits)}, {fixed(high, digits)}]"


def duration(seconds: Any) -> str:
    """Write seconds for people: `4.2 s`, `3 min 5 s`, `2 h 10 min`."""
    if missing(seconds):
        return ABSENT
    total = float(seconds)
    if 0 < total < 1:
        return f"{significant(total, 2)} s"
    if total < 100:
        return f"{total:.1f} s"
    minutes, rest = divmod(round(total), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def size(octets: Any) -> str:
    """Write a count of bytes in decimal units: `640 bytes`, `7.6 MB`."""
    if missing(octets):
        return ABSENT
    number = float(octets)
    for unit in ("kB", "MB", "GB"):
        if (number := number / 1000) < 1000:
            return f"{significant(number)} {unit}" if octets >= 1000 else f"{whole(octets)} bytes"
    return f"{whole(number)} GB"


def multiple(ratio: Any) -> str:
    """Write how many times as fast or as large: `1.50×`."""
    return ABSENT if missing(ratio) else f"{fixed(ratio)}×"


def visible(piece: str) -> str:
    """Write a piece of a vocabulary so that it reads as text."""
    return piece.replace("▁", " ").strip() or piece
