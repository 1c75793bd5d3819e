"""States of a model on disk: every layer's word vectors, captured as a stream.

    states.npy      [unit, word, width], float16 or float32; one layer (or head) in one piece
    sentences.npy   which sentence each word is from  # [word]
    aligned.npy     whether the tokenizer has a piece for the word  # [word]
    store.json      where it is from, written last: a folder without it is unfinished

Layer 0 is what enters the first layer (embedding x sqrt(width) + position), layer l what
leaves the l-th. Where the stack ends in a norm of its own (pre-norm networks) what leaves
that norm is one more unit, `norm`: it is what the decoder and the logits read, but no
further layer, so nothing that counts layers counts it. In place of layers a store can hold
the outputs of single heads, [unit, word, head_width], one unit a head.

A word's vector is the mean of its pieces, or its first or last piece; which pieces are whose
is told in `annotations/pieces.py`. A word without a piece has no vector; it is counted, its
row holds zeros, and no task may use it.

Memory: the states are mapped, not held. A batch has as many tokens as the memory setting
allows, and its states are dropped before the next is read.

Pitfall: float16 ends at 65,504 and has 11 bits. That is enough for probes (the values are
standardised), but a state beyond it would become infinite, so this is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...models.batch import Batch
from ...models.errors import DataError
from ...models.files import write_json
from ...models.gates import Head, HeadLayout
from ...models.settings import Settings
from ...models.translator import Capture, Translator
from ..annotations.pieces import word_pieces
from ..annotations.pooling import Pooling, pooled_states

Spans = Sequence[Sequence[tuple[int, int]]]
"""Character spans [start, end) of the words of every sentence."""
SIDES = {"encoder": "source", "decoder": "target"}
SITES = {"encoder": ("encoder",), "decoder": ("decoder", "cross")}
NORM = "norm"
What = Literal["states", "heads"]


class StoreSettings(Settings):
    """How states are captured and kept.

    Args:
        dtype: `float16` (half the disk) or `float32`.
        pooling: how a word's pieces become one vector: `mean`, `first` or `last`.
        memory: bytes that a batch's states may take while they are captured.
    """

    dtype: Literal["float16", "float32"] = "float16"
    pooling: Pooling = "mean"
    memory: int = 1 << 28


@dataclass(frozen=True)
class Origin:
    """What a store was made from; a store of another origin is refused.

    Args:
        model: fingerprint of the translator.
        text: SHA-256 over the sentences that were read and the words' spans.
        side: `encoder` or `decoder`.
        dtype, pooling: as in the settings.
        what: `states` of layers or outputs of `heads`.
    """

    model: str
    text: str
    side: str
    dtype: str
    pooling: str
    what: str


@dataclass(frozen=True)
class StateStore:
    """Captured word vectors of one side of a model.

    Args:
        folder: where they lie.
        origin: what they were made from.
        units: what the first axis is: `0`, `1`, ..., and perhaps `norm`; or heads by name.
        states: mapped from disk  # [unit, word, width]
        sentences: the sentence of every word  # [word]
        aligned: whether the word has a vector  # [word]
    """

    folder: Path
    origin: Origin
    units: tuple[str, ...]
    states: NDArray[np.floating]
    sentences: NDArray[np.int64]
    aligned: NDArray[np.bool_]

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        # A mapped array would be pickled with its content, once for every worker.
        return StateStore.open, (self.folder,)

    @property
    def layers(self) -> int:
        """Return the number of layers, the embedding included and a final norm left out."""
        return len(self.units) - (NORM in self.units)

    @property
    def unaligned(self) -> int:
        """Return how many words have no piece."""
        return int((~self.aligned).sum())

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first word of every sentence, and the number of words  # [sentence + 1]."""
        count = int(self.sentences[-1]) + 1 if len(self.sentences) else 0
        return np.searchsorted(self.sentences, np.arange(count + 1))

    def layer(self, layer: int) -> NDArray[np.floating]:
        """Return the word vectors of a unit, still on disk  # [word, width]."""
        return self.states[layer]

    def sentence_means(self, layer: int) -> NDArray[np.float32]:
        """Return the mean word vector of every sentence, zeros without one  # [sentence, width]."""
        sums = np.zeros((len(self.starts) - 1, self.states.shape[2]), dtype=np.float32)
        counts = np.zeros(len(sums), dtype=np.float32)
        for sentence, (start, stop) in enumerate(pairwise(self.starts)):
            there = self.aligned[start:stop]
            sums[sentence] = self.states[layer, start:stop][there].sum(0, dtype=np.float32)
            counts[sentence] = there.sum()
        sums /= np.maximum(counts, 1)[:, None]
        return sums

    @classmethod
    def open(cls, folder: Path, expected: Origin | None = None) -> StateStore:
        """Map a finished store.

        Args:
            expected: refuse a store of any other origin.

        Raises:
            DataError: unfinished, damaged, or from another model, text or setting.
        """
        try:
            described = json.loads((folder / "store.json").read_text(encoding="utf-8"))
            units = tuple(described.pop("units"))
            origin = Origin(**described)
            states = np.load(folder / "states.npy", mmap_mode="r")
            sentences = np.load(folder / "sentences.npy")
            aligned = np.load(folder / "aligned.npy")
        except FileNotFoundError as error:
            missing = error.filename
            raise DataError(f"{folder} holds no finished states: {missing} is missing") from None
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{folder} holds damaged states: {error}; delete it") from None
        shape = (len(units), len(sentences))
        if states.ndim != 3 or states.shape[:2] != shape or len(aligned) != len(sentences):
            raise DataError(f"{folder} holds damaged states: shapes do not fit; delete it")
        if expected is not None and origin != expected:
            theirs, ours = asdict(origin), asdict(expected)
            wrong = next(name for name in ours if ours[name] != theirs[name])
            raise DataError(
                f"{folder} holds states of another {wrong} "
                f"({theirs[wrong][:12]} instead of {ours[wrong][:12]}); delete it or use another"
            )
        return cls(folder, origin, units, states, sentences, aligned)


