"""What models need besides time: parameters, room on disk, multiplications and memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from ...models.batch import Tokens
from ...models.data.parallel_text import ParallelText
from ...models.data.vocabulary import BOS, EOS, PAD
from ...models.decoding.incremental import Prefixes
from ...models.decoding.prepared import prepared
from ...models.transformer import TransformerTranslator
from ...models.translator import SearchSettings, Translator
from ..result import Column
from .memory import can_measure, peak_of_search
from .parts import ATTENTION, WHOLE, multiplications
from .turns import Case, Record, source_ids

SIZE = (
    Column("model", "text", "which model"),
    Column("heads", "whole", "heads, all sites together"),
    Column("parameters", "whole", "parameters"),
    Column("disk", "whole", "weights, settings and vocabularies on disk", "bytes"),
    Column("products", "number", "multiplications of a greedy search", "a target token"),
    Column("attention_products", "number", "those of its attention sublayers", "a target token"),
    Column("cache", "whole", "keys and values kept by the largest search at its end", "bytes"),
    Column("peak", "whole", "memory that search takes beyond model and text", "bytes"),
)


def size_records(
    models: Mapping[str, Translator],
    data: ParallelText,
    largest: Case,
    tokens: int,
    *,
    memory: bool,
) -> list[Record]:
    """Return the rows of `SIZE`.

    Args:
        models: by name.
        data: what is translated.
        largest: the search whose caches and memory are measured.
        tokens: what every sentence says.
        memory: whether to measure the peak, each in a process of its own.
    """
    rows = []
    sentences = [data.source[place % len(data)] for place in range(largest.batch)]
    for name, model in models.items():
        row: Record = {
            "model": name,
            "heads": len(model.layout),
            "parameters": int(model.describe()["parameters"]),
        }
        if isinstance(model, TransformerTranslator):
            row |= _needs(model, sentences, largest.beam, tokens)
        search = largest.search(tokens) if memory else None
        rows.append(row | disk_and_peak(model, sentences, search))
    return rows


def disk_and_peak(
    model: Translator, sentences: Sequence[str], search: SearchSettings | None
) -> Record:
    """Return the bytes of a saved model, and those that a search takes at its peak.

    Args:
        model: is saved in a folder that lasts only as long as this takes.
        sentences: what is translated, by a process of its own.
        search: how; None measures no memory.

    Returns:
        `disk`, and `peak` where it can be measured.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model.save(folder)
        row: Record = {"disk": sum(file.stat().st_size for file in folder.iterdir())}
        known = isinstance(model, TransformerTranslator) and can_measure(model.device)
        if search is not None and known:
            row["peak"] = peak_of_search(folder, sentences, search, str(model.device))
    return row


def _needs(
    translator: TransformerTranslator, sentences: Sequence[str], beam: int, tokens: int
) -> Record:
    """Return multiplications a target token, and the size of the caches at the end."""
    ids = source_ids(translator, sentences)
    counted = multiplications(translator.network, [ids], Case(1, len(ids)).search(tokens))
    said = tokens * len(ids)
    return {
        "products": counted[WHOLE] / said,
        "attention_products": counted[ATTENTION] / said,
        "cache": cache_bytes(translator, ids, beam, tokens),
    }


@torch.inference_mode()
def cache_bytes(
    translator: TransformerTranslator, sentences: Sequence[Sequence[int]], beam: int, tokens: int
) -> int:
    """Return the bytes of all keys and values after so many steps, as they lie in the caches.

    Args:
        sentences: source ids with EOS.
        beam: hypotheses a sentence.
        tokens: steps.
    """
    source = Tokens.padded(sentences, PAD, {BOS, EOS}).to(translator.device)
    decoder = prepared(translator.network)
    memory = decoder.network.encode(source)  # [sentence, source, width]
    prefixes = Prefixes(decoder, memory, source, None)
    chosen = torch.full((len(source), beam), BOS, device=translator.device)
    prefixes.logits(chosen[:, :1])  # a search begins with one hypothesis a sentence
    prefixes.follow(torch.zeros_like(chosen))
    for _ in range(1, tokens):
        prefixes.logits(chosen)
    return prefixes.cached_bytes
