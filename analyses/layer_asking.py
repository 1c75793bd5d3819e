"""All tasks asked of all layers of all networks of one side, and the verdict of the side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from ..models.errors import DataError, UsageError
from ..models.reinitialised import with_random_weights
from ..models.translator import Translator
from ..probe.layers.examples import PARTS, Examples
from ..probe.layers.gains import TaskCurves
from ..probe.layers.store import SIDES, StateStore, What, capture
from ..probe.layers.survey import Asking, Finding, surveys
from ..probe.layers.tasks import (
    Words,
    aligned_examples,
    examples_of,
    task,
    translation_examples,
)
from ..probe.layers.verdict import FAMILIES, Verdict, verdict
from .analysis import Progress
from .layer_text import ProbedText, Side, SideText

if TYPE_CHECKING:
    from .layers import LayersSettings


@dataclass(frozen=True)
class Networks:
    """What is probed.

    Args:
        first: the model whose table is shown.
        others: the same model trained from other seeds.
        smaller: the first after heads were removed.
    """

    first: Translator
    others: Sequence[Translator] = ()
    smaller: Translator | None = None

    def named(self, seed: int) -> list[tuple[str, Translator]]:
        """Return all of them with their kind, and last one with random weights if it can be."""
        named = [("trained", self.first), *[("trained", other) for other in self.others]]
        if self.smaller is not None:
            named.append(("smaller", self.smaller))
        with suppress(UsageError):  # a model of another kind; `ask` remarks on it
            generator = torch.Generator().manual_seed(seed)
            named.append(("random", with_random_weights(self.first, generator)))
        return named


@dataclass(frozen=True)
class Asked:
    """The questions of one side, and the findings of every network.

    Args:
        text: what the side reads.
        questions: examples of every task, by its full name.
        families: of every question.
        trained, smaller, random: findings of the trained networks, of the one without some
            heads, and of one with random weights.
        store, random_store: the states of the first and of the random network.
    """

    text: SideText
    questions: Sequence[Examples]
    families: dict[str, str]
    store: StateStore
    random_store: StateStore | None
    trained: list[list[Finding]] = field(default_factory=list)
    smaller: list[list[Finding]] = field(default_factory=list)
    random: list[list[Finding]] = field(default_factory=list)

    @property
    def side(self) -> Side:
        """Return which side it is."""
        return self.text.side

    def right(self, found: Sequence[Finding], name: str) -> NDArray[np.float64]:
        """Return right predictions of a task, a final norm left out  # [layer, sentence]."""
        of_task = sorted((it for it in found if it.task == name), key=lambda it: it.layer)
        size = len(self.text.sentences)
        return np.stack(
            [it.test.correct_by_sentence(size)[0] for it in of_task[: self.store.layers]]
        )


def captured(
    network: Translator, text: SideText, settings: LayersSettings, folder: Path, what: What
) -> StateStore:
    """Capture a side's states, or the outputs of its heads."""
    spans = [it.spans for it in text.sentences]
    arguments = (network, text.source, text.target, spans, text.side, folder)
    return capture(*arguments, settings.store, what)


