"""Two tiny translators: one with random weights in float64, one whose truth is planted."""

import pytest
import torch

from headcount.models.data.parallel_text import Corpus, ParallelText
from headcount.models.data.vocabulary import Vocabulary
from headcount.models.network import Network, NetworkSettings
from headcount.models.planted import (
    CARRIER,
    COPIER,
    planted_text,
    planted_translator,
    planted_vocabulary,
)
from headcount.models.transformer import TransformerTranslator

__all__ = ["CARRIER", "COPIER", "copies", "copying", "nano", "pairs", "planted", "vocabulary"]


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return planted_vocabulary()


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
    return planted_text(name, seed, sentences)


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
    """The planted network: `cross.1.1` carries the answer, sixteen heads are idle."""
    return planted_translator(vocabulary)
