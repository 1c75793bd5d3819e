"""How do runs differ? The `compare` question: several runs side by side, from their Results.

Nothing is translated again: `evaluate` kept every translation and the loss of every reference,
so two runs are compared on exactly the sentences that both have translated.

    difference = score(run) - score(baseline),    both on the same bootstrap resamples

(Koehn 2004, section 4). Pairing matters: two models find the same sentences hard, and an
interval that ignores this is far too wide. Where test texts differ the common sentences are
compared and counted; where there are none, no difference is given at all.

Pitfall: a difference between two trainings is a difference between two draws, not between two
settings; only several seeds of each setting tell the settings apart. Pitfall: head 3 of one
training is not head 3 of another. Heads are compared by number, and the same correlation with
the numbers shuffled within each sublayer stands beside it: only what exceeds that is about heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..models.errors import UsageError
from ..models.quality import RESAMPLES, paired, resampled_sums, signature
from .compare_heads import AGREEMENT, agreement_rows
from .compare_tables import (
    COSTS,
    CURVES,
    DIFFERENCES,
    QUALITY,
    RUNS,
    SETTINGS,
    cost_rows,
    curve_rows,
    quality_rows,
    run_rows,
    setting_rows,
)
from .provenance import Stopwatch, fingerprint, provenance
from .result import Result, Table

Record = dict[str, Any]
Results = Mapping[str, Result]
OLD = "keeps no translations: measure it again with `headcount run -o RUN` to compare sentences"


@dataclass(frozen=True)
class Sentences:
    """What one run said on one split by one search.

    Args:
        texts: (source, reference) of every sentence.
        said: its translation.
        losses: summed NLL of the reference, nats.
        tokens: target tokens of the reference.
    """

    texts: Sequence[tuple[str, str]]
    said: Sequence[str]
    losses: Sequence[float]
    tokens: Sequence[int]

    def select(self, numbers: Sequence[int]) -> Sentences:
        """Return some of the sentences."""
        return Sentences(
            [self.texts[number] for number in numbers],
            [self.said[number] for number in numbers],
            [self.losses[number] for number in numbers],
            [self.tokens[number] for number in numbers],
        )


def compare(runs: Mapping[str, Results], *, resamples: int = RESAMPLES, seed: int = 0) -> Result:
    """Set runs side by side.

    Args:
        runs: the Results of each run, by its name; the first is the baseline of the page.
        resamples: bootstrap resamples of the sentences.
        seed: draws the resamples.

    Raises:
        UsageError: fewer than two runs.
    """
    if len(runs) < 2:
        raise UsageError("one run cannot be compared: name two or more")
    stopwatch = Stopwatch()
    remarks: list[str] = []
    differences = _differences(runs, resamples, seed, remarks)
    how = f"95 % paired percentile bootstrap over the common sentences, {resamples} resamples"
    signatures = {row["measure"]: row["signature"] for row in differences if row["signature"]}
    agreement = agreement_rows(runs, seed, remarks)
    found = {
        "runs": Table.of("The runs.", RUNS, run_rows(runs)),
        "quality": Table.of(
            "Quality of each run as it was measured there.",
            QUALITY,
            quality_rows(runs),
            interval="95 % percentile bootstrap over sentences",
        ),
        "differences": Table.of(
            "Differences on the sentences that two runs have in common.",
            DIFFERENCES,
            differences,
            n="see the table",
            interval=how,
        ),
        "curves": Table.of(
            "BLEU of smaller models against the heads that are left.",
            CURVES,
            curve_rows(runs),
            interval="95 % percentile bootstrap over sentences",
        ),
        "agreement": Table.of("How alike two runs order their heads.", AGREEMENT, agreement),
        "settings": Table.of("Settings that differ.", SETTINGS, setting_rows(runs)),
        "costs": Table.of("What each run cost.", COSTS, cost_rows(runs)),
    }
    origin = provenance(
        stopwatch,
        seed=seed,
        model="",
        data={f"results of {name}": _content(results) for name, results in runs.items()},
        signatures=signatures,
    )
    settings = {"runs": list(runs), "resamples": resamples}
    return Result("compare", found, settings, origin, tuple(dict.fromkeys(remarks)))


def _content(results: Results) -> str:
    """Return a fingerprint of what a run has found."""
    return fingerprint(
        {
            name: {table: it.rows.to_csv(index=False) for table, it in result.tables.items()}
            for name, result in results.items()
        }
    )


def _differences(
    runs: Mapping[str, Results], resamples: int, seed: int, remarks: list[str]
) -> list[Record]:
    """Return the rows of `DIFFERENCES`, and add what could not be compared to the remarks."""
    kept = {name: _sentences(results) for name, results in runs.items()}
    for name, found in kept.items():
        if found is None:
            remarks.append(f"{name} {OLD}.")
    rows = []
    for baseline, run in combinations(runs, 2):
        one, other = kept[baseline], kept[run]
        if one is None or other is None:
            continue
        about = {"run": run, "baseline": baseline}
        shared = [place for place in one if place in other]
        if not shared:
            remarks.append(f"{baseline} and {run} have no test split and search in common.")
        for split, search in shared:
            pair, note = _common(one[split, search], other[split, search])
            if note:
                remarks.append(f"{baseline} and {run}, split '{split}': {note}.")
            if pair is not None:
                about |= {"split": split, "search": search}
                rows += [{**about, **row} for row in _paired(*pair, resamples, seed)]
    return rows


def _sentences(results: Results) -> dict[tuple[str, str], Sentences] | None:
    """Return what a run said by split and search; None where that was not kept."""
    tables = results["evaluate"].tables if "evaluate" in results else {}
    if "translations" not in tables or "sentences" not in tables:
        return None
    sentences, translations = tables["sentences"].rows, tables["translations"].rows
    found = {}
    for place, said in translations.groupby(["split", "search"], sort=False):
        split, search = (str(part) for part in place)
        mine = sentences[sentences["split"] == split].set_index("sentence")
        rows = mine.loc[said["sentence"]]
        found[split, search] = Sentences(
            list(zip(rows["source"], rows["reference"], strict=True)),
            list(said["translation"]),
            rows["loss"].tolist(),
            rows["tokens"].tolist(),
        )
    return found


def _common(one: Sentences, other: Sentences) -> tuple[tuple[Sentences, Sentences] | None, str]:
    """Return both runs' sentences in one order, and what to say where their texts differ."""
    if one.texts == other.texts:
        return (one, other), ""
    places = {text: number for number, text in enumerate(other.texts)}
    mine = [number for number, text in enumerate(one.texts) if text in places]
    sizes = f"{len(one.texts)} and {len(other.texts)} sentences"
    if not mine:
        return None, f"the test texts ({sizes}) have no sentence in common, so none is compared"
    theirs = [places[one.texts[number]] for number in mine]
    note = f"the test texts ({sizes}) differ; compared are the {len(mine)} they have in common"
    return (one.select(mine), other.select(theirs)), note


