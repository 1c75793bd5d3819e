"""How well does the model translate? The `evaluate` analysis.

Every test split is translated by greedy search and by beam search and scored with sacrebleu's
BLEU and chrF on raw text; the token NLL of the references under teacher forcing stands
beside them. All three have a bootstrap interval over sentences.

Pitfall: a BLEU score is a property of a test set and a signature, never of a model alone, so
the table states both. Pitfall: the NLL here is without label smoothing, and per token of this
model's own vocabulary; it cannot be compared between vocabularies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field, PositiveInt

from ..models.data.parallel_text import Corpus, ParallelText
from ..models.quality import RESAMPLES, quality, resampled_sums
from ..models.settings import Settings
from ..models.translator import SearchSettings, Translator
from .analysis import Progress, analysis, silent, spread
from .columns import BLEU
from .columns import QUALITY as SCORE
from .phenomena import by_phenomenon
from .points import reference_losses
from .provenance import Stopwatch, provenance
from .result import Column, Result, Table

QUALITY = (
    *SCORE,
    Column("seconds", "number", "time to translate (or to read) them, wall-clock", "seconds"),
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
SENTENCES = (
    Column("split", "text", "test split"),
    Column("sentence", "whole", "number of the sentence in the split, 0-based"),
    Column("phenomenon", "text", "what the sentence shows; empty if not known"),
    Column("source", "text", "source sentence"),
    Column("reference", "text", "reference translation"),
    Column("loss", "number", "summed NLL of the reference, teacher-forced", "nats"),
    Column("tokens", "whole", "target tokens of the reference, EOS included"),
)
TRANSLATIONS = (
    Column("split", "text", "test split"),
    Column("search", "text", "greedy, or beam and its size"),
    Column("sentence", "whole", "number of the sentence in the split, 0-based"),
    Column("translation", "text", "what the model says"),
)
PHENOMENA = (
    Column("split", "text", "test split"),
    Column("search", "text", "greedy, or beam and its size"),
    Column("phenomenon", "text", "what the sentences show"),
    Column("sentences", "whole", "sentences that show it"),
    *BLEU,
    Column("exact", "number", "share of translations that are the reference word for word"),
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

    beams: tuple[PositiveInt, ...] = Field(default=(1, 5), min_length=1)
    search: SearchSettings = SearchSettings()
    sentences: int | None = Field(default=None, ge=1)
    resamples: int = Field(default=RESAMPLES, ge=1)
    examples: int = Field(default=10, ge=0)


@analysis("evaluate")
def evaluate(
    translator: Translator,
    corpus: Corpus,
    settings: EvaluateSettings,
    seed: int,
    progress: Progress = silent,
    *,
    shown: Sequence[str] = (),
) -> Result:
    """Translate every test split with every search and score it.

    All translations are kept, so that runs can be compared sentence by sentence.

    Args:
        shown: the phenomenon of every sentence of the main test split, where it is known.

    Raises:
        DataError: a test split is empty.
    """
    stopwatch = Stopwatch()
    splits = {
        name: text if settings.sentences is None else text.head(settings.sentences)
        for name, text in corpus.tests.items()
    }
    scores: list[dict[str, Any]] = []
    said: dict[tuple[str, str], list[str]] = {}
    losses: dict[str, tuple[list[float], list[int]]] = {}
    searches = [settings.search.with_changes(beam=beam) for beam in settings.beams]
    total = len(splits) * len(searches)
    for position, (name, text) in enumerate(splits.items()):
        for done, search in enumerate(searches, position * len(searches)):
            progress("evaluate", done, total, f"{name}, {search_name(search)}")
            place = (name, search_name(search))
            clock = Stopwatch()
            said[place] = [it.text for it in translator.translate(text.source, search)]
            scores += _scored(place, said[place], text, clock.seconds, settings, seed)
        row, losses[name] = _likelihood(translator, name, text, settings.resamples, seed)
        scores.append(row)
    progress("evaluate", total, total)
    model = [{"property": key, "value": str(it)} for key, it in translator.describe().items()]
    n = ", ".join(f"{len(text)} sentences of '{name}'" for name, text in splits.items())
    how = f"95 % percentile bootstrap over sentences, {settings.resamples} resamples"
    main = next(iter(corpus.tests))
    known = {name: shown if name == main else () for name in splits}
    every = _sentences(splits, losses, known)
    translations = [
        {"split": split, "search": search, "sentence": number, "translation": words}
        for (split, search), of_search in said.items()
        for number, words in enumerate(of_search)
    ]
    tables = {
        "quality": Table.of("Quality on test text.", QUALITY, scores, n=n, interval=how),
        "model": Table.of("The model that was measured.", MODEL, model),
        "corpus": Table.of("The text, and what may be done with it.", MODEL, _about(corpus)),
        "examples": Table.of(
            "What the model says.", EXAMPLES, _examples(said, splits, settings.examples)
        ),
        "sentences": Table.of("The test sentences, and how likely they are.", SENTENCES, every),
        "translations": Table.of("All translations.", TRANSLATIONS, translations, n=n),
    }
    grouped = _by_phenomenon(said, splits, known, settings.resamples, seed)
    if grouped:
        tables["phenomena"] = Table.of(
            "Quality by phenomenon.", PHENOMENA, grouped, n=n, interval=how
        )
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


def _scored(
    place: tuple[str, str],
    said: Sequence[str],
    text: ParallelText,
    seconds: float,
    settings: EvaluateSettings,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the rows of `QUALITY` for the translations of one split by one search."""
    rows = []
    for kind in ("bleu", "chrf"):
        generator = np.random.default_rng(seed)
        found = quality(kind, said, text.target, generator, resamples=settings.resamples)
        bounds = {"value": found.score, "low": found.low, "high": found.high}
        about = {"measure": kind, "unit": UNITS[kind], "signature": found.signature}
        where = dict(zip(("split", "search"), place, strict=True))
        rows.append({**where, **bounds, **about, "sentences": len(text), "seconds": seconds})
    return rows


