"""What does each layer know, and does syntax lie lower than semantics? The `layers` analysis.

Every layer of encoder and decoder is probed for every task that the annotation allows, in the
trained network and in the same network with random weights. The table `probes` holds each
task and layer with all of its baselines; `verdict` answers "lower layers lean to syntax, upper
ones to semantics" with one of: syntax lower, semantics lower, equivalent, undecided. One
model alone is always undecided: give several that were trained from different seeds.

The encoder is asked for the labels of its words. The decoder has three kinds of question,
kept apart: about the target word just read, about the word to come (`of the next word`),
and about the aligned source word (`of the aligned source word`).

Pitfalls. A probe shows what can be read, not what is used. Accuracies of layers differ by a
point or two with the penalty and the convergence of the fit, so look at `gradient` and
`at_edge` before comparing them. Layers 0 and 1 of a random network are good already.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from ..models.data import miniature
from ..models.data.corpora import CorpusSettings
from ..models.data.parallel_text import ParallelText
from ..models.data.vocabulary import UNK
from ..models.errors import DataError, UsageError
from ..models.reinitialised import with_random_weights
from ..models.settings import Settings
from ..models.translator import Translator
from ..probe.annotations import AlignedPair, AnnotatedSentence, Treebank, aligned_text
from ..probe.layers.examples import PARTS, Examples, Split
from ..probe.layers.mixing import MixFinding, mixes_of
from ..probe.layers.store import SIDES, StateStore, StoreSettings, capture
from ..probe.layers.structural import StructuralSettings
from ..probe.layers.survey import Finding, SurveySettings, survey
from ..probe.layers.tasks import ProbeTask, Words, aligned_examples, examples_of, task
from ..probe.layers.verdict import FAMILIES, TaskCurves, Verdict, verdict
from .analysis import Progress, analysis, silent
from .layer_shapes import (
    Parsed,
    likeness_table,
    mix_tables,
    structure_rows,
    structure_table,
)
from .layer_tables import baselines_table, probes_table, verdict_table
from .provenance import Stopwatch, provenance
from .result import Result

Side = Literal["encoder", "decoder"]
MOST_UNKNOWN = 0.05
"""With a larger share of unknown pieces the text is not what the model was trained for."""


class LayersSettings(Settings):
    """What to probe, and how carefully.

    Args:
        tasks: members of the `probe task` family; none named: all that have examples.
        sides: `encoder`, `decoder` or both; the decoder needs sentence pairs.
        sentences: training sentences of the built-in corpus that the probes learn from.
        decoder_tasks: word tasks that the decoder is asked for the next and the aligned word.
        mixes: tasks for which layers are mixed.
        mix_examples: training examples of every mix, at most.
        structure: training of the structural probes.
        structure_sentences: sentences of each part for them, at most; 0 leaves them out.
        store: how states are kept.
        survey: effort of each probe.
        resamples: bootstrap resamples of the test sentences.
    """

    tasks: tuple[str, ...] = ()
    sides: tuple[Side, ...] = ("encoder", "decoder")
    sentences: int = 2000
    decoder_tasks: tuple[str, ...] = ("upos", "supersense")
    mixes: tuple[str, ...] = ("upos", "relation", "supersense", "role")
    mix_examples: int = 5000
    structure: StructuralSettings = StructuralSettings()
    structure_sentences: int = 400
    store: StoreSettings = StoreSettings()
    survey: SurveySettings = SurveySettings()
    resamples: int = 1000

    def members(self) -> list[ProbeTask]:
        """Return the tasks.

        Raises:
            UsageError: an unknown task.
        """
        return [task[name] for name in self.tasks or tuple(task)]


@dataclass(frozen=True)
class ProbedText:
    """Annotated sentences with their parts.

    Args:
        name: for tables and messages.
        source: annotated source sentences.
        pairs: the sentences with their translations, where there are any.
        split: which sentence is for what.
    """

    name: str
    source: Sequence[AnnotatedSentence]
    pairs: Sequence[AlignedPair]
    split: Split

    @property
    def plain(self) -> ParallelText:
        """Return the text without annotation, the target empty where there is none."""
        targets = [it.target.text for it in self.pairs] or [""] * len(self.source)
        return ParallelText(self.name, [it.text for it in self.source], targets)


def miniature_text(corpus: CorpusSettings, settings: LayersSettings) -> ProbedText:
    """Return the built-in corpus: probes learn on training text and are judged on test text.

    Raises:
        UsageError: the model was not trained on the built-in corpus in its direction.
    """
    if corpus.name != "miniature" or corpus.source_language not in (None, "en"):
        raise UsageError(
            f"no gold annotation of corpus '{corpus.name}' in this direction; give a treebank of "
            "the model's source language with --treebank"
        )
    whole = miniature.generate(corpus.seed, corpus.sentences)
    parts = (whole.train[: settings.sentences], whole.valid, whole.test)
    pairs = [pair for part in parts for pair in aligned_text(part, "miniature").pairs]
    split = Split(np.repeat(np.arange(3), [len(part) for part in parts]))
    return ProbedText("miniature", [it.source for it in pairs], pairs, split)


def treebank_text(treebank: Treebank, seed: int) -> ProbedText:
    """Return a treebank, split at random by document, or by sentence where it has none.

    Raises:
        DataError: too few sentences.
    """
    documents = [it.document for it in treebank]
    split = Split.of(documents, np.random.default_rng(seed))
    return ProbedText(treebank.name, list(treebank), (), split)


@dataclass(frozen=True)
class Asked:
    """The questions of one side, and the findings of every network.

    Args:
        side: which side.
        questions: examples of every task, by its full name.
        families: of every question.
        trained, random: findings of the trained networks and of one with random weights.
        store: the states of the first network.
    """

    side: str
    questions: Sequence[Examples]
    families: dict[str, str]
    trained: list[list[Finding]]
    random: list[list[Finding]]
    store: StateStore


@analysis("layers")
def layers(
    translator: Translator,
    text: ProbedText,
    settings: LayersSettings,
    seed: int,
    progress: Progress = silent,
    *,
    folder: Path,
    others: Sequence[Translator] = (),
) -> Result:
    """Probe every layer for syntax and semantics.

    Args:
        translator: the model whose table is shown.
        text: annotated sentences, in place of the corpus.
        folder: where states are kept while they are needed.
        others: the same model trained from other seeds, for the verdict.

    Raises:
        DataError: text that cannot be probed; see the parts.
    """
    stopwatch = Stopwatch()
    remarks: list[str] = []
    tables = {}
    asked = []
    remarks.append(_fit_of_words(translator, text))
    sides = [side for side in settings.sides if side == "encoder" or text.pairs]
    for side in sides:
        found = _ask(translator, others, text, side, settings, seed, progress, folder, remarks)
        asked.append(found)
        if found.store.unaligned:
            remarks.append(f"{found.store.unaligned} words of the {side} side have no piece.")
    n = ", ".join(
        f"{int((text.split.part == index).sum())} {part}" for index, part in enumerate(PARTS)
    )
    n = f"{n} sentences ({text.name})"
    tables["probes"] = probes_table(asked, seed, settings.resamples, n)
    tables["baselines"] = baselines_table(asked, text.split, n)
    answers = {it.side: judge(it, len(text.source), text.split, seed, settings) for it in asked}
    tables["verdict"] = verdict_table(
        {side: it for side, it in answers.items() if it is not None}, 1 + len(others), n
    )
    parsed = [Parsed(it.side, it.store, _sentences(text, it.side), text.split) for it in asked]
    tables |= mix_tables(_mixes(asked, text.split, settings, seed), settings.resamples, n)
    structures = [
        row
        for it in parsed
        for row in structure_rows(
            it, settings.structure, settings.structure_sentences, settings.resamples, seed
        )
    ]
    tables["structure"] = structure_table(structures, settings.resamples, n)
    tables["likeness"] = likeness_table(parsed, n)
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"annotated": text.plain.fingerprint},
        device=translator.device,
    )
    return Result("layers", tables, settings.model_dump(mode="json"), origin, tuple(remarks))


def _fit_of_words(translator: Translator, text: ProbedText) -> str:
    """Say how the model's vocabulary fits the source words: a foreign language fits badly."""
    plain, unknown, pieces = text.plain, 0, 0
    for batch in translator.batches(plain.source, [""] * len(plain)):
        pieces += int(batch.source.ordinary.sum())
        unknown += int((batch.source.ordinary & (batch.source.ids == UNK)).sum())
    words = sum(len(it) for it in text.source)
    share = unknown / max(pieces, 1)
    said = f"The source has {pieces / max(words, 1):.2f} pieces a word, {share:.1%} of them unknown"
    if share > MOST_UNKNOWN:
        return f"{said}: text that the model was not trained for, perhaps of another language."
    return f"{said}."


