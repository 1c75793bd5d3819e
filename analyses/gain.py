"""What does a smaller model gain in time and memory? The `gain` analysis.

The smaller model and the whole one translate the same sentences by turns, in the same process,
in many short rounds. What slows the machine down slows both, so the ratio of a round says more
than the seconds of either; the gain is the median of the ratios over rounds, with an interval
for that median. In every other round the smaller model goes first.

Two times are taken: what the clock on the wall says, which is what a user waits for, and the
processor time of this process, in which waiting for other processes does not count.

    speed-up = tokens a second of the smaller model / tokens a second of the whole model

A model with fewer heads may say more or less than the whole one, and then the two do not do
the same work. So each search is timed twice: with every sentence as long as the other model's
(`equal`: exactly so many tokens, whatever they are), which compares the models, and with the
models' own lengths (`own`), which is what a user gets.

The table `parts` tells where the gain comes from: encoder, decoder, attention by site and what
heads do not touch, each with the share of its multiplications that is gone. Multiplications
are counted, not derived: torch counts the products of the same searches.

Pitfall: at batch 1 a search is a string of tiny operations whose number does not depend on the
number of heads. Multiplications that are spared there spare little time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import torch
from pydantic import Field, PositiveInt

from ..models.data.parallel_text import ParallelText
from ..models.errors import UsageError
from ..models.settings import Settings
from ..models.transformer import TransformerTranslator
from ..models.translator import Translator
from .analysis import Progress, silent
from .bench.memory import can_measure
from .bench.size import SIZE, size_records
from .bench.turns import (
    FEWEST_ROUNDS,
    INTERVAL,
    PARTS,
    SPEED,
    WHOLE_MODEL,
    Case,
    Record,
    part_records,
    speed_records,
)
from .provenance import Stopwatch, provenance
from .result import Result, Table


class GainSettings(Settings):
    """What to measure.

    Args:
        batches: sentences translated together.
        beams: hypotheses a sentence; 1 is greedy search.
        rounds: how often the models take turns at each; an interval needs six.
        a_round: sentences each model translates in a round, at least; a batch where it is larger.
        lengths: `equal`, `own`, or both.
        parts: whether to time the parts of a search too.
        memory: whether to measure the peak of memory, each in a process of its own.
    """

    batches: tuple[PositiveInt, ...] = Field(default=(1, 16, 64), min_length=1)
    beams: tuple[PositiveInt, ...] = Field(default=(1, 5), min_length=1)
    rounds: int = Field(default=15, ge=FEWEST_ROUNDS)
    a_round: int = Field(default=4, ge=1)
    lengths: tuple[Literal["equal", "own"], ...] = ("equal", "own")
    parts: bool = True
    memory: bool = True


def gain(
    translator: Translator,
    smaller: Mapping[str, Translator],
    data: ParallelText,
    settings: GainSettings,
    seed: int,
    progress: Progress = silent,
) -> Result:
    """Compare smaller models with the whole one.

    Args:
        translator: the whole model.
        smaller: models by the name that they shall have in the tables.
        data: sentences to translate; those that judge, not those that chose.
        settings: what to measure.
        seed: of the run, recorded.
        progress: hears how far the work has come.

    Raises:
        UsageError: no smaller model, or one that lies on another device.
    """
    stopwatch = Stopwatch()
    _check(translator, smaller)
    models = {WHOLE_MODEL: translator, **smaller}
    own = {name: it for name, it in models.items() if isinstance(it, TransformerTranslator)}
    shared = {"rounds": settings.rounds, "a_round": settings.a_round}
    cases = [Case(beam, it, **shared) for beam in settings.beams for it in settings.batches]
    speed: list[Record] = []
    parts: list[Record] = []
    usual = _usual_length(translator, data)
    for done, case in enumerate(cases):
        progress("gain", done, len(cases) + 1, f"{case.name}, batch {case.batch}")
        for lengths in settings.lengths:
            search = case.search(usual if lengths == "equal" else None)
            speed += speed_records(models, data, case, search, lengths)
        if settings.parts and len(own) == len(models):
            parts += part_records(own, data, case, case.search(usual))
    progress("gain", len(cases), len(cases) + 1, "memory")
    size = size_records(models, data, cases[-1], usual, memory=settings.memory)
    progress("gain", len(cases) + 1, len(cases) + 1)
    how = {"n": _n(settings, translator.device), "interval": INTERVAL}
    tables = {
        "speed": Table.of("Speed of translation, models by turns.", SPEED, speed, **how),
        "parts": Table.of("Where the time of a search goes.", PARTS, parts, **how),
        "size": Table.of(
            f"What the models need; memory by {cases[-1].name}, batch {cases[-1].batch}.",
            SIZE,
            size,
            n=f"{cases[-1].batch} sentences of {usual} tokens",
        ),
    }
    fingerprints = {f"model {name}": it.fingerprint for name, it in smaller.items()}
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={data.name: data.fingerprint, **fingerprints},
        device=translator.device,
    )
    remarks = _remarks(settings, translator.device, usual)
    return Result("gain", tables, settings.model_dump(mode="json"), origin, remarks)


def _check(translator: Translator, smaller: Mapping[str, Translator]) -> None:
    if not smaller:
        raise UsageError("there is no smaller model to compare with: name one")
    for name, model in smaller.items():
        if model.device != translator.device:
            raise UsageError(f"{name} lies on {model.device}, the whole on {translator.device}")
        if _words(model) != _words(translator):
            raise UsageError(f"{name} has another vocabulary: name a model that was cut from RUN's")
        if name == WHOLE_MODEL:
            raise UsageError(f"'{WHOLE_MODEL}' is the name of the whole model: choose another")


def _words(translator: Translator) -> list[str]:
    """Return the fingerprints of its vocabularies, none for a foreign model."""
    if not isinstance(translator, TransformerTranslator):
        return []
    return [vocabulary.fingerprint for vocabulary in translator.vocabularies.values()]


def _n(settings: GainSettings, device: torch.device) -> str:
    threads = torch.get_num_threads()
    where = f"{threads} thread{'s' * (threads != 1)}" if device.type == "cpu" else str(device)
    return f"{settings.rounds} rounds by turns, {where}"


def _remarks(settings: GainSettings, device: torch.device, usual: int) -> tuple[str, ...]:
    remarks = [
        f"Equal lengths are {usual} tokens a sentence, the median of the whole model's "
        "translations.",
        "Tokens a second and seconds are medians over rounds; a speed-up is the median of the "
        "ratios of each round, which need not be the ratio of the medians.",
    ]
    if settings.parts and device.type == "cpu":
        remarks.append("Parts are timed by the processor time of the process.")
    if settings.memory and not can_measure(device):
        remarks.append("This system does not say how much memory was used.")
    return tuple(remarks)


def _usual_length(translator: Translator, data: ParallelText) -> int:
    """Return the median number of tokens that the whole model says, EOS included."""
    said = translator.translate(data.source[:100])
    return int(np.median([len(it.ids) + 1 for it in said]))
