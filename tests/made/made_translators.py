"""Two tiny translators: one with random weights in float64, one whose truth is planted."""

import random

import pytest
import torch
from torch import Tensor

from headcount.models.data.parallel_text import Corpus, ParallelText
from headcount.models.data.vocabulary import Vocabulary
from headcount.models.gates import Head
from headcount.models.network import Network, NetworkSettings
from headcount.models.transformer import TransformerTranslator

WORDS = ["ash", "beech", "cedar", "elm", "fir", "larch", "oak", "pine"]
POSITIONS = 12
CARRIER, COPIER = Head("cross", 0, 0), Head("decoder", 0, 0)


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary.train([" ".join(WORDS)], kind="word", size=4 + len(WORDS))


@pytest.fixture(scope="session")
def pairs() -> ParallelText:
    return copies("pairs", seed=3)


@pytest.fixture(scope="session")
def copying() -> Corpus:
    """A corpus in which every target is its source."""
    splits = [copies(name, seed) for seed, name in enumerate(("train", "valid", "test", "far"))]
    train, valid, *tests = splits
    return Corpus("copying", "xx", "xx", train, valid, {it.name: it for it in tests}, "made")


def copies(name: str, seed: int, sentences: int = 24) -> ParallelText:
    """Sentences of 1 to 8 words."""
    draw = random.Random(seed)
    lines = [" ".join(draw.choices(WORDS, k=1 + i % 8)) for i in range(sentences)]
    return ParallelText(name, lines, list(lines))


@pytest.fixture(scope="session")
def nano(vocabulary: Vocabulary) -> TransformerTranslator:
    """1 encoder and 2 decoder layers of 3 heads, random weights, float64."""
    settings = NetworkSettings(
        width=12, feed_forward_width=16, encoder_layers=1, decoder_layers=2, heads=3, dropout=0.2
    )
    network = Network(settings, settings.full_layout(), len(vocabulary), len(vocabulary))
    network.initialise(torch.Generator().manual_seed(1)).double().eval()
    return TransformerTranslator(network, vocabulary, vocabulary)


@pytest.fixture(scope="session")
def planted(vocabulary: Vocabulary) -> TransformerTranslator:
    """A network that copies its source, by hand-set weights.

    Features 0 to 11 say which word, features 12 to 23 which position. `cross.0.0` looks at
    the source position of its own position and carries that word to the output.
    `decoder.0.0` looks, less sharply, at the previous position and copies its word, too
    faintly to win. The output projections of the other four heads are zero.
    """
    words = len(vocabulary)
    settings = NetworkSettings(
        width=words + POSITIONS,
        feed_forward_width=4,
        encoder_layers=1,
        decoder_layers=1,
        heads=2,
        dropout=0.0,
        positions="learned",
        max_positions=POSITIONS,
    )
    network = Network(settings, settings.full_layout(), words, words)
    network.initialise(torch.Generator().manual_seed(2)).eval()
    word = torch.eye(words, settings.width)  # [vocabulary, width]
    place = torch.eye(settings.width)[words:]  # [token, width]
    with torch.no_grad():
        network.target_embedding.table.copy_(word / network.target_embedding.scale)
        network.source_positions.table.copy_(place)
        network.target_positions.table.copy_(place)
        encoder, decoder = network.encoder[0], network.decoder[0]
        for attention in (encoder.attention, decoder.self_attention, decoder.cross_attention):
            attention.output.weight.zero_()
        for layer in (encoder, decoder):
            layer.feed_forward_residual.norm.weight.fill_(1)
            for parameter in layer.feed_forward.parameters():
                parameter.zero_()
        previous = place.roll(-1, 0)  # [token, width]: position t asks for t - 1
        _plant(decoder.cross_attention, place * 10, place * 10, word, strength=5.0)
        _plant(decoder.self_attention, previous * 2, place * 2, word, strength=0.2)
        decoder.feed_forward_residual.norm.weight.fill_(10)
    return TransformerTranslator(network, vocabulary, vocabulary)


def _plant(attention, query: Tensor, key: Tensor, word: Tensor, strength: float) -> None:
    """Set head 0: compare positions, read words, write them back `strength` times."""
    width = attention.head_width
    for linear, weight in ((attention.query, query), (attention.key, key), (attention.value, word)):
        linear.weight[:width] = weight
        linear.bias[:width] = 0
    attention.output.weight[:, :width] = strength * word.T
