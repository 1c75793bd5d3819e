"""Our own Transformer as a Translator: a network with its two vocabularies."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from .ablation import losses_of_masks
from .batch import Batch
from .checkpoints import fingerprint_of, load_network, save_network
from .data.batching import collate, length_batches
from .data.vocabulary import BOS, EOS, PAD, Vocabulary
from .decoding import search as search_hypotheses
from .errors import CheckpointError, DataError, SentenceTooLongError
from .gates import Attention, Head, HeadLayout
from .losses import token_cross_entropy
from .network import Network
from .recorder import Recorder
from .surgery import without_heads, without_units
from .translator import Capture, HeadWeights, SearchSettings, Translation
from .units import Block, spread

_FILES = {side: f"{side}.vocabulary.json" for side in ("source", "target")}


class TransformerTranslator:
    """The Translator that `headcount train` makes.

    Args:
        network: the network, in evaluation mode.
        source_vocabulary, target_vocabulary: may be one and the same object.
    """

    def __init__(
        self, network: Network, source_vocabulary: Vocabulary, target_vocabulary: Vocabulary
    ) -> None:
        self.network = network
        self.vocabularies = {"source": source_vocabulary, "target": target_vocabulary}

    @classmethod
    def load(cls, folder: Path, device: torch.device | str = "cpu") -> TransformerTranslator:
        """Read a saved model, frozen: its weights take no gradient, its gates do.

        Raises:
            CheckpointError: missing, unfinished, damaged or foreign.
        """
        network, described = load_network(folder)
        sides = [Vocabulary.load(folder / file) for file in _FILES.values()]
        translator = cls(network.requires_grad_(False).to(device), *sides)
        for side, vocabulary in translator.vocabularies.items():
            if vocabulary.fingerprint != described.get(f"{side}_sha256"):
                raise CheckpointError(f"{folder / _FILES[side]} is not the model's vocabulary")
        return translator

    def save(self, folder: Path) -> None:
        """Write vocabularies, weights and, last, the description that makes them a model."""
        for side, vocabulary in self.vocabularies.items():
            vocabulary.save(folder / _FILES[side])
        hashes = {f"{side}_sha256": it.fingerprint for side, it in self.vocabularies.items()}
        save_network(folder, self.network, hashes)

    @property
    def layout(self) -> HeadLayout:
        """Which heads the model has, by original ids, in gate-column order."""
        return self.network.layout

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.network.output_table.device

    @property
    def fingerprint(self) -> str:
        """SHA-256 of weights, vocabularies and configuration."""
        return fingerprint_of(self.network, *(it.fingerprint for it in self.vocabularies.values()))

    def describe(self) -> Mapping[str, int | float | str]:
        """Return parameter count, shape and head counts, for tables."""
        settings = self.network.settings
        return {
            "parameters": sum(weight.numel() for weight in self.network.parameters()),
            "width": settings.width,
            "feed_forward_width": settings.feed_forward_width,
            "encoder_layers": settings.encoder_layers,
            "decoder_layers": settings.decoder_layers,
            "feed_forward_units": len(self.network.units),
            "heads": len(self.layout),
            "source_vocabulary": len(self.vocabularies["source"]),
            "target_vocabulary": len(self.vocabularies["target"]),
        }

    def pieces(self, ids: Sequence[int], side: str) -> list[str]:
        """Return the visible form of token ids of the `source` or `target` vocabulary."""
        return self.vocabularies[side].pieces(ids)

    def offsets(self, text: str, side: str) -> list[tuple[int, int]]:
        """Return the character span of every ordinary token of `text`."""
        return list(self.vocabularies[side].encode([text])[0].offsets)

    def batches(
        self, source: Sequence[str], target: Sequence[str], *, tokens: int = 2048
    ) -> Iterator[Batch]:
        """Tokenise sentence pairs and yield them in length-sorted batches on the device.

        Args:
            tokens: padded tokens of the longer side a batch, at most.

        Raises:
            DataError: the sides have different lengths, there is nothing to read, or a
                sentence is longer than the model has positions for.
        """
        if len(source) != len(target) or not len(source):
            raise DataError(f"{len(source)} source and {len(target)} target sentences to read")
        source_ids, target_ids = (
            [np.array(ids, dtype=np.int32) for ids in self._encoded(text, side)]  # each [token]
            for text, side in ((source, "source"), (target, "target"))
        )
        source_lengths = [len(ids) for ids in source_ids]
        target_lengths = [len(ids) for ids in target_ids]
        for indices in length_batches(source_lengths, target_lengths, tokens=tokens):
            yield collate(source_ids, target_ids, indices).to(self.device)

    def logits(self, batch: Batch, gates: Tensor | None = None) -> Tensor:
        """Return teacher-forced logits  # [batch, target, vocabulary]."""
        return self.network.project(self.network(batch, gates))

    def token_losses(self, batch: Batch, gates: Tensor | None = None) -> Tensor:
        """Return -log p of every label in nats, 0 at padding  # [batch, target]."""
        logits = self.logits(batch, gates)  # [batch, target, vocabulary]
        return token_cross_entropy(logits, batch.labels.ids, batch.labels.real)

    def logits_of_units(self, batch: Batch, gates: Tensor, block: int) -> Tensor:
        """Return `logits` under gates on blocks of feed-forward units.

        Args:
            gates: of the blocks `network.units.blocks(block)`  # [1 or batch, block]
            block: units of a block.
        """
        units = spread(gates.to(self.network.output_table), self.network.units.blocks(block))
        return self.network.project(self.network(batch, None, None, units))

    def token_losses_of_units(self, batch: Batch, gates: Tensor, block: int) -> Tensor:
        """Return `token_losses` under gates on blocks of units, see `logits_of_units`."""
        logits = self.logits_of_units(batch, gates, block)
        return token_cross_entropy(logits, batch.labels.ids, batch.labels.real)

    def token_losses_of_masks(self, batch: Batch, masks: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Yield the number of each row of gates and its `token_losses`, in the cheapest order."""
        return losses_of_masks(self.network, batch, masks)

    def capture(
        self,
        batch: Batch,
        gates: Tensor | None = None,
        *,
        attention: bool = False,
        context: bool = False,
        states: bool = False,
        values: bool = False,
    ) -> Capture:
        """Run the explicit path and return what was asked for. Keeps the autograd graph."""
        recorder = Recorder(attention, context, states, values)
        logits = self.network.project(self.network(batch, gates, recorder))
        return Capture(
            logits,
            recorder.weights_of,
            recorder.context_of,
            recorder.values_of,
            dict(recorder.states_of),
        )

    def head_weights(self, attention: Attention) -> HeadWeights:
        """Return views of the value and output weights of an attention's heads."""
        layer = self.network.attentions[attention]
        split = (len(layer.ids), layer.head_width)
        return HeadWeights(
            layer.value.weight.T.unflatten(1, split).transpose(0, 1),
            layer.output.weight.T.unflatten(0, split),
        )

    def in_precision(self, dtype: torch.dtype) -> TransformerTranslator:
        """Return a frozen copy whose weights have another dtype; self stays as it is."""
        network = copy.deepcopy(self.network).to(dtype).requires_grad_(False).eval()
        return TransformerTranslator(network, *self.vocabularies.values())

    def translate(
        self,
        sentences: Sequence[str],
        search: SearchSettings = SearchSettings(),
        *,
        gates: Tensor | None = None,
    ) -> list[Translation]:
        """Translate; `gates` has one row for all sentences or one a sentence.

        Raises:
            UsageError: gates that do not fit.
            SentenceTooLongError: a sentence longer than the model has positions for.
        """
        ids = [(*sentence, EOS) for sentence in self._encoded(sentences, "source")]
        special = {"bos": BOS, "eos": EOS, "pad": PAD}
        found = search_hypotheses(self.network, ids, search, gates, **special)
        decode = self.vocabularies["target"].decode
        return [
            Translation(decode(it.ids), it.ids, it.log_probability, it.finished) for it in found
        ]

    def without(self, heads: Iterable[Head]) -> TransformerTranslator:
        """Return a frozen copy from whose weights `heads` are removed; self stays as it is."""
        smaller = without_heads(self.network, heads).requires_grad_(False).eval()
        return TransformerTranslator(smaller, *self.vocabularies.values())

    def without_units(self, blocks: Iterable[Block]) -> TransformerTranslator:
        """Return a frozen copy without blocks of feed-forward units; self stays as it is."""
        smaller = without_units(self.network, blocks).requires_grad_(False).eval()
        return TransformerTranslator(smaller, *self.vocabularies.values())

    def _encoded(self, sentences: Sequence[str], side: str) -> Iterator[list[int]]:
        """Yield the ids of every sentence, which leave room for the one that marks its end.

        Raises:
            SentenceTooLongError: a sentence longer than the model has positions for.
        """
        limit = self.network.settings.max_positions
        for number, ids in enumerate(self.vocabularies[side].iterate_ids(sentences), 1):
            if len(ids) + 1 > limit:  # EOS ends a source, BOS begins a target
                raise SentenceTooLongError(number, len(ids) + 1, limit, f"{side} sentence")
            yield ids
