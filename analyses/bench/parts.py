"""Where a translation's time goes: the parts of a search, each under its own meter.

A meter reads something that only grows: the time, the processor's time, or the number of
multiplications so far. What a part took is the difference of two readings, so one and the same
instrumented search says how long its attention takes and how many multiplications that is.

An attention sublayer is metered without the norm and the sum around it: its projections
(those of the encoder's output to keys and values included), its scores, its weighted means
and its output projection. That is what gets smaller when heads go.

Meters are put into a working copy of the network that nobody else uses; it shares the weights,
and goes when the measuring ends, so nothing has to be taken out again.

Pitfall: on a GPU work goes on after a call has returned, so a meter there has to wait for the
GPU each time it is read, and the parts of a search add up to more than the search alone takes.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from ...models.batch import Tokens
from ...models.data.vocabulary import BOS, EOS, PAD
from ...models.decoding.prepared import PreparedDecoder
from ...models.decoding.ranking import Rules
from ...models.decoding.search import search_batch
from ...models.devices import wait_for
from ...models.network import DecoderLayer, EncoderLayer, Network
from ...models.translator import SearchSettings

Read = Callable[[], float]

ENCODER, DECODER, WHOLE = "encoder", "decoder", "whole search"
SITES = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention",
}
ATTENTION, FEED_FORWARD, VOCABULARY = "attention", "feed-forward", "projection to the vocabulary"
NAMES = (WHOLE, ENCODER, DECODER, ATTENTION, *SITES.values(), FEED_FORWARD, VOCABULARY)
"""The parts. The decoder is what is left of the whole search without the encoder; attention is
the sum of its three sites."""


class Meter:
    """Adds up what each part took.

    Args:
        read: what is metered, such as `time.process_time`.
    """

    def __init__(self, read: Read) -> None:
        self.read = read
        self.taken: defaultdict[str, float] = defaultdict(float)

    def on(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return `work` with a meter around it."""

        def metered(*arguments: Any, **named: Any) -> Any:
            before = self.read()
            result = work(*arguments, **named)
            self.taken[part] += self.read() - before
            return result

        return metered


class MeteredSearch:
    """A search whose parts are metered.

    Args:
        network: stays as it is.
        read: what is metered; it returns floats.
    """

    def __init__(self, network: Network, read: Read) -> None:
        self.meter = Meter(read)
        self.decoder = PreparedDecoder(network)
        self._whole = self.meter.on(WHOLE, search_batch)
        self._put_meters(self.decoder.network)

    def __call__(self, sentences: Sequence[Sequence[int]], settings: SearchSettings) -> None:
        """Search one batch of sentences, given as ids with EOS."""
        source = Tokens.padded(sentences, PAD, {BOS, EOS})
        rules = Rules(BOS, EOS, PAD, settings.min_tokens, settings.length_penalty)
        with torch.inference_mode():
            self._whole(self.decoder, source, settings, None, rules)

    def taken(self) -> dict[str, float]:
        """Return what every part of `NAMES` has taken since the last call."""
        taken = dict(self.meter.taken)
        self.meter.taken.clear()
        taken[DECODER] = taken[WHOLE] - taken[ENCODER]
        taken[ATTENTION] = sum(taken.get(site, 0.0) for site in SITES.values())
        return {part: float(taken.get(part, 0.0)) for part in NAMES}

    def _put_meters(self, network: Network) -> None:
        """Meter the parts of a working copy."""
        meter = self.meter
        network.encode = meter.on(ENCODER, network.encode)  # type: ignore[method-assign]
        self.decoder.logits = meter.on(VOCABULARY, self.decoder.logits)  # type: ignore[method-assign]
        for layer in network.encoder:
            assert isinstance(layer, EncoderLayer)
            self._on_sublayer(layer.attention_residual, SITES["encoder"])
            self._on_sublayer(layer.feed_forward_residual, FEED_FORWARD)
        for layer in network.decoder:
            assert isinstance(layer, DecoderLayer)
            self._on_sublayer(layer.self_residual, SITES["decoder"])
            self._on_sublayer(layer.cross_residual, SITES["cross"])
            self._on_sublayer(layer.feed_forward_residual, FEED_FORWARD)
        for prepared in self.decoder.layers:
            prepared.source = meter.on(SITES["cross"], prepared.source)  # type: ignore[assignment]

    def _on_sublayer(self, residual: nn.Module, part: str) -> None:
        """Meter the sublayer that a residual is called with, and not the residual itself."""

        def put(_: nn.Module, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
            states, sublayer = arguments
            return states, self.meter.on(part, sublayer)

        residual.register_forward_pre_hook(put)


def clock(device: torch.device) -> Read:
    """Return the seconds of this process on a CPU, and the wall-clock seconds elsewhere."""
    if device.type == "cpu":
        return time.process_time

    def waited() -> float:
        wait_for(device)
        return time.perf_counter()

    return waited


def multiplications(
    network: Network, batches: Sequence[Sequence[Sequence[int]]], settings: SearchSettings
) -> dict[str, float]:
    """Count the multiplications of every part in a search of some batches, as torch counts.

    Args:
        batches: sentences as ids with EOS, batch by batch.
    """
    # Fused kernels are not counted on every device, and the products that they stand for are.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        search = MeteredSearch(network, lambda: counter.get_total_flops() / 2)
        for sentences in batches:
            search(sentences, settings)
        return search.taken()