def _paired(one: Sentences, other: Sentences, resamples: int, seed: int) -> list[Record]:
    """Return what the second run scores more than the first, by every measure."""
    references = [reference for _, reference in one.texts]
    rows = []
    for kind, unit in (("bleu", "BLEU points"), ("chrf", "chrF points")):
        generator = np.random.default_rng(seed)
        found = paired(kind, one.said, other.said, references, generator, resamples=resamples)
        rows.append(
            {
                "measure": kind,
                "difference": found.difference,
                "low": found.low,
                "high": found.high,
                "p": _p(found.p, found.low, found.high),
                "unit": unit,
                "sentences": found.n,
                "signature": signature(kind, references),
            }
        )
    return [*rows, _paired_nll(one, other, resamples, seed)]


def _paired_nll(one: Sentences, other: Sentences, resamples: int, seed: int) -> Record:
    """Return the difference of NLL: a token if both count the same tokens, else a sentence."""
    same = list(one.tokens) == list(other.tokens)
    weights = np.array(one.tokens if same else [1] * len(one.tokens), dtype=np.float64)
    gain = np.array(other.losses) - np.array(one.losses)  # [sentence]
    both = np.stack([gain, weights], axis=1)  # [sentence, 2]
    sums = resampled_sums([both], np.random.default_rng(seed), resamples)[0]  # [resample, 2]
    drawn = sums[:, 0] / sums[:, 1]  # [resample]
    low, high = np.percentile(drawn, (2.5, 97.5))
    difference = float(gain.sum() / weights.sum())
    shifted = np.abs(drawn - drawn.mean())
    return {
        "measure": "nll",
        "difference": difference,
        "low": float(low),
        "high": float(high),
        "p": _p((int((shifted > abs(difference)).sum()) + 1) / (resamples + 1), low, high),
        "unit": "nats a token" if same else "nats a sentence",
        "sentences": len(gain),
        "signature": "",
    }


def _p(p: float, low: float, high: float) -> float:
    """Return 1 for runs that never differ: sacrebleu's count of larger ones gives the least."""
    return 1.0 if low == high == 0 else p