def _mixes(
    asked: Sequence[Asked], split: Split, settings: LayersSettings, seed: int
) -> list[tuple[str, MixFinding]]:
    """Mix the layers of the first model for the chosen tasks that there are."""
    found = []
    for it in asked:
        penalties = {
            finding.task: finding.chosen.penalty
            for finding in it.trained[0]
            if finding.layer == it.store.layers - 1
        }
        for question in it.questions:
            if question.task in settings.mixes:
                mix = mixes_of(
                    it.store,
                    question,
                    split,
                    penalties[question.task],
                    examples=settings.mix_examples,
                    resamples=settings.resamples,
                    memory=settings.survey.memory,
                    seed=seed,
                )
                found.append((it.side, mix))
    return found


def _ask(
    translator: Translator,
    others: Sequence[Translator],
    text: ProbedText,
    side: str,
    settings: LayersSettings,
    seed: int,
    progress: Progress,
    folder: Path,
    remarks: list[str],
) -> Asked:
    """Probe one side of all networks."""
    networks: list[tuple[str, Translator]] = [("trained", translator)]
    networks += [("trained", other) for other in others]
    try:
        generator = torch.Generator().manual_seed(seed)
        networks.append(("random", with_random_weights(translator, generator)))
    except UsageError:
        remarks.append("No random network: this kind of model cannot be initialised anew.")
    findings: dict[str, list[list[Finding]]] = {"trained": [], "random": []}
    questions: list[Examples] = []
    families: dict[str, str] = {}
    stores: list[StateStore] = []
    for done, (kind, network) in enumerate(networks):
        progress(f"layers: {side}, {kind}", done, len(networks))
        sentences = _sentences(text, side)
        plain = text.plain
        store = capture(
            network,
            plain.source,
            plain.target,
            [it.spans for it in sentences],
            side,
            folder / f"{side}-{done}",
            settings.store,
        )
        if not questions:
            questions, families = _questions(text, side, store, settings, remarks)
        stores.append(store)
        found = survey(store, questions, text.split, settings.survey, seed)
        findings[kind].append(found)
    progress(f"layers: {side}", len(networks), len(networks))
    trained, random = findings["trained"], findings["random"]
    return Asked(side, questions, families, trained, random, stores[0])


