"""How much does every head matter? The `score` analysis.

Every chosen metric of the `metric` family is measured on the same sentences, those that read
the same pass of the model in one walk over the text. The table `heads` gives each head its
value with a bootstrap interval over sentences, the value normalised within its layer, and its
rank; `agreement` says how far the metrics order the heads alike; `metrics` says what each
is, what it cost and how many sentences it needed to become stable (`stability.py`);
`proofs` checks each metric against another way to its numbers on a few sentences.

The rank is what a removal order is made of. It comes from validation or training text, never
from a test split: what was chosen on a text cannot be judged on it.

Pitfall: neighbouring ranks often mean nothing; look whether the intervals overlap. Pitfall: a
metric whose proof does not hold stays in the tables, so that the failure can be seen; its
numbers are not to be believed.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch
from pydantic import Field, field_validator

from ..models.data.parallel_text import Corpus, ParallelText
from ..models.errors import did_you_mean
from ..models.quality import signature
from ..models.settings import Settings
from ..models.translator import SearchSettings, Translator
from ..probe.importance import Metric, Proof, metric
from ..probe.stream import Measured, StreamedMetric, stream
from .analysis import Progress, analysis, silent, spread
from .leave_one_out_bleu import bleu_table
from .provenance import Stopwatch, provenance
from .result import Result
from .score_tables import agreement_table, heads_table, metrics_table, proofs_table

# Affordable beside a training of minutes; the other metrics must be asked for.
USUAL = (
    "confidence",
    "entropy",
    "attention_norm",
    "weight_norm",
    "gradient",
    "fisher",
    "lrp",
    "leave_one_out",
    "random",
)


class ScoreSettings(Settings):
    """What to measure, and on how much text.

    Args:
        metrics: members of the `metric` family, in the order of the tables.
        options: options of single metrics, `{"gradient": {"absolute": "token"}}`.
        split: `valid` or `train`; never a test split.
        sentences: the first so many sentences of the split.
        resamples: bootstrap resamples of the sentences for the intervals.
        proof_sentences: sentences, spread over those measured, that proofs are made on.
        bleu: whether BLEU is measured without each head as well (one translation a head).
        search: how to translate for that.
    """

    metrics: tuple[str, ...] = Field(default=USUAL, min_length=1)
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    split: str = "valid"
    sentences: int = Field(default=300, ge=1)
    resamples: int = Field(default=1000, ge=1)
    proof_sentences: int = Field(default=4, ge=1)
    bleu: bool = False
    search: SearchSettings = SearchSettings()

    @field_validator("split")
    @classmethod
    def _no_test_split(cls, split: str) -> str:
        if split not in ("valid", "train"):
            raise ValueError(
                "importance is measured on valid or train, never on test text, for heads that "
                "are chosen on a text cannot be judged on it"
                + did_you_mean(split, ("valid", "train"))
            )
        return split

    def members(self) -> dict[str, Metric]:
        """Return the metrics with their options, by name.

        Raises:
            UsageError: an unknown metric, or an unknown option of one.
        """
        for name in self.options:
            metric[name]
        return {
            name: metric[name].from_dict(self.options.get(name, {}), f"score.options.{name}")
            for name in self.metrics
        }

    def text(self, corpus: Corpus) -> ParallelText:
        """Return the sentences that are read."""
        return corpus.split(self.split).head(self.sentences)


@analysis("score")
def score(
    translator: Translator,
    corpus: Corpus,
    settings: ScoreSettings,
    seed: int,
    progress: Progress = silent,
) -> Result:
    """Measure the importance of every head on validation or training text.

    Raises:
        UsageError: an unknown metric, or an unknown option of one.
        DataError: the split is empty, holds empty sentences only, or a sentence that is
            longer than the model has positions for.
    """
    stopwatch = Stopwatch()
    data = settings.text(corpus)
    members = settings.members()
    measured = measure(members, translator, data, seed, progress)
    scores = {name: it.scores for name, it in measured.items()}
    proofs = prove(members, translator, data, settings.proof_sentences, seed, progress)
    kind = {"valid": "validation", "train": "training"}[settings.split]
    n = f"{len(data)} {kind} sentences ({data.name})"
    tables = {
        "heads": heads_table(scores, seed, settings.resamples, n),
        "agreement": agreement_table(scores, n),
        "metrics": metrics_table(measured, proofs, seed, n),
        "proofs": proofs_table(proofs, f"{min(settings.proof_sentences, len(data))} of {n}"),
    }
    signatures = {}
    if settings.bleu:
        tables["bleu"] = bleu_table(translator, data, settings.search, seed, progress, n=n)
        signatures["bleu"] = signature("bleu", data.target)
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={settings.split: data.fingerprint},
        device=translator.device,
        signatures=signatures,
    )
    remarks = [remark for member in members.values() for remark in member.remarks()]
    if known := pairs_of_tests(data, corpus):
        remarks.append(f"{known} of the {len(data)} sentence pairs also stand in a test split.")
    return Result("score", tables, settings.model_dump(mode="json"), origin, tuple(remarks))


def measure(
    members: dict[str, Metric],
    translator: Translator,
    data: ParallelText,
    seed: int,
    progress: Progress = silent,
) -> dict[str, Measured]:
    """Measure metrics on the same text, those that can share a pass in one walk over it.

    Args:
        members: metrics by name; the same names in the same order come back.
        seed: of each metric that samples, on its own.

    Raises:
        DataError: `data` is empty.
    """
    streamed = {name: it for name, it in members.items() if isinstance(it, StreamedMetric)}
    if streamed:
        progress("score: " + ", ".join(streamed), 0, len(members))
    found = stream(streamed, translator, data)
    for name, member in members.items():
        if name not in found:
            progress(f"score: {name}", len(found), len(members))
            clock = Stopwatch()
            scores = member.scores(translator, data, torch.Generator().manual_seed(seed))
            found[name] = Measured(scores, clock.seconds)
    progress("score", len(members), len(members))
    return {name: found[name] for name in members}


def prove(
    members: dict[str, Metric],
    translator: Translator,
    data: ParallelText,
    sentences: int,
    seed: int,
    progress: Progress = silent,
) -> dict[str, tuple[Proof, ...]]:
    """Let every metric check itself on a few sentences, spread over the text, each proof once."""
    few = data.select(spread(len(data), sentences))
    proofs: dict[Hashable, tuple[Proof, ...]] = {}
    for done, (name, member) in enumerate(members.items()):
        progress(f"proof: {name}", done, len(members))
        if member.proves() not in proofs:
            generator = torch.Generator().manual_seed(seed)
            proofs[member.proves()] = member.prove(translator, few, generator)
    progress("proof", len(members), len(members))
    return {name: proofs[member.proves()] for name, member in members.items()}


def pairs_of_tests(data: ParallelText, corpus: Corpus) -> int:
    """Return how many sentence pairs of a text stand in a test split of the corpus too."""
    tests = {
        pair
        for test in corpus.tests.values()
        for pair in zip(test.source, test.target, strict=True)
    }
    return sum(pair in tests for pair in zip(data.source, data.target, strict=True))
