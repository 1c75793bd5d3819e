"""What each output word relied on: source against the words said before, token by token.

One row an output token, one column an input token. The number in a cell is the input
token's share of the row's absolute relevance in percent, with its sign; its shade repeats
the number. Small shares stay plain, so that a table shows where to look.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from markupsafe import Markup

from ..drawing.palette import heat_step
from ..findings import Findings, records
from ..rendering import Caption, Sheet, caption_of, render
from ..wording import fixed, signed, visible, whole
from . import section

OPEN = 1  # so many sentences are shown at once, the others when they are asked for
PLAIN = 0.03  # smaller shares have no shade
KINDS = ("bias", "softmax", "epsilon")


@section("relevance", title="What each word relied on", place=45, needs=("relevance",))
def relevance(findings: Findings) -> Markup | None:
    """Relevance of source and of earlier output for every output token of some sentences."""
    if findings.table("relevance", "tokens") is None:
        return None
    tokens, shares = findings.rows("relevance", "tokens"), findings.rows("relevance", "shares")
    examples = [
        _example(
            sentence,
            tokens[tokens["sentence"] == sentence["sentence"]],
            shares[shares["sentence"] == sentence["sentence"]],
        )
        for sentence in findings.records("relevance", "sentences")
    ]
    text = (
        "One row for each output token, one column for each input token. A number is the share "
        "of the row's absolute relevance in percent; below 0 the input token spoke against the "
        "output. The first number says how much of the row lies on the source. Relevance is "
        "handed down by layer-wise propagation (LRP) from the token's logit."
    )
    names = ("tokens", "shares", "sentences")
    return render(
        "relevance.html",
        {
            "first": examples[:OPEN],
            "others": examples[OPEN:],
            "remarks": findings.results["relevance"].remarks,
            "caption": caption_of(
                findings, "relevance", names, text, unit="percent of a row", figure="relevance"
            ),
            "conservation": _conservation(findings),
        },
    )


def _example(
    sentence: dict[str, Any], tokens: pd.DataFrame, shares: pd.DataFrame
) -> dict[str, Any]:
    """Return what is shown of one sentence."""
    totals = tokens["relevance"].abs().groupby(tokens["position"]).sum()
    blocks = []
    for side, title in (("source", "Source"), ("prefix", "Output so far")):
        own = tokens[tokens["side"] == side]
        names = own.drop_duplicates("place").sort_values("place")
        columns = [visible(piece) for piece in names["piece"]]
        cells: dict[int, dict[int, dict[str, Any]]] = {}
        for row in records(own):
            share = row["relevance"] / totals[row["position"]] if totals[row["position"]] else 0.0
            cells.setdefault(row["position"], {})[row["place"]] = _cell(share, row)
        blocks.append({"title": title, "columns": columns, "cells": cells})
    return {
        **sentence,
        "rows": [
            {
                "position": row["position"],
                "piece": visible(row["piece"]),
                "rival": visible(row["rival"]),
                "logit": fixed(row["logit"], 1),
                "source": _percent(row["source_share"]),
            }
            for row in records(shares.sort_values("position"))
        ],
        "blocks": blocks,
        "missed": _percent(sentence["error"], 1),
        "summary": _summary(shares),
    }


def _summary(shares: pd.DataFrame) -> str:
    """Say in one sentence how the output divides between source and earlier output."""
    share = shares["source_share"]
    most, least = shares.iloc[int(share.argmax())], shares.iloc[int(share.argmin())]
    mean = _percent(share.mean())
    return (
        f"{mean} % of the relevance lies on the source: most for “{visible(most['piece'])}” "
        f"({_percent(most['source_share'])} %), least for “{visible(least['piece'])}” "
        f"({_percent(least['source_share'])} %)."
    )


def _cell(share: float, row: dict[str, Any]) -> dict[str, Any]:
    """Return the number of one cell, and of one that matters its shade and exact value."""
    text = whole(100 * share)
    if abs(share) < PLAIN:
        return {"text": text}
    exact = f"{visible(row['piece'])}: {signed(row['relevance'])} of the logit"
    step = heat_step(math.sqrt(abs(share)))
    return {"text": text, "step": step, "title": exact, "against": share <= -PLAIN}


def _conservation(findings: Findings) -> tuple[Sheet, Caption] | None:
    """Return what each layer absorbed, in percent of the logits."""
    if findings.table("relevance", "conservation") is None:
        return None
    rows = findings.records("relevance", "conservation")
    printed = [
        [
            f"{row['side'].capitalize()} {row['layer']}" if row["side"] != "output" else "Output",
            *(signed(100 * row[kind], 1) for kind in KINDS),
        ]
        for row in rows
    ]
    sums = [signed(100 * sum(row[kind] for row in rows), 1) for kind in KINDS]
    sheet = Sheet(
        "What layers absorbed",
        ["Layer", "Biases, %", "Softmax, %", "Epsilon, %"],
        [*printed, ["All", *sums]],
    )
    errors = findings.rows("relevance", "sentences")
    text = (
        f"The inputs alone miss the logits by {_percent(errors['error'].mean(), 1)} % on average, "
        "because biases and the softmax rule keep relevance that belongs to no input token. With "
        "what is listed here the balance closes to "
        f"{_percent(errors['accounted_error'].max(), 4)} % at most."
    )
    names = ("conservation", "sentences")
    return sheet, caption_of(findings, "relevance", names, text, unit="percent of the logits")


def _percent(share: float, digits: int = 0) -> str:
    return fixed(100 * share, digits)