def _sentences(text: ProbedText, side: str) -> Sequence[AnnotatedSentence]:
    return text.source if side == "encoder" else [it.target for it in text.pairs]


def _questions(
    text: ProbedText, side: str, store: StateStore, settings: LayersSettings, remarks: list[str]
) -> tuple[list[Examples], dict[str, str]]:
    """Return the examples of all tasks that have enough, and the families."""
    sentences = _sentences(text, side)
    words = Words.of(store, sentences)
    found: list[Examples] = []
    families: dict[str, str] = {}
    refused: list[str] = []

    def ask(member: ProbeTask, kind: str) -> None:
        try:
            if kind == "aligned":
                examples = aligned_examples(member, text.pairs, words)
            else:
                at: Literal["current", "next"] = "next" if kind == "next" else "current"
                examples = examples_of(member, sentences, words, at)
            examples = examples.learnable(text.split)
        except DataError as error:
            # Named tasks must work; of all tasks those that fit are taken.
            if settings.tasks:
                raise
            refused.append(str(error))
            return
        found.append(examples)
        families[examples.task] = member.family if kind == "current" else "translation"

    for member in settings.members():
        ask(member, "current")
        if side == "decoder" and member.name in settings.decoder_tasks:
            ask(member, "next")
            ask(member, "aligned")
    if not found:
        raise DataError(f"{text.name}: no task has examples; {'; '.join(refused)}")
    if refused:
        names = ", ".join(message.split("'")[1] for message in refused)
        remarks.append(f"Tasks of the {SIDES[side]} side without enough annotation: {names}.")
    return found, families


def judge(
    asked: Asked, sentences: int, split: Split, seed: int, settings: LayersSettings
) -> Verdict | None:
    """Return the verdict of one side, None without a random network or tasks to judge by."""
    if not asked.random:
        return None
    inside = split.part == PARTS.index("test")  # [sentence]
    curves = []
    for question in asked.questions:
        family = asked.families[question.task]
        if family in FAMILIES:
            trained, random = (
                np.stack([_right(found, question.task, sentences)[:, inside] for found in networks])
                for networks in (asked.trained, asked.random)
            )
            own = next(it for it in asked.trained[0] if it.task == question.task)
            examples = own.test.correct_by_sentence(sentences)[1][inside]
            curves.append(TaskCurves(question.task, family, trained, random, examples))
    if not curves:
        return None
    return verdict(curves, np.random.default_rng(seed), resamples=settings.resamples)


def _right(found: Sequence[Finding], name: str, sentences: int) -> NDArray[np.float64]:
    """Return right predictions of a task  # [layer, sentence]."""
    of_task = sorted((it for it in found if it.task == name), key=lambda it: it.layer)
    return np.stack([it.test.correct_by_sentence(sentences)[0] for it in of_task])
