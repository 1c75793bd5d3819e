"""The answer on one screen: how many heads are needed, and what that costs and saves."""

from __future__ import annotations

import pandas as pd
from markupsafe import Markup

from ...analyses.result import Result
from ..choice import LEAST, RANDOM, Choice, smallest_within
from ..drawing.charts import Axis, Chart, Rule, draw
from ..findings import Findings
from ..methods import lower
from ..numbers import numbers_of
from ..orders import order_line, random_band, random_line
from ..rendering import caption_of, render
from ..wording import duration, fixed, interval, multiple, signed, size, title_of, trained_on
from . import section

OTHER_LOSSES = (0.5, 1.0, 2.0, 5.0)
COARSE = 0.1  # an allowed loss above this share of the whole model's BLEU says little


@section("answer", title="The answer", place=10, needs=("prune",))
def answer(findings: Findings) -> Markup | None:
    """How few heads keep BLEU within the loss that is allowed."""
    if findings.table("prune", "curve") is None:
        return None
    curve = findings.rows("prune", "curve")
    choice = smallest_within(curve, findings.allowed_loss)
    if choice is None:
        return None
    rows = (choice.chosen, choice.nearest, choice.whole)
    shown = next(row for row in rows if row is not None)
    explained = (
        f"BLEU of the smaller models by one order ({title_of(shown['order']).lower()}) against "
        "the number of heads left, with the grey band of random orders."
    )
    if not choice.vacuous:
        explained += " The dashed line is the lowest BLEU that the allowed loss permits."
    return render(
        "answer.html",
        {
            "choice": choice,
            "whole": choice.whole,
            "chosen": choice.chosen,
            "least": LEAST,
            "facts": _facts(findings, choice),
            "trained": _trained(findings),
            "chart": _chart(findings, curve, choice, shown["order"]),
            "caption": caption_of(
                findings,
                "prune",
                ("curve", "band"),
                explained,
                unit="BLEU points",
                measure="bleu",
                figure="curve",
            ),
            "others": _other_losses(curve),
            "random": _random_instead(findings, choice),
            "coarse": choice.allowed_loss > COARSE * choice.whole["bleu"] and not choice.vacuous,
            "remarks": findings.results["prune"].remarks,
        },
    )


def _facts(findings: Findings, choice: Choice) -> list[tuple[str, str, str]]:
    """Return (what, value, beside what) for BLEU, size and speed of the chosen model."""
    whole = choice.whole
    weights = {
        (row["order"], row["heads_left"]): row["weights"]
        for row in findings.records("prune", "costs")
        if not row["draw"]
    }
    heavy = weights.get((whole["order"], whole["heads_left"]))
    if choice.chosen is None:
        bounds = interval(whole["bleu_low"], whole["bleu_high"], 1)
        facts = [("BLEU of the whole model", fixed(whole["bleu"], 1), bounds)]
        facts.append(("Parameters", f"{whole['parameters']:,}", f"{size(heavy)} of weights"))
        seconds = f"{whole['sentences']} sentences, one process"
        return [*facts, ("Decoding", duration(whole["seconds"]), seconds)]
    row = choice.chosen
    light = weights.get((row["order"], row["heads_left"]))
    loss = interval(row["difference_low"], row["difference_high"])
    share = row["parameters"] / whole["parameters"] - 1
    facts = [
        ("Change of BLEU", signed(row["bleu_difference"]), f"{loss}, paired"),
        (
            "Parameters",
            f"{signed(100 * share, 0)} %",
            f"{row['parameters']:,} of {whole['parameters']:,}",
        ),
    ]
    if heavy is not None and light is not None:
        facts.append(("Memory for weights", size(light), f"of {size(heavy)}"))
    facts.append(
        (
            "Decoding",
            multiple(whole["seconds"] / row["seconds"]),
            f"{duration(row['seconds'])} against {duration(whole['seconds'])}",
        )
    )
    return facts


def _trained(findings: Findings) -> str:
    """Say what a smaller model reached that was chosen by `headcount prune`, if there is one.

    Of several it is the smallest within the allowed loss, or else the one that surely loses
    least.
    """
    found = {
        name: {row["model"]: row for row in findings.records(name, "outcome")}
        for name in findings.names_of("smaller", "outcome")
    }
    found = {name: rows for name, rows in found.items() if {"smaller", "whole"} <= set(rows)}
    if not found:
        return ""

    def place(name: str) -> tuple[bool, float]:
        row = found[name]["smaller"]
        if row["difference_low"] >= -findings.allowed_loss:
            return False, row["heads"]
        return True, -row["difference_low"]

    name = min(found, key=place)
    rows = found[name]
    row, whole = rows["smaller"], rows["whole"]
    words = (
        f"{row['heads']} of {whole['heads']} heads by {_way(findings.results[name])}: BLEU "
        f"{fixed(row['bleu'], 1)} {interval(row['bleu_low'], row['bleu_high'], 1)}, "
        f"{signed(row['bleu_difference'], 1)} "
        f"{interval(row['difference_low'], row['difference_high'], 1)} against the whole model"
    )
    if (scratch := rows.get("from scratch")) is not None:
        words += f"; the same shape from scratch {fixed(scratch['bleu'], 1)}"
    return f"{words}."


def _way(result: Result) -> str:
    """Name the way in which a smaller model's heads were chosen, and what followed."""
    settings = result.settings
    trained = ", trained on after the cut" if trained_on(settings.get("finish", {})) else ""
    return lower(title_of(str(settings.get("way", "its plan")))) + trained


def _chart(findings: Findings, curve: pd.DataFrame, choice: Choice, order: str) -> Markup:
    """Draw the chosen order with the random band and the allowed loss."""
    floor = choice.whole["bleu"] - choice.allowed_loss
    marks = [] if choice.vacuous else [Rule(floor, f"whole model − {choice.allowed_loss:g}")]
    if choice.chosen is not None:
        heads = choice.chosen["heads_left"]
        marks.append(Rule(heads, f"{heads} heads", vertical=True))
    lines = [order_line(curve, order)]
    band: list[tuple[float, float, float]] = []
    if findings.table("prune", "band") is not None:
        spread = findings.rows("prune", "band")
        band, lines = random_band(spread), [random_line(spread), *lines]
    chart = Chart(
        title=f"BLEU against heads left, removed by {title_of(order).lower()}",
        x=Axis("heads left", end_ticks=True),
        y=Axis("BLEU", include=(0,)),
        lines=lines,
        band=band,
        marks=marks,
    )
    return draw(chart, wide=(560, 330), narrow=280) + numbers_of(chart)


def _random_instead(findings: Findings, choice: Choice) -> tuple[str, str] | None:
    """Return BLEU and its range where as many heads were removed in random orders."""
    if choice.chosen is None:
        return None
    for row in findings.records("prune", "band"):
        if row["heads_left"] == choice.chosen["heads_left"]:
            spread = f"{interval(row['low'], row['high'], 1)}, {row['draws']} orders"
            return fixed(row["mean"], 1), spread
    return None


def _other_losses(curve: pd.DataFrame) -> list[tuple[str, str]]:
    """Return how many heads are needed for other losses."""
    most = curve["heads_left"].max()
    found = []
    for loss in OTHER_LOSSES:
        choice = smallest_within(curve[curve["order"] != RANDOM], loss)
        if choice is None or choice.vacuous:
            continue
        heads = choice.chosen["heads_left"] if choice.chosen is not None else most
        found.append((f"{loss:g}", f"{heads}"))
    return found
