"""Many sentences: sorted by length, cut into batches, searched, and put back in order.

A decoding step is a string of small operations. On a CPU two threads that search a batch
each get more done than two that share every operation, because nobody waits for the other
after each of them. So batches are searched side by side, as far as there are threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

from ..batch import Tokens
from ..network import Network
from ..translator import SearchSettings
from .beam import beam_search
from .greedy import greedy
from .hypothesis import Hypothesis
from .incremental import Prefixes
from .prepared import PreparedDecoder, prepared
from .ranking import Rules

# With more, the threads would queue for Python's global lock.
MOST_WORKERS = 4


@torch.inference_mode()
def search(
    network: Network,
    source: Sequence[Sequence[int]],
    settings: SearchSettings,
    gates: Tensor | None = None,
    *,
    bos: int,
    eos: int,
    pad: int,
) -> list[Hypothesis]:
    """Find a translation of every sentence.

    A sentence's result does not depend on the others: neither on how many there are nor on
    their lengths, but for the rounding of sums. A sentence without any token but EOS is not
    searched: its translation is empty, with log P = 0.

    Args:
        network: is searched in evaluation mode, whatever its own.
        source: token ids of each sentence, EOS included.
        settings: beam, length penalty, limits and batch size.
        gates: head gates [1 or sentence, head], None for open ones
        bos, eos, pad: ids of the special tokens.

    Returns:
        One hypothesis a sentence, in the order of `source`.

    Raises:
        UsageError: gates that do not fit.
        DataError: a sentence longer than the network has positions for.
    """
    if gates is not None:
        gates = network.layout.checked(gates, len(source))
    rules = Rules(bos, eos, pad, settings.min_tokens, settings.length_penalty)
    decoder = prepared(network)
    found = [Hypothesis((), 0.0, True)] * len(source)
    searched = [i for i, sentence in enumerate(source) if any(token != eos for token in sentence)]
    searched.sort(key=lambda sentence: -len(source[sentence]))
    batches = list(batches_by_length(searched, source, settings))

    def search_one(decoder: PreparedDecoder, batch: list[int]) -> list[Hypothesis]:
        rows = gates if gates is None or len(gates) == 1 else gates[batch]
        tokens = Tokens.padded([source[sentence] for sentence in batch], pad, {bos, eos})
        return search_batch(decoder, tokens, settings, rows, rules)

    for batch, results in zip(batches, _side_by_side(decoder, batches, search_one), strict=True):
        for sentence, result in zip(batch, results, strict=True):
            found[sentence] = result
    return found


def _side_by_side(
    decoder: PreparedDecoder,
    batches: Sequence[list[int]],
    search_one: Callable[[PreparedDecoder, list[int]], list[Hypothesis]],
) -> list[list[Hypothesis]]:
    """Search batches on as many threads as torch may use, on a GPU one after the other."""
    threads = torch.get_num_threads()
    workers = min(threads, len(batches), MOST_WORKERS) if decoder.table.is_cpu else 1
    if workers <= 1:
        return [search_one(decoder, batch) for batch in batches]
    own = threading.local()

    def start() -> None:
        torch.set_num_threads(threads // workers)
        own.decoder = decoder.with_own_buffers()

    def work(batch: list[int]) -> list[Hypothesis]:
        with torch.inference_mode():
            return search_one(own.decoder, batch)

    pool = ThreadPoolExecutor(workers, initializer=start)
    try:
        return list(pool.map(work, batches))
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


def search_batch(
    decoder: PreparedDecoder,
    source: Tokens,
    settings: SearchSettings,
    gates: Tensor | None,
    rules: Rules,
) -> list[Hypothesis]:
    """Search one batch of sentences with a decoder that nobody else uses meanwhile.

    Args:
        source: token ids, EOS included, on any device.
        gates: head gates [1 or sentence, head], None for open ones
    """
    network = decoder.network
    longest = (settings.max_ratio * source.lengths + settings.max_extra).long()  # [sentence]
    limits = longest.clamp(1, network.settings.max_positions)
    device = network.output_table.device
    source, limits = source.to(device), limits.to(device)
    memory = network.encode(source, gates)  # [sentence, source, width]
    prefixes = Prefixes(decoder, memory, source, gates)
    if settings.beam == 1:
        return greedy(prefixes, limits, rules, log_probability=settings.log_probability)
    return beam_search(prefixes, limits, rules, settings.beam)


def batches_by_length(
    order: Sequence[int], source: Sequence[Sequence[int]], settings: SearchSettings
) -> Iterator[list[int]]:
    """Cut sentences, longest first, into batches of at most `batch_tokens` padded tokens."""
    batch: list[int] = []
    for sentence in order:
        longest = len(source[batch[0]]) if batch else 0
        if longest * (len(batch) + 1) > settings.batch_tokens:
            yield batch
            batch = []
        batch.append(sentence)
    if batch:
        yield batch
