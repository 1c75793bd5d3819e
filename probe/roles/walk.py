"""One walk over annotated sentence pairs for all roles.

Every role reads attention weights of the same forward pass, so the pass is made once a batch
and shown to every observer. An observer keeps COUNTS a sentence and forgets the rest: nothing
of the shape [batch, head, query, key] outlives its batch. Because sentences stay apart, a head
can be chosen on one half of them and scored on the other, and intervals need no second walk.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from ...models.batch import Batch, Tokens
from ...models.errors import DataError
from ...models.gates import Attention
from ...models.translator import Translator
from ..annotations.pieces import Coverage, WordPieces, pieces_of
from ..annotations.pooling import attention_over_words, pooling_matrix
from ..annotations.sentence import AnnotatedSentence
from ..attention_norm import value_lengths
from ..relevance import relevance_maps

SidePair = tuple[AnnotatedSentence, AnnotatedSentence]
"""A sentence and its translation."""
Texts = Sequence[SidePair]
WEIGHTS, NORM, RELEVANCE = MAPS = ("weights", "norm", "relevance")
"""What a map of a head is made of: attention weights, the same x length of the value vector that
the key adds (Kobayashi et al. 2020), or relevance by LRP (`relevance/maps.py`)."""
TOKENS = 512
"""Padded tokens a batch. The maps of all heads of one batch are most of the memory of a walk, and
larger batches are no faster."""


@dataclass(frozen=True)
class Side:
    """One language of the corpus, with its words joined to the model's pieces.

    Args:
        sentences: in the order of the corpus.
        pieces: of each of them.
    """

    sentences: tuple[AnnotatedSentence, ...]
    pieces: tuple[WordPieces, ...]

    @property
    def coverage(self) -> Coverage:
        """Return what could not be aligned, of all sentences together."""
        return sum((each.coverage for each in self.pieces), Coverage())


def joined(translator: Translator, pairs: Texts) -> tuple[Side, Side]:
    """Join the words of both languages to the pieces that a model reads.

    Args:
        translator: whose vocabularies cut the text.
        pairs: annotated sentences with their translations.

    Returns:
        source and target.

    Raises:
        DataError: there are no sentences.
    """
    if not pairs:
        raise DataError("no sentences to look for roles in; give at least one")
    sides = []
    for place, name in enumerate(("source", "target")):
        sentences = tuple([pair[place] for pair in pairs])
        pieces = [pieces_of(each, translator.offsets(each.text, name)) for each in sentences]
        sides.append(Side(sentences, tuple(pieces)))
    return sides[0], sides[1]


@dataclass(frozen=True)
class RoleView:
    """What an observer may read of one batch.

    Args:
        batch: sentence pairs on the model's device.
        attention: softmax weights of every attention  # each [batch, head, query, key]
        source, target: the whole corpus; `batch.indices` says which sentences are here.
        context: heads' outputs, where an observer wants them
            # each [batch, query, head, head_width]
        norms, relevance: maps of the other kinds, where an observer wants them
            # each [batch, head, query, key]
    """

    batch: Batch
    attention: dict[Attention, Tensor]
    source: Side
    target: Side
    context: dict[Attention, Tensor] = field(default_factory=dict)
    norms: dict[Attention, Tensor] = field(default_factory=dict)
    relevance: dict[Attention, Tensor] = field(default_factory=dict)
    _pooled: dict[tuple[Attention, bool, str], Tensor] = field(default_factory=dict)

    def tokens(self, name: Attention) -> tuple[Tokens, Tokens]:
        """Return the tokens that query and that are looked at."""
        queries = self.batch.source if name.site == "encoder" else self.batch.target
        keys = self.batch.target if name.site == "decoder" else self.batch.source
        return queries, keys

    def over_words(self, name: Attention, *, said: bool = False, of: str = WEIGHTS) -> Tensor:
        """Return an attention between units of words  # [batch, head, unit, unit].

        Args:
            name: which attention.
            said: whether a target word asks from where it is SAID, one position before the
                one where it is read; needs a target that queries.
            of: what the map is made of, one of `MAPS`.
        """
        if (name, said, of) not in self._pooled:  # several observers ask for the same
            queries = "source" if name.site == "encoder" else "said" if said else "target"
            keys = "target" if name.site == "decoder" else "source"
            maps = {WEIGHTS: self.attention, NORM: self.norms, RELEVANCE: self.relevance}[of]
            weights = maps[name]  # [batch, head, query, key]
            self._pooled[name, said, of] = attention_over_words(
                weights, self._queries[queries].to(weights), self._keys[keys].to(weights)
            )
        return self._pooled[name, said, of]

    @cached_property
    def _queries(self) -> dict[str, Tensor]:
        """Return what averages queries over the pieces of a word."""
        return {
            "source": self._matrix(self.batch.source, self.source, average=True),
            "target": self._matrix(self.batch.target, self.target, average=True),
            "said": self._matrix(self.batch.labels, self.target, average=True),
        }

    @cached_property
    def _keys(self) -> dict[str, Tensor]:
        """Return what sums keys over the pieces of a word."""
        return {
            "source": self._matrix(self.batch.source, self.source, average=False),
            "target": self._matrix(self.batch.target, self.target, average=False),
        }

    def _matrix(self, tokens: Tokens, side: Side, *, average: bool) -> Tensor:
        here = [side.pieces[index] for index in self.batch.indices.tolist()]
        return pooling_matrix(tokens.ordinary, here, average=average, dtype=torch.float32)


class Observer(ABC):
    """Something that is counted while the corpus goes by."""

    wants_context: bool = False
    """Whether it reads the heads' outputs too."""
    reads: str = WEIGHTS
    """Which kind of map it reads, one of `MAPS`."""

    @abstractmethod
    def observe(self, view: RoleView) -> None:
        """Count what one batch shows; keep nothing that grows with its tokens."""


def walk(
    translator: Translator,
    sides: tuple[Side, Side],
    observers: Sequence[Observer],
    *,
    tokens: int = TOKENS,
) -> None:
    """Show a corpus to observers, one forward pass a batch.

    Args:
        translator: the model.
        sides: of `joined`.
        observers: each sees every batch once.
        tokens: padded tokens a batch, at most.

    Raises:
        RuleError: an observer reads relevance, and no rule is known for what the model does.
    """
    source, target = sides
    texts = [[sentence.text for sentence in side.sentences] for side in sides]
    context = any(observer.wants_context for observer in observers)
    read = {observer.reads for observer in observers}
    for batch in translator.batches(texts[0], texts[1], tokens=tokens):
        with torch.no_grad():
            seen = translator.capture(batch, attention=True, context=context, values=NORM in read)
            norms = {
                name: seen.attention[name]
                * value_lengths(values, translator.head_weights(name).output)[:, :, None]
                for name, values in seen.values.items()
            }  # each [batch, head, query, key]
            relevance = relevance_maps(translator, batch) if RELEVANCE in read else {}
            view = RoleView(batch, seen.attention, source, target, seen.context, norms, relevance)
            for observer in observers:
                observer.observe(view)


def summed(counts: Tensor) -> Tensor:
    """Sum over sentences in float64, some at once: a sum copies what it is to be more exact in.

    Args:
        counts: [sentence, ...]
    """
    total = torch.zeros(counts.shape[1:], dtype=torch.float64)
    for some in counts.split(100):
        total += some.sum(0, dtype=torch.float64)
    return total
