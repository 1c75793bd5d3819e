"""How well does the model translate? The `evaluate` analysis.

Every test split is translated by greedy search and by beam search and scored with sacrebleu's
BLEU and chrF on raw text; the token NLL of the references under teacher forcing stands
beside them. All three have a bootstrap interval over sentences.

Pitfall: a BLEU score is a property of a test set and a signature, never of a model alone, so
the table states both. Pitfall: the NLL here is without label smoothing, and per token of this
model's own vocabulary; it cannot be compared between vocabularies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..models.data.parallel_text import Corpus, ParallelText
from ..models.quality import RESAMPLES, quality, resampled_sums
from ..models.settings import Settings
from ..models.translator import SearchSettings, Translator
from .analysis import Progress, analysis, silent, spread
from .points import reference_losses
from .provenance import Stopwatch, provenance
from .result import Column, Result, Table

QUALITY = (
    Column("split", "text", "test split"),
    Column("search", "text", "greedy, beam and its size, or teacher forcing"),
    Column("measure", "text", "bleu, chrf or nll"),
    Column("value", "number", "score of the whole split", "see unit"),
    Column("low", "number", "lower bound of the interval", "see unit"),
    Column("high", "number", "upper bound of the interval", "see unit"),
    Column("unit", "text", "unit of value, low and high"),
    Column("sentences", "whole", "sentences of the split that were translated"),
    Column("seconds", "number", "time to translate (or to read) them, wall-clock", "seconds"),
    Column("signature", "text", "sacrebleu's signature"),
)
MODEL = (
    Column("property", "text", "what is described"),
    Column("value", "text", "its value"),
)
EXAMPLES = (
    Column("split", "text", "test split"),
    Column("search", "text", "greedy, or beam and its size"),
    Column("sentence", "whole", "number of the sentence in the split, 0-based"),
    Column("source", "text", "source sentence"),
    Column("reference", "text", "reference translation"),
    Column("translation", "text", "what the model says"),
)
UNITS = {"bleu": "BLEU points", "chrf": "chrF points", "nll": "nats a token"}


class EvaluateSettings(Settings):
    """How to translate, and how much.

    Args:
        beams: sizes of the beam to translate with; 1 is greedy search.
        search: length penalty and limits; its own beam is not used here.
        sentences: the first so many of each test split; None for all.
        resamples: bootstrap resamples of the sentences.
        examples: sentences a split and search that are shown.
    """

    beams: tuple[int, ...] = (1, 5)
    search: SearchSettings = SearchSettings()
    sentences: int | None = None
    resamples: int = RESAMPLES
    examples: int = 10


@analysis("evaluate")
def evaluate(
    translator: Translator,
    corpus: Corpus,
    settings: EvaluateSettings,
    seed: int,
    progress: Progress = silent,
) -> Result:
    """Translate every test split with every search and score it.

    Raises:
        DataError: a test split is empty.
    """
    stopwatch = Stopwatch()
    splits = {
        name: text if settings.sentences is None else text.head(settings.sentences)
        for name, text in corpus.tests.items()
    }
    scores: list[dict[str, Any]] = []
    examples: list[dict[str, Any]] = []
    searches = [settings.search.with_changes(beam=beam) for beam in settings.beams]
    total = len(splits) * len(searches)
    for position, (name, text) in enumerate(splits.items()):
        for done, search in enumerate(searches, position * len(searches)):
            progress("evaluate", done, total, f"{name}, {search_name(search)}")
            found, shown = _translated(translator, name, text, search, settings, seed)
            scores += found
            examples += shown
        scores.append(_likelihood(translator, name, text, settings.resamples, seed))
    progress("evaluate", total, total)
    model = [{"property": key, "value": str(it)} for key, it in translator.describe().items()]
    n = ", ".join(f"{len(text)} sentences of '{name}'" for name, text in splits.items())
    how = f"95 % percentile bootstrap over sentences, {settings.resamples} resamples"
    tables = {
        "quality": Table.of("Quality on test text.", QUALITY, scores, n=n, interval=how),
        "model": Table.of("The model that was measured.", MODEL, model),
        "corpus": Table.of("The text, and what may be done with it.", MODEL, _about(corpus)),
        "examples": Table.of("What the model says.", EXAMPLES, examples),
    }
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={name: text.fingerprint for name, text in splits.items()},
        device=translator.device,
        signatures={row["measure"]: row["signature"] for row in scores if row["signature"]},
    )
    return Result("evaluate", tables, settings.model_dump(mode="json"), origin)


def search_name(search: SearchSettings) -> str:
    """Return what a search is called in tables."""
    return "greedy" if search.beam == 1 else f"beam {search.beam}"


def _about(corpus: Corpus) -> list[dict[str, str]]:
    """Return the rows that say what text the model learned from and may be used for."""
    splits = {"train": corpus.train, "valid": corpus.valid, **corpus.tests}
    described = {
        "corpus": corpus.name,
        "languages": f"{corpus.source_language} to {corpus.target_language}",
        "sentence pairs": ", ".join(f"{name} {len(text):,}" for name, text in splits.items()),
        "licence": corpus.licence,
    }
    return [{"property": key, "value": value} for key, value in described.items()]


def _translated(
    translator: Translator,
    name: str,
    text: ParallelText,
    search: SearchSettings,
    settings: EvaluateSettings,
    seed: int,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of `QUALITY` and of `EXAMPLES` for one split and search."""
    clock = Stopwatch()
    said = [it.text for it in translator.translate(text.source, search)]
    seconds = clock.seconds
    place = {"split": name, "search": search_name(search)}
    rows = []
    for kind in ("bleu", "chrf"):
        generator = np.random.default_rng(seed)
        found = quality(kind, said, text.target, generator, resamples=settings.resamples)
        bounds = {"value": found.score, "low": found.low, "high": found.high}
        about = {"measure": kind, "unit": UNITS[kind], "signature": found.signature}
        rows.append({**place, **bounds, **about, "sentences": len(text), "seconds": seconds})
    examples = [
        {
            **place,
            "sentence": number,
            "source": text.source[number],
            "reference": text.target[number],
            "translation": said[number],
        }
        for number in spread(len(text), settings.examples)
    ]
    return rows, examples


def _likelihood(
    translator: Translator, name: str, text: ParallelText, resamples: int, seed: int
) -> dict[str, Any]:
    """Return the row of `QUALITY` for the token NLL of one split."""
    clock = Stopwatch()
    losses, tokens = reference_losses(translator, text)
    value, low, high = nll_with_interval(losses, tokens, resamples, seed)
    return {
        "split": name,
        "search": "teacher forcing",
        "measure": "nll",
        "value": value,
        "low": low,
        "high": high,
        "unit": UNITS["nll"],
        "sentences": len(text),
        "seconds": clock.seconds,
        "signature": "",
    }


def nll_with_interval(
    losses: Sequence[float], tokens: Sequence[int], resamples: int, seed: int
) -> tuple[float, float, float]:
    """Return the token NLL and the bounds of its interval over sentences, in nats a token.

    Args:
        losses: summed NLL of each sentence, nats.
        tokens: its tokens.
        resamples: bootstrap resamples of the sentences.
        seed: draws the resamples.
    """
    sides = [np.array([losses, tokens], dtype=np.float64).T]  # [sentence, loss and tokens]
    sums = resampled_sums(sides, np.random.default_rng(seed), resamples)[0]  # [resample, 2]
    low, high = np.percentile(sums[:, 0] / sums[:, 1], (2.5, 97.5))
    return sum(losses) / sum(tokens), float(low), float(high)
