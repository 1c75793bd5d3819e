"""Vocabularies: from text to ids and back, with the exact place of every piece.

`encode` gives ids and character offsets into the ORIGINAL text: `text[start:end]` is what
the piece stands for, without the space in front of a word. The spans run from left to right
and cover every character that is not a space. A character that is cut into several bytes
gives its span to each of them. A piece that is nothing but the space in front of a word
spans that space (at the start of a sentence, where the space is invisible: nothing).

`decode` is the inverse of `encode`: exact for `bpe` and `unigram`, whatever the text, and for
the other kinds wherever no UNK arose (`vocabulary_kinds` has the rules). An UNK is written
as U+FFFD, the replacement character, with a space in front where it stands for a word; so
are bytes that are no UTF-8, which only a model can produce.

BOS and EOS are not part of a text: `encode` never makes them, `batching.collate` adds them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tokenizers import Encoding, Tokenizer
from tokenizers.pre_tokenizers import ByteLevel

from ..errors import CheckpointError, DataError
from ..files import write_text
from ..settings import Settings
from .vocabulary_kinds import CONTINUES, SPECIAL_NAMES, canonical_unigram, vocabulary_kind

if TYPE_CHECKING:
    from .corpora import Corpus

PAD, UNK, BOS, EOS = range(4)
_BLOCK = 256  # texts encoded together; what the library makes of one is 20 times its ids
SPECIAL_PIECES = ("<pad>", "<unk>", "<s>", "</s>")
SPACE_MARK = "\N{LOWER ONE EIGHTH BLOCK}"
"""How `pieces` shows a space."""
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# The library encodes with threads, which do not survive a fork: a child that uses them hangs,
# and releases before 0.22 print a warning when the user has not decided. So it is decided here
# unless the user did, and a forked child always goes on without threads.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        after_in_child=lambda: os.environ.__setitem__("TOKENIZERS_PARALLELISM", "false")
    )


class VocabularySettings(Settings):
    """How text is cut into pieces.

    Args:
        kind: bpe, unigram, wordpiece, word or character.
        size: entries at most, the four special ones included.
        joint: one vocabulary for both languages (needed to tie source and target
            embeddings), or one for each.
    """

    kind: str = "bpe"
    size: int = 8000
    joint: bool = True


class Pieces(NamedTuple):
    """One encoded sentence, without BOS and EOS.

    Args:
        ids: one id a piece.
        offsets: one character span [start, end) a piece, in the original text.
    """

    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


class Vocabulary:
    """Pieces of text and their ids; PAD = 0, UNK = 1, BOS = 2, EOS = 3."""

    pad, unk, bos, eos = PAD, UNK, BOS, EOS

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        description = json.loads(tokenizer.to_str())
        model = description["model"]["type"]
        self._over_bytes = description["normalizer"] is not None
        whole = "word" if self._over_bytes else "character"
        self.kind: str = {"WordLevel": whole}.get(model, model.lower())
        if self.kind == "unigram":
            self._names = [piece for piece, _ in description["model"]["vocab"]]
        else:
            ranks = description["model"]["vocab"].items()
            self._names = [name for name, _ in sorted(ranks, key=lambda item: item[1])]

    @classmethod
    def train(cls, texts: Iterable[str], kind: str = "bpe", size: int = 8000) -> Vocabulary:
        """Learn a vocabulary; the same texts give the same vocabulary, byte for byte.

        Args:
            texts: sentences; read once, one at a time.
            kind: a name in the registry `vocabulary_kind`.
            size: entries at most, special ones included; a small corpus may fill fewer.

        Raises:
            UsageError: an unknown kind, or a size that is too small for it.
            DataError: no text at all.
        """
        seen = _Seen(texts)
        tokenizer = vocabulary_kind[kind](seen, size)
        if not seen.any:
            raise DataError("no text to learn a vocabulary from: give at least one sentence")
        description = json.loads(tokenizer.to_str())
        # Added tokens are searched for in every text; ours must not be (vocabulary_kinds).
        description["added_tokens"] = []
        if kind == "unigram":
            description["model"]["vocab"] = canonical_unigram(description["model"]["vocab"])
        return cls(Tokenizer.from_str(json.dumps(description)))

    def encode(self, texts: Sequence[str]) -> list[Pieces]:
        """Cut sentences into pieces, without BOS and EOS.

        Raises:
            DataError: a text with a lone surrogate, which is no Unicode text.
        """
        encodings = self._encode(texts, offsets=True)
        return [
            Pieces(tuple(encoding.ids), self._spans(text, encoding.ids, encoding.offsets))
            for text, encoding in zip(texts, encodings, strict=True)
        ]

    def encode_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Do as `encode`, but faster and without the offsets."""
        return list(self.iterate_ids(texts))

    def iterate_ids(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Yield what `encode_ids` returns, a sentence after the other, in constant memory."""
        for first in range(0, len(texts), _BLOCK):
            block = self._encode(texts[first : first + _BLOCK], offsets=False, first=first)
            yield from (encoding.ids for encoding in block)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; PAD, BOS and EOS are nothing, UNK is U+FFFD.

        Raises:
            DataError: an id outside the vocabulary.
        """
        self._check(ids)
        table = self._bytes
        text = b"".join([table[i] for i in ids]).decode("utf-8", errors="replace")
        return text.removeprefix(" ") if self._over_bytes else text

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the visible form of ids.

        A space is shown as U+2581, bytes that are no whole character as `<0xC3>`, a
        WordPiece that continues a word with `##`.
        """
        self._check(ids)
        return [self._visible[i] for i in ids]

    def words(self, text: str) -> list[str]:
        """Return the words that no piece reaches across, each written in the byte alphabet.

        `character` has no words: there, each is one character.

        Raises:
            DataError: a text with a lone surrogate, which is no Unicode text.
        """
        normalizer, splitter = self._tokenizer.normalizer, self._tokenizer.pre_tokenizer
        try:
            prepared = normalizer.normalize_str(text) if normalizer else text
            return [word for word, _ in splitter.pre_tokenize_str(prepared)]
        except (UnicodeEncodeError, TypeError):
            raise DataError(_not_text([text])) from None

    def byte_ids(self, word: str) -> list[int]:
        """Return the ids of the bytes of a word that `words` gave."""
        return [self._ids[byte] for byte in word]

    @cached_property
    def merges(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return what `bpe` merges: pair of ids -> (rank, id of the merged piece), lowest first.

        Empty for the other kinds.
        """
        model = json.loads(self._tokenizer.to_str())["model"]
        pairs = [tuple(pair) for pair in model.get("merges", ())]
        ids = self._ids
        return {
            (ids[left], ids[right]): (rank, ids[left + right])
            for rank, (left, right) in enumerate(pairs)
        }

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self._names)}

    def __len__(self) -> int:
        return len(self._names)

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 of all that the vocabulary is."""
        return hashlib.sha256(self._tokenizer.to_str().encode()).hexdigest()

    def save(self, path: Path) -> None:
        """Write the vocabulary in the JSON format of the library `tokenizers`, atomically."""
        write_text(path, self._tokenizer.to_str(pretty=True) + "\n")

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read a vocabulary that `save` wrote.

        Raises:
            CheckpointError: a missing, damaged or foreign file.
        """
        try:
            tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CheckpointError(f"{path}: no such vocabulary; train the model again") from None
        except Exception as error:  # The library raises bare Exception for damaged files.
            reason = " ".join(str(error).split())[:120]
            raise CheckpointError(
                f"{path}: not a readable vocabulary ({reason}); restore the file or train again"
            ) from None
        special = [tokenizer.token_to_id(name) for name in SPECIAL_NAMES]
        if special != list(range(4)) or tokenizer.get_added_tokens_decoder():
            raise CheckpointError(
                f"{path}: a vocabulary of another program (its special tokens are others); "
                "give one that headcount saved"
            )
        return cls(tokenizer)

    def _encode(self, texts: Sequence[str], *, offsets: bool, first: int = 0) -> list[Encoding]:
        """Let the library encode; the variant without offsets is faster.

        Args:
            first: where `texts` begin in those that an error counts.
        """
        encode = self._tokenizer.encode_batch if offsets else self._tokenizer.encode_batch_fast
        try:
            return encode(texts, add_special_tokens=False)
        except (UnicodeEncodeError, TypeError):
            raise DataError(_not_text(texts, first)) from None

    def _spans(
        self, text: str, ids: Sequence[int], offsets: Sequence[tuple[int, int]]
    ) -> tuple[tuple[int, int], ...]:
        """Take the space in front of words out of their spans."""
        if not self._over_bytes:
            return tuple(offsets)
        spans = [
            (start + 1, end) if text[start] == " " != text[end - 1] else (start, end)
            for start, end in offsets
        ]
        if ids and self._bytes[ids[0]] == b" ":
            spans[0] = (0, 0)
        return tuple(spans)

    @cached_property
    def _bytes(self) -> list[bytes]:
        """Return the UTF-8 bytes of every id."""
        unknown = (" " if self._over_bytes else "") + REPLACEMENT
        special = [b"", unknown.encode(), b"", b""]
        names = self._names[len(special) :]
        if not self._over_bytes:
            return special + [name.encode() for name in names]
        value = _byte_values()
        return special + [bytes(value[c] for c in name if c != CONTINUES) for name in names]

    @cached_property
    def _visible(self) -> list[str]:
        """Return the visible form of every id."""
        shown = list(SPECIAL_PIECES)
        for name, raw in zip(self._names[4:], self._bytes[4:], strict=True):
            try:
                text = raw.decode("utf-8").replace(" ", SPACE_MARK)
            except UnicodeDecodeError:
                text = "".join(f"<0x{byte:02X}>" for byte in raw)
            continues = self.kind == "wordpiece" and name.startswith(CONTINUES)
            shown.append("##" + text if continues else text)
        return shown

    def _check(self, ids: Sequence[int]) -> None:
        """Refuse ids that this vocabulary does not have."""
        if len(ids) and not 0 <= min(ids) <= max(ids) < len(self):
            wrong = min(ids) if min(ids) < 0 else max(ids)
            raise DataError(
                f"token id {wrong} is outside the vocabulary of {len(self)}: it belongs to another"
            )


