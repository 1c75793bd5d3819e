"""How good the whole model's translations are, on every split and by every measure."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from ..findings import Findings
from ..rendering import Caption, Sheet, caption_of, render
from ..wording import duration, fixed, interval, title_of, whole
from . import section


@section("quality", title="Quality", place=60, needs=("evaluate",))
def quality(findings: Findings) -> Markup | None:
    """BLEU, chrF and likelihood of the whole model with intervals and signatures."""
    rows = findings.records("evaluate", "quality")
    if not rows:
        return None
    columns = ["Split", "Search", "Measure", "Value", "Interval", "Sentences", "Time"]
    printed = []
    for row in rows:
        digits = 4 if row["measure"] == "nll" else 2
        printed.append(
            [
                row["split"],
                row["search"],
                _measure(row["measure"], row["unit"]),
                fixed(row["value"], digits),
                interval(row["low"], row["high"], digits),
                whole(row["sentences"]),
                duration(row["seconds"]),
            ]
        )
    sheet = Sheet("Quality by split, search and measure", columns, printed, 1, frozenset({0, 1, 2}))
    text = (
        "The model as it was trained, with all its heads. BLEU and chrF compare translations with "
        "the references, 100 is the same text; the NLL is what the model gives the references "
        "themselves, lower is better."
    )
    signed = dict.fromkeys(
        f"{title_of(row['measure'])} {row['signature']}" for row in rows if row["signature"]
    )
    tables = [name for name in ("quality", "model") if findings.table("evaluate", name)]
    caption = caption_of(
        findings, "evaluate", tables, text, unit="as in the table", figure="quality"
    )
    return render(
        "quality.html",
        {
            "sheet": sheet,
            "hard": _hard(findings),
            "model": _model(findings),
            "remarks": findings.results["evaluate"].remarks,
            "caption": replace(caption, facts=(*caption.facts, ("Signatures", "; ".join(signed)))),
        },
    )


def _hard(findings: Findings) -> tuple[Sheet, Caption] | None:
    """Return quality by phenomenon, the hardest first, where the test sentences show any."""
    rows = findings.records("evaluate", "phenomena")
    if not rows:
        return None
    split, search = rows[0]["split"], rows[0]["search"]
    shown = [row for row in rows if (row["split"], row["search"]) == (split, search)]
    printed = [
        [
            row["phenomenon"].replace("_", " "),
            whole(row["sentences"]),
            fixed(row["bleu"], 1),
            interval(row["bleu_low"], row["bleu_high"], 1),
            fixed(100 * row["exact"], 0),
        ]
        for row in sorted(shown, key=lambda row: row["bleu"])
    ]
    columns = ["Phenomenon", "Sentences", "BLEU", "Interval", "Word for word (%)"]
    sheet = Sheet(f"Quality by phenomenon, {split}, {search}", columns, printed)
    text = (
        "What each sentence shows is known, because a grammar made it. Word for word: share of "
        "translations that are the reference itself. Short lists have wide intervals."
    )
    caption = caption_of(
        findings, "evaluate", ("phenomena",), text, unit="BLEU points; percent", measure="bleu"
    )
    return sheet, caption


def _measure(measure: str, unit: str) -> str:
    """Name a measure with its unit: `BLEU points`, `NLL (nats a token)`."""
    name = title_of(measure)
    return unit if unit.startswith(name) else f"{name} ({unit})"


def _model(findings: Findings) -> list[tuple[str, str]]:
    """Return what the model is: pairs of a property and its value."""
    rows = findings.records("evaluate", "model")
    return [(row["property"].replace("_", " "), row["value"]) for row in rows]
