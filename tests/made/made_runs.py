"""Runs made by hand: what two models said of sentences, and what their heads are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headcount.analyses.evaluate import MODEL, QUALITY, SENTENCES, TRANSLATIONS
from headcount.analyses.result import Column, Provenance, Result, Table
from headcount.analyses.score_tables import HEADS

REFERENCES = [
    f"the {colour} {animal} sees the old house near the river"
    for colour in ("red", "green", "black")
    for animal in ("dog", "cat", "horse", "goose")
]
"""Twelve sentences; the sources are the same in capitals."""


def made_origin(**changes: Any) -> Provenance:
    values: dict[str, Any] = {
        "version": "0.1.0",
        "commit": "",
        "command": "headcount run",
        "seed": 0,
        "model": "ab",
        "data": {"test": "cd"},
        "hardware": "CPU",
        "libraries": {},
        "started": "2026-11-30T09:00:00+00:00",
        "seconds": 2.0,
        "signatures": {"bleu": "a signature"},
    }
    return Provenance(**{**values, **changes})


def evaluated(
    said: Sequence[str],
    losses: Sequence[float],
    references: Sequence[str] = REFERENCES,
    *,
    tokens: int = 5,
    settings: Mapping[str, Any] | None = None,
) -> Result:
    """The Result of an evaluation with one split and one search."""
    sentences = [
        {
            "split": "test",
            "sentence": number,
            "phenomenon": "",
            "source": text.upper(),
            "reference": text,
            "loss": loss,
            "tokens": tokens,
        }
        for number, (text, loss) in enumerate(zip(references, losses, strict=True))
    ]
    translations = [
        {"split": "test", "search": "greedy", "sentence": number, "translation": words}
        for number, words in enumerate(said)
    ]
    quality = {"split": "test", "search": "greedy", "measure": "bleu", "value": 50.0}
    quality |= {"low": 40.0, "high": 60.0, "unit": "BLEU points", "sentences": len(said)}
    quality |= {"seconds": 4.0, "signature": "a signature"}
    described = [{"property": "parameters", "value": "1200"}, {"property": "heads", "value": "4"}]
    corpus = [{"property": "corpus", "value": "made"}, {"property": "licence", "value": "CC0"}]
    tables = {
        "quality": Table.of("Quality.", QUALITY, [quality]),
        "model": Table.of("The model.", MODEL, described),
        "corpus": Table.of("The text.", MODEL, corpus),
        "sentences": Table.of("Sentences.", SENTENCES, sentences),
        "translations": Table.of("Translations.", TRANSLATIONS, translations),
    }
    return Result("evaluate", tables, dict(settings or {"beams": [1]}), made_origin())


def scored(values: Sequence[float], *, model: str = "ab", higher: bool = True) -> Result:
    """The Result of a score of two encoder layers with half of the heads each."""
    half = len(values) // 2
    rows = [
        {
            "metric": "gradient",
            "site": "encoder",
            "layer": number // half,
            "head": number % half,
            "value": value,
            "rank": 1,
            "unit": "nats",
        }
        for number, value in enumerate(values)
    ]
    about = [
        Column("metric", "text", "metric"),
        Column("higher_is_important", "truth", "whether larger means more"),
    ]
    metrics = [{"metric": "gradient", "higher_is_important": higher}]
    tables = {
        "heads": Table.of("Importance.", HEADS, rows),
        "metrics": Table.of("Metrics.", about, metrics),
    }
    return Result("score", tables, {"sentences": 9}, made_origin(model=model, seconds=1.0))