def capture(
    translator: Translator,
    source: Sequence[str],
    target: Sequence[str] | None,
    words: Spans,
    side: str,
    folder: Path,
    settings: StoreSettings = StoreSettings(),
    what: What = "states",
) -> StateStore:
    """Capture the states of all layers at all words; a finished store is used again.

    Args:
        source: what the encoder reads.
        target: what the decoder reads (teacher forcing); None for the encoder alone.
        words: the words of the side in question, as character spans; (-1, -1) is nowhere.
        side: `encoder` or `decoder`.
        folder: where the store is made.
        what: `states` of layers, or outputs of single `heads` (of the decoder, those of
            self-attention and of cross-attention).

    Raises:
        DataError: no sentences, different numbers of them, states that are not finite or do
            not fit into float16, or a folder that holds other states.
    """
    if side == "decoder" and target is None:
        raise DataError("decoder states need the target sentences; give both sides")
    target = [""] * len(source) if target is None else target
    if not source or not len(source) == len(target) == len(words):
        sizes = f"{len(source)} source and {len(target)} target sentences, words of {len(words)}"
        raise DataError(f"{sizes}: give equally many, and at least one")
    text = _text_fingerprint(source, target, words)
    origin = Origin(translator.fingerprint, text, side, settings.dtype, settings.pooling, what)
    if (folder / "store.json").exists():
        return StateStore.open(folder, origin)
    folder.mkdir(parents=True, exist_ok=True)
    counts = [len(sentence) for sentence in words]
    starts = np.concatenate([[0], np.cumsum(counts)])  # [sentence + 1]
    sentences = np.repeat(np.arange(len(words)), counts)  # [word]
    texts = source if side == "encoder" else target
    aligned = np.zeros(len(sentences), dtype=bool)  # [word]
    states: NDArray[np.floating] | None = None
    units: tuple[str, ...] = ()
    for batch, captured in _batches(translator, source, target, side, settings, what):
        units, layers = tuple(captured), list(captured.values())
        if states is None:
            shape = (len(layers), len(sentences), layers[0].shape[-1])
            states = np.lib.format.open_memmap(
                folder / "states.npy", "w+", np.dtype(settings.dtype), shape
            )
        together = torch.cat(layers, dim=-1)  # [batch, token, layer x width]
        found = _pieces(translator, batch, texts, words, side)
        for row, (sentence, pieces) in enumerate(zip(batch.indices.tolist(), found, strict=True)):
            there = [word for word, places in enumerate(pieces) if places]
            chosen = starts[sentence] + np.array(there, dtype=np.int64)  # [word]
            aligned[chosen] = True
            if there:
                places = [pieces[word] for word in there]
                pooled = pooled_states(together[row], places, settings.pooling)
                values = _kept(pooled.unflatten(1, (len(layers), -1)), units, settings.dtype)
                states[:, chosen] = values.swapaxes(0, 1)
    if isinstance(states, np.memmap):
        states.flush()
    np.save(folder / "sentences.npy", sentences)
    np.save(folder / "aligned.npy", aligned)
    write_json(folder / "store.json", {**asdict(origin), "units": list(units)})
    return StateStore.open(folder, origin)


