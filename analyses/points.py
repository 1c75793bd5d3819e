"""Measuring many smaller models, each once, in several processes, and never twice.

A curve of BLEU against heads takes a hundred models, each of which decodes some hundred
sentences, so it is the long part of a run. Four things keep it short:

- models with the same removed heads are one model;
- a finished model is a file in a folder, written atomically by the process that measured
  it: a run that was killed goes on with what is missing;
- small networks do not fill two cores with one decoding, but two processes of one thread
  do (`jobs`). On a GPU one process is enough;
- where the sentences of one model do not fill a batch, several models are decoded side by
  side: the whole one, with a row of gates a sentence. On miniature with one thread, seven
  models took 0.10 s instead of 0.67 on 4 sentences and 0.66 instead of 1.10 on 40, but 4.9
  instead of 3.8 on 300, where multiplying by closed heads costs more than a fuller batch
  gains; beam search is alike (`benchmarks/points.py`). What each of them would take alone is
  then not known.

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

ROWS = 160  # sentences that fill a batch: as many models are decoded together as make these
CHUNKS_A_JOB = 12  # a chunk carries the model to its process; more of them balance better


@dataclass(frozen=True)
class Measured:
    """What one model does on the text.

    Args:
        translations: one a sentence.
        losses: summed token NLL of each reference, in nats, teacher-forced.
        tokens: target tokens of each reference, EOS included.
        parameters: of the physically smaller model.
        seconds: wall-clock time to decode all sentences in one process; None where several
            models were decoded side by side.
    """

    translations: list[str]
    losses: list[float]
    tokens: list[int]
    parameters: int
    seconds: float | None

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
    return _read(smaller, translations, round(clock.seconds, 4), data)


def measure_together(
    translator: Translator,
    sets: Sequence[Iterable[Head]],
    data: ParallelText,
    search: SearchSettings,
) -> list[Measured]:
    """Do the same for several sets of heads, decoding all of them side by side."""
    said = translations_of_masks(translator, sets, data.source, search)
    cut = [translator.without(removed) for removed in sets]
    return [_read(it, own, None, data) for it, own in zip(cut, said, strict=True)]


def translations_of_masks(
    translator: Translator,
    sets: Sequence[Iterable[Head]],
    sentences: Sequence[str],
    search: SearchSettings,
) -> list[list[str]]:
    """Translate without each of some sets of heads, whose gates are closed, in one search."""
    count = len(sentences)
    rows = [translator.layout.closing(removed).expand(count, -1) for removed in sets]
    gates = torch.cat(rows)  # [set x sentence, head]
    said = translator.translate([*sentences] * len(sets), search, gates=gates)
    return [[it.text for it in said[at : at + count]] for at in range(0, len(said), count)]


def _read(
    smaller: Translator, translations: list[str], seconds: float | None, data: ParallelText
) -> Measured:
    losses, tokens = reference_losses(smaller, data)
    parameters = int(smaller.describe()["parameters"])
    return Measured(translations, losses, tokens, parameters, seconds)


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
    most = -(-len(missing) // decoded_together(data))
    count = most if workers == 1 else min(several * CHUNKS_A_JOB, most)
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
    size = decoded_together(data)
    for group in (sets[at : at + size] for at in range(0, len(sets), size)):
        if len(group) == 1:
            found = [measure(translator, group[0], data, search)]
        else:
            found = measure_together(translator, group, data, search)
        for removed, measured in zip(group, found, strict=True):
            store.put(removed, measured)
    return len(sets)


def decoded_together(data: ParallelText) -> int:
    """Return how many models are decoded side by side, so that their sentences fill a batch."""
    return max(1, ROWS // len(data))