def train_vocabularies(
    corpus: Corpus, settings: VocabularySettings
) -> tuple[Vocabulary, Vocabulary]:
    """Learn the source and the target vocabulary from the training split.

    Returns:
        The two vocabularies; when `settings.joint`, one and the same object twice.
    """
    train = corpus.train
    if settings.joint:
        both = (side for pair in zip(train.source, train.target, strict=True) for side in pair)
        joint = Vocabulary.train(both, settings.kind, settings.size)
        return joint, joint
    source = Vocabulary.train(train.source, settings.kind, settings.size)
    return source, Vocabulary.train(train.target, settings.kind, settings.size)


class _Seen:
    """Pass texts on, refuse what is not text, and remember whether there were any."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.any = False
        self._texts = texts

    def __iter__(self) -> Iterator[str]:
        for text in self._texts:
            try:
                text.encode()
            except (UnicodeEncodeError, AttributeError):
                raise DataError(_not_text([text])) from None
            self.any = True
            yield text


def _not_text(texts: Sequence[str], first: int = 0) -> str:
    """Name the first text that the library cannot take; `first` is the number of `texts[0]`."""
    for number, text in enumerate(texts, first):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            character = ord(text[error.start])
            return (
                f"sentence {number + 1}: lone surrogate U+{character:04X} at character "
                f"{error.start + 1} is no Unicode text; read the file as UTF-8"
            )
        except AttributeError:
            return f"sentence {number + 1} is {type(text).__name__}, not text; give strings"
    return "the sentences cannot be encoded; give a list of strings"


def _byte_values() -> dict[str, int]:
    """Return which byte each printable character of the byte alphabet stands for.

    Printable Latin-1 stands for itself; the 68 other bytes are, in order, U+0100 and up
    (Radford et al. 2019).
    """
    itself = {c: ord(c) for c in ByteLevel.alphabet() if ord(c) < 256}
    others = [byte for byte in range(256) if byte not in itself.values()]
    return itself | {chr(256 + number): byte for number, byte in enumerate(others)}
