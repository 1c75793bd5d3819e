"""The kinds of vocabulary: how a corpus is cut into pieces, and how they are learnt.

All kinds but `character` work on the same preparation of the text:

1. one space is put before the sentence, so that a word looks the same at the start of a
   sentence and inside it (`decode` takes exactly this space away again);
2. the text is split into words: a run of letters, of digits or of signs, with at most one
   space in front of it; other white space stands alone;
3. every word is written as its UTF-8 bytes, each byte as one printable character (the
   byte alphabet of GPT-2). The 256 bytes are always in the vocabulary of `bpe`, `unigram`
   and `wordpiece`, so that no character is ever unknown to them.

| kind | paper | what is lost |
| --- | --- | --- |
| bpe | Sennrich et al. 2016 | nothing |
| unigram | Kudo 2018 | nothing |
| wordpiece | Schuster & Nakajima 2012 | a word of more than 400 bytes becomes one UNK |
| word | - | a word not among the most frequent ones becomes one UNK |
| character | - | a character not among the most frequent ones becomes one UNK |

Pitfall: libraries find special tokens by searching the text for their names, so that a
sentence containing `<s>` is suddenly two sentences. Here the four special names hold a space,
and no piece of any kind can hold one: words write it as another character, and a piece of
`character` is one character long. Nothing in a text can become a special token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tokenizers import Regex, Tokenizer
from tokenizers.decoders import ByteLevel as ByteDecoder
from tokenizers.decoders import Fuse, Strip
from tokenizers.decoders import Sequence as Decoders
from tokenizers.models import BPE, Unigram, WordLevel, WordPiece
from tokenizers.normalizers import Prepend
from tokenizers.pre_tokenizers import ByteLevel, Split
from tokenizers.pre_tokenizers import Sequence as Splitters
from tokenizers.trainers import BpeTrainer, UnigramTrainer, WordLevelTrainer, WordPieceTrainer

from ..errors import UsageError
from ..registry import Registry

Train = Callable[[Iterable[str], int], Tokenizer]
vocabulary_kind: Registry[Train] = Registry("vocabulary kind")

SPECIAL_NAMES = ["< pad >", "< unk >", "< bos >", "< eos >"]
UNKNOWN_NAME = SPECIAL_NAMES[1]
CONTINUES = "\N{UNDERTIE}"
"""Marks a WordPiece that continues a word. Unlike `##`, no byte is written so."""

WORD = r" ?[\p{L}\p{M}]+| ?\p{N}+| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+"
LONGEST_WORDPIECE_WORD = 400
BYTES = sorted(ByteLevel.alphabet())
LOSSLESS_LEAST = len(SPECIAL_NAMES) + len(BYTES)
_LEAST = {
    "bpe": LOSSLESS_LEAST,
    "unigram": LOSSLESS_LEAST,
    "wordpiece": LOSSLESS_LEAST + len(BYTES),  # those that continue a word are others
}
"""Entries that have to be in a vocabulary; a special few and one more in the other kinds."""


@vocabulary_kind("bpe")
def train_bpe(texts: Iterable[str], size: int) -> Tokenizer:
    """Byte-pair encoding over bytes: the most frequent pair of pieces is merged, again and again.

    Source: Sennrich, Haddow & Birch 2016, arXiv:1508.07909; over bytes: Radford et al. 2019.
    """
    check_size("bpe", size)
    tokenizer = _over_bytes(BPE())
    trainer = BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=SPECIAL_NAMES,
        initial_alphabet=BYTES,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@vocabulary_kind("unigram")
def train_unigram(texts: Iterable[str], size: int) -> Tokenizer:
    """Unigram language model over bytes: many pieces at first, the least useful ones dropped.

    Source: Kudo 2018, arXiv:1804.10959.
    """
    check_size("unigram", size)
    tokenizer = _over_bytes(Unigram())
    trainer = UnigramTrainer(
        vocab_size=size,
        special_tokens=SPECIAL_NAMES,
        initial_alphabet=BYTES,
        unk_token=UNKNOWN_NAME,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@vocabulary_kind("wordpiece")
def train_wordpiece(texts: Iterable[str], size: int) -> Tokenizer:
    """WordPiece over bytes: learnt as BPE, read with the longest piece first.

    Source: Schuster & Nakajima 2012; Wu et al. 2016, arXiv:1609.08144.
    """
    # Every byte must be there twice, as a start and as a continuation. Given as special
    # tokens, the continuations also get fixed ids; the trainer's own order is random.
    continuations = [CONTINUES + byte for byte in BYTES]
    check_size("wordpiece", size)
    model = WordPiece(
        unk_token=UNKNOWN_NAME,
        max_input_chars_per_word=LONGEST_WORDPIECE_WORD,
        continuing_subword_prefix=CONTINUES,
    )
    tokenizer = _over_bytes(model)
    trainer = WordPieceTrainer(
        vocab_size=size,
        min_frequency=2,
        special_tokens=SPECIAL_NAMES + continuations,
        initial_alphabet=BYTES,
        continuing_subword_prefix=CONTINUES,
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


@vocabulary_kind("word")
def train_word(texts: Iterable[str], size: int) -> Tokenizer:
    """Whole words, the most frequent ones."""
    check_size("word", size)
    tokenizer = _over_bytes(WordLevel(unk_token=UNKNOWN_NAME))
    _train_whole(tokenizer, texts, size)
    return tokenizer


@vocabulary_kind("character")
def train_character(texts: Iterable[str], size: int) -> Tokenizer:
    """Single characters (Unicode code points, space included), the most frequent ones."""
    check_size("character", size)
    tokenizer = Tokenizer(WordLevel(unk_token=UNKNOWN_NAME))
    tokenizer.pre_tokenizer = Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = Fuse()
    _train_whole(tokenizer, texts, size)
    return tokenizer


def _train_whole(tokenizer: Tokenizer, texts: Iterable[str], size: int) -> None:
    """Take the most frequent units, ties in alphabetical order."""
    trainer = WordLevelTrainer(
        vocab_size=size, special_tokens=SPECIAL_NAMES, min_frequency=0, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)


def _over_bytes(model: Any) -> Tokenizer:
    """Return an untrained tokenizer with the preparation that the module describes."""
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = Prepend(" ")
    tokenizer.pre_tokenizer = Splitters(
        [Split(Regex(WORD), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = Decoders([ByteDecoder(), Strip(" ", 1, 0)])
    return tokenizer


def check_size(kind: str, size: int) -> None:
    """Refuse a vocabulary that has no room for what must be in it.

    Raises:
        UsageError: it is too small for its kind.
    """
    least = _LEAST.get(kind, len(SPECIAL_NAMES) + 1)
    if size < least:
        raise UsageError(
            f"vocabulary size {size} is too small for kind '{kind}': give at least {least}"
        )


def canonical_unigram(vocabulary: list[list[Any]]) -> list[list[Any]]:
    """Remove what is random in a trained Unigram vocabulary.

    The trainer visits words in a random order. The pieces are the same every time, but sums
    differ in the last bits, and the bytes that no piece needs get scores just above the
    lowest one, in random order. So scores are rounded and those bytes share the lowest score.

    Args:
        vocabulary: [piece, log probability] pairs, the special ones first.
    """
    special, learnt = vocabulary[: len(SPECIAL_NAMES)], vocabulary[len(SPECIAL_NAMES) :]
    lowest = min(score for _, score in learnt)
    top_of_filling = lowest + 1e-4 * (len(BYTES) + 1)
    scores = {
        piece: round(lowest if len(piece) == 1 and score < top_of_filling else score, 6)
        for piece, score in learnt
    }
    in_order = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return special + [[piece, score] for piece, score in in_order]
