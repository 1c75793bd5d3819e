"""How much memory a measurement takes at its peak, each in a process of its own.

The process makes model and text, does the whole work once (imports, libraries and threads take
memory that is theirs for good), asks the system to forget the peak so far, does the work
again, and reads the peak: what it rose above the memory that was in use before. It does so
several times, on the text and on several copies of it, since a measurement that says
something else each time says nothing.

Pitfall: memory that a program has let go is not memory that the system has back. The C
library keeps freed blocks for later, up to 32 MiB each, and a peak that fits into them cannot
be seen from outside: the same work then takes 250 MiB or 27. So every large block is asked to
be handed back at once (`mallopt` of glibc). Pitfall: the more sentences there are, the fuller
and the longer the largest batch is, up to a limit. Copies of one text whose largest batch
is full have a batch of that very shape, and what grows is what is kept of every sentence.

Resetting a peak exists on Linux alone, and handing back with glibc; elsewhere memory is not
measured, and the tables say so.
"""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import torch

from ...models.data.parallel_text import ParallelText
from ...models.transformer import TransformerTranslator
from ...models.translator import SearchSettings, Translator
from ...probe import importance
from ...probe.importance import Metric
from .subject import Subject

Found = TypeVar("Found")

PLAIN = "plain evaluation pass"
_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_TRIM_ABOVE, _MAP_ABOVE = -1, -3  # of glibc's malloc.h
_LARGE = 64 * 1024  # bytes of a block that is handed back at once


def can_measure(device: torch.device = torch.device("cpu")) -> bool:
    """Return whether peaks can be reset and read here."""
    if device.type != "cpu":
        return device.type == "cuda"
    if not (_STATUS.exists() and _FORGET.exists() and "VmHWM" in _STATUS.read_text()):
        return False
    return _mallopt() is not None


def peak_memory(
    subject: Subject,
    name: str,
    member: Metric | None,
    *,
    copies: Sequence[int] = (1,),
) -> list[int]:
    """Return the bytes that a metric takes at its peak beyond model and text, several times.

    Args:
        name: of the metric, or `PLAIN` for the loss of all sentences without gradients.
        member: its options; None for `PLAIN`.
        copies: for each of these, so many copies of the text are read in one go.
    """
    options = None if member is None else member.model_dump(mode="json")
    arguments = (subject.model_dump(), name, options, list(copies))
    return _in_fresh_process(_peaks, *arguments)


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


def _in_fresh_process(measure: Callable[..., Found], *arguments: Any) -> Found:
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        return pool.submit(measure, torch.get_num_threads(), *arguments).result()


def _peaks(
    threads: int,
    subject: dict[str, object],
    name: str,
    options: dict[str, object] | None,
    copies: list[int],
) -> list[int]:
    """Return the peaks of the work above what was in use before it; runs in its own process."""
    _hand_back_at_once()
    torch.set_num_threads(threads)
    made = Subject.from_dict(subject)
    member = None if options is None else importance.metric[name].from_dict(options)
    translator, once = made.translator, made.text
    _work(member, translator, once, made.tokens)

    def peak(number: int) -> int:
        text = once.select(list(range(len(once))) * number)
        return rise(lambda: _work(member, translator, text, made.tokens))

    return [peak(number) for number in copies]


def _peak_of_search(
    threads: int, folder: str, sentences: list[str], search: dict[str, Any], device: str
) -> int:
    """Return the peak of a search above what was in use before it; runs in its own process."""
    _hand_back_at_once()
    torch.set_num_threads(threads)
    translator = TransformerTranslator.load(Path(folder), device)
    settings = SearchSettings.from_dict(search)
    translator.translate(sentences[:1], settings)
    if translator.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(translator.device)
        before = torch.cuda.memory_allocated(translator.device)
        translator.translate(sentences, settings)
        return torch.cuda.max_memory_allocated(translator.device) - before
    return rise(lambda: translator.translate(sentences, settings))


def _mallopt() -> Callable[[int, int], int] | None:
    """Return the function that sets glibc's allocator; None where there is another one."""
    return getattr(ctypes.CDLL(None), "mallopt", None)


def _hand_back_at_once() -> None:
    """Let freed memory go back to the system, so that what is in use is what can be seen."""
    mallopt = _mallopt()
    if mallopt is not None:
        for threshold in (_MAP_ABOVE, _TRIM_ABOVE):
            mallopt(threshold, _LARGE)


def rise(work: Callable[[], object]) -> int:
    """Return how far the memory of this process rises while something is done, in bytes."""
    gc.collect()
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
