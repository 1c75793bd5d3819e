"""Measuring many smaller models, each once, in several processes, and never twice.

A curve of BLEU against heads takes a hundred models, each of which decodes some hundred
sentences, so it is the long part of a run. Three things keep it short:

- models with the same removed heads are one model;
- a finished model is a file in a folder, written atomically by the process that measured
  it: a run that was killed goes on with what is missing;
- small networks do not fill two cores with one decoding, but two processes of one thread
  do (`jobs`). On a GPU one process is enough.

The file's name holds everything the measurement depends on (model, text, search, removed
heads), so a folder that was made for another model is never read by mistake.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ..models.data.parallel_text import ParallelText
from ..models.files import write_json
from ..models.gates import Head
from ..models.translator import SearchSettings, Translator
from .analysis import Progress
from .provenance import Stopwatch, fingerprint, usable_cores
from .workers import spread, workers_for

CHUNKS_A_JOB = 12  # a chunk carries the model to its process; more of them balance better


@dataclass(frozen=True)
class Measured:
    """What one model does on the text.

    Args:
        translations: one a sentence.
        losses: summed token NLL of each reference, in nats, teacher-forced.
        tokens: target tokens of each reference, EOS included.
        parameters: of the physically smaller model.
        seconds: wall-clock time to decode all sentences in one process.
    """

    translations: list[str]
    losses: list[float]
    tokens: list[int]
    parameters: int
    seconds: float

    @property
    def nll(self) -> float:
        """Return the token NLL over all sentences, in nats a token."""
        return sum(self.losses) / sum(self.tokens)


class PointStore:
    """Finished measurements, one file each.

    Args:
        folder: where to keep them.
        about: whatever the measurements depend on besides the removed heads.
    """

    def __init__(self, folder: Path, about: Mapping[str, Any]) -> None:
        self.folder = folder
        self.about = dict(about)

    def get(self, removed: frozenset[Head]) -> Measured | None:
        """Return the measurement of a model, None if it has not been finished."""
        try:
            return Measured(**json.loads(self._path(removed).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def put(self, removed: frozenset[Head], measured: Measured) -> None:
        """Keep a finished measurement."""
        write_json(self._path(removed), asdict(measured))

    def _path(self, removed: frozenset[Head]) -> Path:
        key = fingerprint({**self.about, "removed": sorted(map(str, removed))})
        return self.folder / f"{key[:32]}.json"


def measure(
    translator: Translator, removed: Iterable[Head], data: ParallelText, search: SearchSettings
) -> Measured:
    """Cut the heads out of the weights, translate, and read the references.

    Args:
        translator: the whole model; it stays as it is.
        removed: heads to cut.
        data: what to translate.
        search: how.
    """
    smaller = translator.without(removed)
    clock = Stopwatch()
    translations = [it.text for it in smaller.translate(data.source, search)]
    seconds = clock.seconds
    losses, tokens = reference_losses(smaller, data)
    parameters = int(smaller.describe()["parameters"])
    return Measured(translations, losses, tokens, parameters, round(seconds, 4))


@torch.no_grad()
def reference_losses(
    translator: Translator, data: ParallelText, *, tokens: int = 4096
) -> tuple[list[float], list[int]]:
    """Return each reference's summed NLL in nats and its tokens, EOS included.

    Args:
        tokens: padded tokens a batch.
    """
    losses, counts = [0.0] * len(data.source), [0] * len(data.source)
    for batch in translator.batches(data.source, data.target, tokens=tokens):
        sums = translator.token_losses(batch).cpu().double().sum(1).tolist()  # [batch]
        lengths = batch.labels.real.sum(1).tolist()  # [batch]
        for index, loss, length in zip(batch.indices.tolist(), sums, lengths, strict=True):
            losses[index], counts[index] = loss, length
    return losses, counts


def measure_all(
    translator: Translator,
    sets: Sequence[frozenset[Head]],
    data: ParallelText,
    search: SearchSettings,
    store: PointStore,
    jobs: int,
    progress: Progress,
) -> dict[frozenset[Head], Measured]:
    """Measure every set of removed heads that the store does not have yet.

    Args:
        jobs: processes; 0 takes one a core on a CPU and one on a GPU.
    """
    unique = list(dict.fromkeys(sets))
    missing = [removed for removed in unique if store.get(removed) is None]
    done = len(unique) - len(missing)
    progress("prune", done, len(unique))
    for count in _in_processes(translator, missing, data, search, store, jobs):
        done += count
        progress("prune", done, len(unique))
    found = {removed: store.get(removed) for removed in unique}
    return {removed: measured for removed, measured in found.items() if measured is not None}


def _in_processes(
    translator: Translator,
    missing: Sequence[frozenset[Head]],
    data: ParallelText,
    search: SearchSettings,
    store: PointStore,
    jobs: int,
) -> Iterable[int]:
    """Measure chunk after chunk and yield how many models were finished."""
    workers = workers_for(jobs, len(missing), on_cpu=translator.device.type == "cpu")
    several = workers if workers > 0 else usable_cores()
    count = len(missing) if workers == 1 else min(several * CHUNKS_A_JOB, len(missing))
    # Models with few heads babble and take long; dealing them out like cards spreads them.
    chunks = [missing[start::count] for start in range(count)]
    todo = ((translator, chunk, data, search, store) for chunk in chunks)
    yield from spread(_measure_chunk, todo, workers, ordered=False)


def _measure_chunk(
    translator: Translator,
    sets: Sequence[frozenset[Head]],
    data: ParallelText,
    search: SearchSettings,
    store: PointStore,
) -> int:
    for removed in sets:
        store.put(removed, measure(translator, removed, data, search))
    return len(sets)
