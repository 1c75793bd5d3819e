"""Where did every head look in a few sentences? The `attention_examples` analysis.

The attention weights of all heads on example sentences, small enough to stand on a page:
every weight is rounded to one of 256 steps, and the weights of one head and sentence are one
text of base64. Read them with

    weights = np.frombuffer(base64.b64decode(text), np.uint8).reshape(queries, keys) / 255

which is right to 1 / 510. By default the target side is the model's own translation, taken as
given (teacher-forced), so what is shown is where it looked to say what it said. Queries and
keys are the tokens of the table `tokens`: both are `source` in the encoder, both `target` in
the decoder, `target` asks `source` in cross-attention. The target begins with BOS, so the
row of a token is the step that says the NEXT one.

Pitfall: a few sentences show what a head can do, not what it does; for that see `roles`.
Pitfall: attention says where a head looks, not what it does with what it sees.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from ..models.data.parallel_text import Corpus, ParallelText
from ..models.gates import Head
from ..models.settings import Settings
from ..models.translator import SearchSettings, Translator
from .analysis import Progress, analysis, silent, spread
from .columns import HEAD
from .provenance import Stopwatch, provenance
from .result import Column, Result, Table

Record = dict[str, Any]
STEPS = 255
SEARCH = SearchSettings(beam=1)
SIDES: Mapping[str, tuple[str, str]] = {
    "encoder": ("source", "source"),
    "decoder": ("target", "target"),
    "cross": ("target", "source"),
}
"""The side of queries and of keys at every site."""

_SENTENCE = Column("sentence", "whole", "number of the sentence in the validation split, 0-based")
SENTENCES = (
    _SENTENCE,
    Column("source", "text", "source sentence"),
    Column("target", "text", "sentence on the target side"),
    Column("reference", "text", "reference translation"),
)
TOKENS = (
    _SENTENCE,
    Column("side", "text", "source, or target: from BOS on, without EOS"),
    Column("place", "whole", "position of the token on its side, 0-based"),
    Column("piece", "text", "token"),
)
ATTENTION = (
    _SENTENCE,
    *HEAD,
    Column("queries", "whole", "rows of the weights"),
    Column("keys", "whole", "columns of the weights"),
    Column("weights", "text", "base64 of one byte a weight, row by row", "1 / 255"),
)


class AttentionExampleSettings(Settings):
    """Which sentences are shown.

    Args:
        sentences: so many, spread evenly over those of the validation split that are short
            enough.
        longest: tokens of a sentence on either side, BOS and EOS not counted; where none is so
            short, the shortest is shown.
        text: what stands on the target side: the model's own `translation`, or the
            `reference`.
    """

    sentences: int = Field(default=20, ge=1)
    longest: int = Field(default=24, ge=1)
    text: Literal["translation", "reference"] = "translation"


@analysis("attention_examples")
@torch.no_grad()
def attention_examples(
    translator: Translator,
    corpus: Corpus,
    settings: AttentionExampleSettings,
    seed: int,
    progress: Progress = silent,
) -> Result:
    """The attention of every head on example sentences, one byte a weight."""
    stopwatch = Stopwatch()
    progress("attention examples", 0, 1)
    numbers, said, most = _chosen(translator, corpus.valid, settings)
    data = corpus.valid.select(numbers)
    sentences: list[Record] = []
    tokens: list[Record] = []
    attention: list[Record] = []
    for place, pieces, weights in _seen(translator, data.source, said):
        number = {"sentence": numbers[place]}
        texts = {"source": data.source[place], "target": said[place]}
        sentences.append({**number, **texts, "reference": data.target[place]})
        tokens += [
            {**number, "side": side, "place": at, "piece": piece}
            for side, words in pieces.items()
            for at, piece in enumerate(words)
        ]
        attention += [number | row for row in weights]
    progress("attention examples", 1, 1)
    tables = {
        name: Table.of(caption, columns, sorted(rows, key=lambda it: it["sentence"]), n=n)
        for name, caption, columns, rows, n in (
            ("sentences", "The sentences.", SENTENCES, sentences, ""),
            ("tokens", "Their tokens.", TOKENS, tokens, ""),
            (
                "attention",
                "Attention weights of every head, one byte a weight.",
                ATTENTION,
                attention,
                f"{len(sentences)} sentences ({data.name})",
            ),
        )
    }
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={"valid": corpus.valid.fingerprint},
        device=translator.device,
    )
    described = settings.model_dump(mode="json")
    return Result("attention_examples", tables, described, origin, _remarks(settings, most))


def _chosen(
    translator: Translator, text: ParallelText, settings: AttentionExampleSettings
) -> tuple[list[int], list[str], int]:
    """Return the numbers of the sentences to show, their target sides, and their most tokens."""
    sides = (_lengths(translator, text.source, "source"), _lengths(translator, text.target))
    numbers, most = _short([max(both) for both in zip(*sides, strict=True)], settings.longest)
    numbers = [numbers[at] for at in spread(len(numbers), settings.sentences)]
    data = text.select(numbers)
    if settings.text == "reference":
        return numbers, list(data.target), most
    said = [it.text for it in translator.translate(data.source, SEARCH)]
    places, most = _short(_lengths(translator, said), most)
    return [numbers[at] for at in places], [said[at] for at in places], most


def _lengths(translator: Translator, texts: Sequence[str], side: str = "target") -> list[int]:
    """Return the tokens of every sentence, BOS and EOS not counted."""
    return [len(translator.offsets(text, side)) for text in texts]


def _short(lengths: Sequence[int], longest: int) -> tuple[list[int], int]:
    """Return the numbers of the sentences that are short enough, or else of the shortest.

    Returns:
        Them, and the most tokens that one may have.
    """
    most = max(longest, min(lengths))
    return [number for number, length in enumerate(lengths) if length <= most], most


def _seen(
    translator: Translator, source: Sequence[str], target: Sequence[str]
) -> Iterator[tuple[int, dict[str, list[str]], list[Record]]]:
    """Yield each sentence's place, its tokens by side, and its rows of `ATTENTION`."""
    for batch in translator.batches(source, target):
        captured = translator.capture(batch, attention=True).attention
        sides = {"source": batch.source, "target": batch.target}
        for row, place in enumerate(batch.indices.tolist()):
            pieces = {
                side: translator.pieces(it.ids[row][it.real[row]].tolist(), side)
                for side, it in sides.items()
            }
            weights = []
            for at, heads in translator.layout.by_attention:
                queries, keys = (len(pieces[side]) for side in SIDES[at.site])
                for column, head in enumerate(heads):
                    own = captured[at][row, column, :queries, :keys]  # [query, key]
                    shape = {"queries": queries, "keys": keys, "weights": packed(own)}
                    weights.append(Head(*at, head)._asdict() | shape)
            yield place, pieces, weights


def packed(weights: Tensor) -> str:
    """Return attention weights as base64 of one byte each, row by row.

    Args:
        weights: 0 to 1  # [query, key]
    """
    steps = (weights.float() * STEPS).round().to(torch.uint8).cpu()  # [query, key]
    return base64.b64encode(steps.numpy().tobytes()).decode("ascii")


def _remarks(settings: AttentionExampleSettings, most: int) -> tuple[str, ...]:
    """Return what a reader of the weights must know, `most` being the longest side shown."""
    told = "the model's own translation" if settings.text == "translation" else "the reference"
    return (
        f"The target side is {told}; a target row shows where a head looks to say the next token.",
        f"Only sentences of at most {most} tokens a side are shown.",
    )
