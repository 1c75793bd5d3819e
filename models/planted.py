"""A planted network: a translator whose truth is known, because every weight was set by hand.

Whether a measure of importance finds the head that matters cannot be checked on a trained
network, where nobody knows which head that is. Here it is known. The network copies its
source, two layers on both sides, three heads at every attention:

- the residual stream has one feature for every word and one for every position, so that
  what a state holds can be read off it;
- `cross.1.1`, the CARRIER, looks at the source position of its own position, where the word
  stands that has to be said next, and writes that word, `CARRIED` as strong as the word
  that came in. No other head knows the source: without the carrier there is no translation;
- `decoder.0.2`, the COPIER, looks, less sharply, at the previous position and writes the
  word that stands there, `COPIED` as strong: it is positional, too faint to win, and wrong
  but for words that come again, so the loss is a little lower without it;
- the other sixteen heads are IDLE: they read the words as the carrier does and spread their
  attention evenly, but their output projection is zero, so nobody hears them;
- feed-forward networks are zero, all biases are zero, and norms only rescale.

So every metric has to rank the carrier first, for a reason of its own: it alone looks at one
token (confidence, entropy), moves much (attention x value norm, weight norm, relevance), and
changes the loss (gradient and its square, leave-one-out, integrated gradients, Shapley
values). Idle heads must get exactly nothing from every metric that looks at their output.

The carrier is neither in the first layer nor the first head of its layer, so that a metric
that cannot tell heads apart does not put it first by chance.
"""

from __future__ import annotations

import random

import torch
from torch import Tensor

from .attention import MultiHeadAttention
from .data.parallel_text import Corpus, ParallelText
from .data.vocabulary import Vocabulary
from .gates import Attention, Head
from .network import Network, NetworkSettings
from .transformer import TransformerTranslator

WORDS = ("ash", "beech", "cedar", "elm", "fir", "larch", "oak", "pine")
POSITIONS = 12
LONGEST = 8  # words of a sentence
CARRIER, COPIER = Head("cross", 1, 1), Head("decoder", 0, 2)
CARRIED, COPIED = 3.0, 0.2
_SHARP, _FAINT = 2.0, 0.7  # of queries and keys; attention on one token, and on some
_TEMPERATURE = 1.5  # of the logits: about 98 % for the right word


def planted_vocabulary() -> Vocabulary:
    """Return the eight words and the special tokens, for both sides."""
    return Vocabulary.train([" ".join(WORDS)], kind="word", size=4 + len(WORDS))


def planted_translator(
    vocabulary: Vocabulary | None = None, *, dtype: torch.dtype = torch.float32
) -> TransformerTranslator:
    """Return the translator that the module describes; it is always the same.

    Args:
        vocabulary: that of `planted_vocabulary`, for one that is made already.
        dtype: of the weights.
    """
    vocabulary = vocabulary or planted_vocabulary()
    words = len(vocabulary)
    settings = NetworkSettings(
        width=words + POSITIONS,
        feed_forward_width=4,
        encoder_layers=2,
        decoder_layers=2,
        heads=3,
        head_width=max(words, POSITIONS),  # a head can hold a word or a position
        dropout=0.0,
        positions="learned",
        norm_place="pre",
        max_positions=POSITIONS,
    )
    network = Network(settings, settings.full_layout(), words, words)
    with torch.no_grad():
        _plant(network, words)
    network.to(dtype).requires_grad_(False).eval()
    return TransformerTranslator(network, vocabulary, vocabulary)


def planted_text(name: str, seed: int, sentences: int = 64) -> ParallelText:
    """Return sentences of 1 to 8 words, each of them its own translation.

    Args:
        name: of the text.
        seed: draws the words.
        sentences: how many.
    """
    draw = random.Random(seed)
    lines = [" ".join(draw.choices(WORDS, k=1 + i % LONGEST)) for i in range(sentences)]
    return ParallelText(name, lines, list(lines))


def planted_corpus(sentences: int = 64) -> Corpus:
    """Return a corpus of `planted_text`; the splits differ by their seed."""
    train, valid, test = (
        planted_text(name, seed, sentences) for seed, name in enumerate(("train", "valid", "test"))
    )
    return Corpus("planted", "xx", "xx", train, valid, {"test": test}, "made by headcount")


def _plant(network: Network, words: int) -> None:
    """Set every weight of the network."""
    word = torch.eye(words, network.settings.width)  # [vocabulary, width]
    place = torch.eye(network.settings.width)[words:]  # [token, width]
    scale = network.target_embedding.scale
    tables = {
        "target_embedding.table": word / scale,
        "source_positions.table": place,
        "target_positions.table": place,
        "decoder_norm.weight": torch.full((network.settings.width,), _TEMPERATURE * scale),
    }
    for name, parameter in network.named_parameters():
        if name in tables:
            parameter.copy_(tables[name])
        else:
            parameter.fill_(1.0 if name.endswith("norm.weight") else 0.0)
    for attention in network.attentions.values():
        for column in range(len(attention.ids)):
            _block(attention.value.weight, column, attention).copy_(_padded(word, attention))
    previous = place.roll(-1, 0)  # [token, width]: position t asks for t - 1
    # What a head reads is what a norm makes of one word and one position.
    contrast = _contrast(network.settings.width)
    _listen(network, CARRIER, _SHARP * place, _SHARP * place, CARRIED / contrast * word)
    _listen(network, COPIER, _FAINT * previous, _FAINT * place, COPIED / contrast * word)


def _listen(network: Network, head: Head, query: Tensor, key: Tensor, said: Tensor) -> None:
    """Let a head compare positions and say the word that it reads.

    Args:
        query, key: how positions are compared  # [token, width]
        said: what is written for each word  # [vocabulary, width]
    """
    attention = network.attentions[Attention(head.site, head.layer)]
    column = attention.ids.index(head.head)
    _block(attention.query.weight, column, attention).copy_(_padded(query, attention))
    _block(attention.key.weight, column, attention).copy_(_padded(key, attention))
    _block(attention.output.weight.T, column, attention).copy_(_padded(said, attention))


def _block(weight: Tensor, column: int, attention: MultiHeadAttention) -> Tensor:
    """Return the rows of one head as a view  # [head_width, width]."""
    return weight[column * attention.head_width : (column + 1) * attention.head_width]


def _padded(rows: Tensor, attention: MultiHeadAttention) -> Tensor:
    """Return rows for all features of a head; those without a meaning are zero."""
    whole = torch.zeros(attention.head_width, rows.shape[1])  # [head_width, width]
    whole[: len(rows)] = rows
    return whole


def _contrast(width: int) -> float:
    """Return how far a norm puts a 1 from a 0, among `width` features of which two are 1."""
    mean = 2 / width
    return float((mean * (1 - mean)) ** -0.5)
