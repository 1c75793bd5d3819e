"""How much memory a measurement takes at its peak, each in a process of its own.

The process makes model and text, does the work once on one sentence (imports and libraries
take memory that is theirs for good), asks the system to forget the peak so far, does the
work, and reads the peak: what it rose above the memory that was in use before.

Pitfall: peaks of one process after another work are too small, for the memory of the first
is still held and used again; so each has a fresh one. Resetting a peak exists on Linux
alone; elsewhere memory is not measured, and the tables say so.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch

from ...models.data.parallel_text import ParallelText
from ...models.transformer import TransformerTranslator
from ...models.translator import SearchSettings, Translator
from ...probe import importance
from ...probe.importance import Metric
from .subject import Subject

PLAIN = "plain evaluation pass"
_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def can_measure(device: torch.device = torch.device("cpu")) -> bool:
    """Return whether peaks can be reset and read here."""
    if device.type != "cpu":
        return device.type == "cuda"
    return _STATUS.exists() and _FORGET.exists() and "VmHWM" in _STATUS.read_text()


def peak_memory(subject: Subject, name: str, member: Metric | None) -> int:
    """Return the bytes that a metric takes at its peak beyond model and text.

    Args:
        name: of the metric, or `PLAIN` for the loss of all sentences without gradients.
        member: its options; None for `PLAIN`.
    """
    options = None if member is None else member.model_dump(mode="json")
    return _in_fresh_process(_peak, subject.model_dump(), name, options)


def peak_of_search(
    folder: Path, sentences: Sequence[str], search: SearchSettings, device: str = "cpu"
) -> int:
    """Return the bytes that a search takes at its peak beyond model and text.

    Args:
        folder: of a saved model.
        sentences: what is translated.
        search: how.
        device: on a GPU its own memory is measured, elsewhere the process's.
    """
    arguments = (str(folder), list(sentences), search.model_dump(), device)
    return _in_fresh_process(_peak_of_search, *arguments)


def _in_fresh_process(measure: Callable[..., int], *arguments: Any) -> int:
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(measure, torch.get_num_threads(), *arguments).result()


def _peak(
    threads: int, subject: dict[str, object], name: str, options: dict[str, object] | None
) -> int:
    """Return the peak of the work above what was in use before it; runs in its own process."""
    torch.set_num_threads(threads)
    made = Subject.from_dict(subject)
    member = None if options is None else importance.metric[name].from_dict(options)
    translator, text = made.translator, made.text
    _work(member, translator, text.head(1), made.tokens)
    return _rise(lambda: _work(member, translator, text, made.tokens))


def _peak_of_search(
    threads: int, folder: str, sentences: list[str], search: dict[str, Any], device: str
) -> int:
    """Return the peak of a search above what was in use before it; runs in its own process."""
    torch.set_num_threads(threads)
    translator = TransformerTranslator.load(Path(folder), device)
    settings = SearchSettings.from_dict(search)
    translator.translate(sentences[:1], settings)
    if translator.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(translator.device)
        before = torch.cuda.memory_allocated(translator.device)
        translator.translate(sentences, settings)
        return torch.cuda.max_memory_allocated(translator.device) - before
    return _rise(lambda: translator.translate(sentences, settings))


def _rise(work: Callable[[], object]) -> int:
    """Return how far the memory of this process rises while something is done, in bytes."""
    _FORGET.write_text("5")
    before = _status("VmRSS")
    work()
    return _status("VmHWM") - before


@torch.no_grad()
def _plain(translator: Translator, text: ParallelText, tokens: int) -> None:
    for batch in translator.batches(text.source, text.target, tokens=tokens):
        translator.token_losses(batch)


def _work(member: Metric | None, translator: Translator, text: ParallelText, tokens: int) -> None:
    if member is None:
        _plain(translator, text, tokens)
    else:
        member.scores(translator, text, torch.Generator().manual_seed(0))


def _status(field: str) -> int:
    """Return a size of this process in bytes."""
    line = next(it for it in _STATUS.read_text().splitlines() if it.startswith(field))
    return int(line.split()[1]) * 1024