def _batches(
    translator: Translator,
    source: Sequence[str],
    target: Sequence[str],
    side: str,
    settings: StoreSettings,
    what: What,
) -> Iterator[tuple[Batch, dict[str, Tensor]]]:
    """Yield batches with the units of a side, as many tokens at once as memory allows."""
    described = translator.describe()
    width = int(described["width"])
    layers = int(described["encoder_layers"]) + int(described["decoder_layers"]) + 4
    vocabulary = int(described.get("target_vocabulary", 0))
    # The states of all layers, the logits, and about as much again while they are computed.
    each = 4 * (2 * layers * width + 2 * vocabulary)
    tokens = int(np.clip(settings.memory // each, 16, 8192))
    for batch in translator.batches(source, target, tokens=tokens):
        with torch.no_grad():
            if what == "heads":
                seen = translator.capture(batch, context=True)
                yield batch, _heads(seen, translator.layout, side)
            else:
                seen = translator.capture(batch, states=True)
                yield batch, _layers(seen.states[side], int(described[f"{side}_layers"]))


def _layers(states: Sequence[Tensor], layers: int) -> dict[str, Tensor]:
    """Name the states of one side  # each [batch, token, width]."""
    names = [*map(str, range(layers + 1)), NORM]
    return dict(zip(names, states, strict=False))


def _heads(seen: Capture, layout: HeadLayout, side: str) -> dict[str, Tensor]:
    """Return the ungated output of every head of a side  # each [batch, token, head_width]."""
    return {
        str(Head(name.site, name.layer, head)): seen.context[name][:, :, place]
        for site in SITES[side]
        for name, ids in layout.by_attention
        if name.site == site
        for place, head in enumerate(ids)
    }


def _pieces(
    translator: Translator, batch: Batch, texts: Sequence[str], words: Spans, side: str
) -> list[list[list[int]]]:
    """Return the positions of the pieces of every word of every sentence of a batch."""
    tokens = batch.source if side == "encoder" else batch.target
    found = []
    for row, sentence in enumerate(batch.indices.tolist()):
        aligned = word_pieces(words[sentence], translator.offsets(texts[sentence], SIDES[side]))
        at = tokens.ordinary[row].nonzero().squeeze(1).tolist()
        if aligned.coverage.pieces != len(at):
            raise DataError(
                f"sentence {sentence + 1}: {aligned.coverage.pieces} offsets but {len(at)} tokens; "
                "the model's tokenizer does not fit its offsets"
            )
        found.append([[at[piece] for piece in pieces] for pieces in aligned.pieces])
    return found


def _kept(pooled: Tensor, units: Sequence[str], dtype: str) -> NDArray[np.floating]:
    """Return word vectors in the dtype of the store  # [word, unit, width]."""
    values = pooled.float().cpu().numpy()  # [word, unit, width]
    for place, unit in enumerate(units):
        largest = np.abs(values[:, place]).max()
        name = f"layer {unit}" if unit.isdecimal() else unit
        if not np.isfinite(largest):
            raise DataError(f"states of {name} are not finite (NaN); the model is damaged")
        if dtype == "float16" and largest > np.finfo(np.float16).max:
            raise DataError(f"states of {name} do not fit into float16; use float32")
    return values.astype(dtype)


def _text_fingerprint(source: Sequence[str], target: Sequence[str], words: Spans) -> str:
    digest = hashlib.sha256()
    for sentence in zip(source, target, words, strict=True):
        digest.update(json.dumps(sentence).encode("utf-8") + b"\n")
    return digest.hexdigest()