def ask(
    networks: Networks,
    text: ProbedText,
    settings: LayersSettings,
    seed: int,
    progress: Progress,
    folder: Path,
    remarks: list[str],
) -> list[Asked]:
    """Probe all networks, one side after the other; of other seeds no control task and no code.

    Raises:
        UsageError: the same model given twice, or the decoder asked about text without a
            target side.
        DataError: a model of another shape than the first, or text without examples.
    """
    _refuse_other_models(networks)
    named = networks.named(seed)
    if named[-1][0] != "random":
        remarks.append("No random network: this kind of model cannot be initialised anew.")
    asked, work = [], []
    for side in settings.sides:
        if side == "encoder" or text.pairs:
            of_side = text.side(side, settings.altered, seed)
            stores = _stores(named, of_side, settings, progress, folder)
            questions, families = questions_of(of_side, stores[0], text.name, settings, remarks)
            random = stores[-1] if named[-1][0] == "random" else None
            asked.append(Asked(of_side, questions, families, stores[0], random))
            # Other seeds are there for accuracies and the verdict.
            others = range(1, 1 + len(networks.others))
            work += [
                Asking(store, questions, of_side.split, place in others)
                for place, store in enumerate(stores)
            ]
    if not asked:
        raise UsageError("the decoder needs the target sentences: give --target-treebank")
    found = surveys(work, settings.survey, seed, partial(progress, "layers: probes"))
    for place, findings in enumerate(found):
        kind = named[place % len(named)][0]
        kept: list[list[Finding]] = getattr(asked[place // len(named)], kind)
        kept.append(findings)
    return asked


def _refuse_other_models(networks: Networks) -> None:
    """Refuse what is no other seed of the first model."""
    models = (networks.first, *networks.others)
    if len({it.fingerprint for it in models}) < len(models):
        raise UsageError("the same model is given twice: --seeds wants runs from other seeds")
    own = dict(networks.first.describe())
    for theirs in map(dict, (it.describe() for it in networks.others)):
        for name, value in own.items():
            if theirs.get(name) != value:
                raise DataError(
                    f"a model has {name.replace('_', ' ')} {theirs.get(name)}, the first {value}: "
                    "--seeds wants models of the same shape, trained alike from other seeds"
                )


def _stores(
    named: Sequence[tuple[str, Translator]],
    of_side: SideText,
    settings: LayersSettings,
    progress: Progress,
    folder: Path,
) -> list[StateStore]:
    """Capture the states of all networks."""
    stores: list[StateStore] = []
    what = f"layers: {of_side.side} states"
    for done, (kind, network) in enumerate(named):
        progress(what, done, len(named))
        place = folder / f"{of_side.side}-{done}"
        store = captured(network, of_side, settings, place, "states")
        if stores and store.units != stores[0].units:
            raise DataError(
                f"a {kind} model has layers {', '.join(store.units)} of the {of_side.side}, the "
                f"first {', '.join(stores[0].units)}: give models of the same shape"
            )
        stores.append(store)
    progress(what, len(named), len(named))
    return stores


Make = Callable[[], Examples]


def questions_of(
    text: SideText, store: StateStore, name: str, settings: LayersSettings, remarks: list[str]
) -> tuple[list[Examples], dict[str, str]]:
    """Return the examples of all tasks that have enough, and the families.

    Raises:
        DataError: a task that was named has no examples, or no task has.
    """
    words = Words.of(store, text.sentences)
    found: list[Examples] = []
    families: dict[str, str] = {}
    refused: list[str] = []
    same = _same_words(text, words, settings)

    def add(family: str, make: Make) -> None:
        try:
            examples = make()
            if same is not None and examples.unit != "sentence" and family in FAMILIES:
                examples = examples.select(np.flatnonzero(np.isin(examples.rows, same)))
            examples = examples.learnable(text.split)
        except DataError as error:
            # Named tasks must work for the source; of all tasks those that fit are taken.
            if settings.tasks and family != "translation" and text.side == "encoder":
                raise
            refused.append(str(error))
            return
        found.append(examples)
        families[examples.task] = family

    for family, make in _asked_of(text, words, settings):
        add(family, make)
    if not found:
        raise DataError(f"{name}: no task has examples; {'; '.join(refused)}")
    if refused:
        names = ", ".join(message.split("'")[1] for message in refused)
        remarks.append(f"Tasks of the {SIDES[text.side]} side without enough annotation: {names}.")
    dropped = [f"{it.task} {it.dropped}" for it in found if it.dropped]
    if dropped:
        remarks.append(
            f"Examples of the {SIDES[text.side]} side left out because training has their label "
            f"only once: {', '.join(dropped)}."
        )
    return found, families


def _asked_of(text: SideText, words: Words, settings: LayersSettings) -> Iterator[tuple[str, Make]]:
    """Yield every question with its family; what is about links only where there are some."""
    linked = any(pair.sure for pair in text.pairs)
    for member in settings.members():
        yield member.family, partial(examples_of, member, text.sentences, words)
        if text.side == "decoder" and member.name in settings.decoder_tasks:
            yield "translation", partial(examples_of, member, text.sentences, words, "next")
            if linked:
                yield "translation", partial(aligned_examples, member, text.pairs, words)
    if text.side == "encoder" and linked and settings.translations:
        yield "translation", partial(translation_examples, text.pairs, words)


def _same_words(text: SideText, words: Words, settings: LayersSettings) -> NDArray[np.int64] | None:
    """Return the rows that all tasks are asked of, None where each has its own."""
    if not settings.same_words:
        return None
    member = task[settings.same_words]
    if member.unit == "sentence":
        raise UsageError(f"task '{member.name}' is about sentences: name one about words")
    return examples_of(member, text.sentences, words).rows


def judge(asked: Asked, seed: int, resamples: int) -> Verdict | None:
    """Return the verdict of one side, None without a random network or tasks to judge by."""
    if not asked.random:
        return None
    size, part = len(asked.text.sentences), asked.text.split.part
    inside = part == PARTS.index("test")  # [sentence]
    inside &= np.arange(size) < size - asked.text.made  # what is out of order is no family's
    curves = []
    for question in asked.questions:
        family = asked.families[question.task]
        if family in FAMILIES:
            trained, random = (
                np.stack([asked.right(found, question.task)[:, inside] for found in networks])
                for networks in (asked.trained, asked.random)
            )
            own = next(it for it in asked.trained[0] if it.task == question.task)
            examples = own.test.correct_by_sentence(size)[1][inside]
            curves.append(TaskCurves(question.task, family, trained, random, examples))
    if not curves:
        return None
    return verdict(curves, np.random.default_rng(seed), resamples=resamples)