def _examples(
    said: Mapping[tuple[str, str], Sequence[str]], splits: Mapping[str, ParallelText], count: int
) -> list[dict[str, Any]]:
    """Return the rows of `EXAMPLES`: sentences spread over each split, never hand-picked."""
    return [
        {
            "split": split,
            "search": search,
            "sentence": number,
            "source": splits[split].source[number],
            "reference": splits[split].target[number],
            "translation": of_search[number],
        }
        for (split, search), of_search in said.items()
        for number in spread(len(of_search), count)
    ]


def _sentences(
    splits: Mapping[str, ParallelText],
    losses: Mapping[str, tuple[Sequence[float], Sequence[int]]],
    known: Mapping[str, Sequence[str]],
) -> list[dict[str, Any]]:
    """Return the rows of `SENTENCES`."""
    return [
        {
            "split": name,
            "sentence": number,
            "phenomenon": known[name][number] if known[name] else "",
            "source": text.source[number],
            "reference": text.target[number],
            "loss": losses[name][0][number],
            "tokens": losses[name][1][number],
        }
        for name, text in splits.items()
        for number in range(len(text))
    ]


def _by_phenomenon(
    said: Mapping[tuple[str, str], Sequence[str]],
    splits: Mapping[str, ParallelText],
    known: Mapping[str, Sequence[str]],
    resamples: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the rows of `PHENOMENA` for the splits whose phenomena are known."""
    rows = []
    for (split, search), of_search in said.items():
        for name, numbers in by_phenomenon(known[split][: len(of_search)]).items():
            mine = [of_search[number] for number in numbers]
            right = [splits[split].target[number] for number in numbers]
            generator = np.random.default_rng(seed)
            found = quality("bleu", mine, right, generator, resamples=resamples)
            rows.append(
                {
                    "split": split,
                    "search": search,
                    "phenomenon": name,
                    "sentences": len(numbers),
                    "bleu": found.score,
                    "bleu_low": found.low,
                    "bleu_high": found.high,
                    "exact": float(np.mean([a == b for a, b in zip(mine, right, strict=True)])),
                }
            )
    return rows


def _likelihood(
    translator: Translator, name: str, text: ParallelText, resamples: int, seed: int
) -> tuple[dict[str, Any], tuple[list[float], list[int]]]:
    """Return the row of `QUALITY` for the token NLL of one split, and each sentence's."""
    clock = Stopwatch()
    losses, tokens = reference_losses(translator, text)
    value, low, high = nll_with_interval(losses, tokens, resamples, seed)
    row = {
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
    return row, (losses, tokens)


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
