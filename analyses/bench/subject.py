"""What the benchmarks measure on: a model of a given shape and text for it, from a seed.

Weights are random: a matrix product takes the same time whatever is in it. Words are drawn
evenly from the vocabulary, and sentences have between 6 and 24 of them, as captions have.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice, product

import numpy as np
import torch

from ...models.batch import Batch
from ...models.data.parallel_text import ParallelText
from ...models.data.vocabulary import Vocabulary
from ...models.network import Network, NetworkSettings
from ...models.settings import Settings
from ...models.transformer import TransformerTranslator

SHORTEST, LONGEST = 6, 24  # words of a sentence


class Subject(Settings):
    """A model and text.

    Args:
        network: its shape; the default is preset `small`'s.
        vocabulary: entries of the joint vocabulary.
        sentences: sentence pairs of the text.
        shortest, longest: words of a sentence. Where they are next to each other all sentences
            have the first number of them, and otherwise nearly as many on both sides.
        tokens: padded tokens a batch, for everything that is compared.
        seed: of weights and text.
    """

    network: NetworkSettings = NetworkSettings()
    vocabulary: int = 5000
    sentences: int = 1000
    shortest: int = SHORTEST
    longest: int = LONGEST
    tokens: int = 2048
    seed: int = 0

    @cached_property
    def translator(self) -> TransformerTranslator:
        """The model, frozen."""
        words = Vocabulary.train([" ".join(self._words())], kind="word", size=self.vocabulary)
        network = Network(self.network, self.network.full_layout(), len(words), len(words))
        network.initialise(torch.Generator().manual_seed(self.seed)).eval().requires_grad_(False)
        return TransformerTranslator(network, words, words)

    @cached_property
    def text(self) -> ParallelText:
        """The sentence pairs; a pair has nearly as many words on both sides."""
        draw, words = np.random.default_rng(self.seed), np.array(self._words())
        sides: tuple[list[str], list[str]] = ([], [])
        more = min(2, self.longest - self.shortest)
        for length in draw.integers(self.shortest, self.longest, self.sentences):
            for side in sides:
                side.append(" ".join(draw.choice(words, length + draw.integers(0, more))))
        return ParallelText("drawn words", *sides)

    def batches(self) -> list[Batch]:
        """Return the text in batches, from short to long."""
        text = self.text
        return list(self.translator.batches(text.source, text.target, tokens=self.tokens))

    def _words(self) -> list[str]:
        letters = "abcdefghijklmnopqrstuvwxyz"
        names = ("".join(it) for it in product(letters, repeat=3))  # 17,576 of them
        return list(islice(names, self.vocabulary - 4))
