"""A tiny network and batches for it, shared by the tests of this room."""

import torch

from headcount.models.batch import Batch, Tokens
from headcount.models.network import Network, NetworkSettings

PAD, BOS, EOS = 0, 2, 3
SHAPE = NetworkSettings(
    width=16,
    feed_forward_width=24,
    encoder_layers=2,
    decoder_layers=2,
    heads=4,
    dropout=0.0,
    max_positions=32,
)


def tiny_network(settings: NetworkSettings = SHAPE, *, vocabulary: int = 17) -> Network:
    """Return a float64 network in evaluation mode, with biases that are not zero."""
    generator = torch.Generator().manual_seed(7)
    network = Network(settings, settings.full_layout(), vocabulary, vocabulary).double()
    network.initialise(generator)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() == 1:
                parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return network.eval()


def tiny_batch(seed: int = 1, *, vocabulary: int = 17) -> Batch:
    """Return three sentence pairs of different lengths."""
    generator = torch.Generator().manual_seed(seed)

    def words(count: int) -> list[int]:
        return torch.randint(4, vocabulary, (count,), generator=generator).tolist()

    sources = [[*words(count), EOS] for count in (5, 3, 6)]
    targets = [words(count) for count in (4, 6, 2)]
    special = {BOS, EOS}
    return Batch(
        source=Tokens.padded(sources, PAD, special),
        target=Tokens.padded([[BOS, *it] for it in targets], PAD, special),
        labels=Tokens.padded([[*it, EOS] for it in targets], PAD, special),
        indices=torch.arange(3),
    )
