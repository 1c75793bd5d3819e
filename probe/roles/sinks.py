"""Sinks: heads that rest on BOS, EOS, punctuation or the word itself.

    mass_h(kind) = mean over ordinary queries of  sum over keys of that kind of  alpha_h(query, key)

Many heads put most of their attention on a token that says nothing when they have nothing to
do (Clark et al. 2019, section 3.2: [SEP]; here mostly EOS and full stops). Their value there
is small, so that resting changes little: see the attention x value norm. A block or diagonal
head rests on its own position.

Every key is of one kind, and so the masses of a head sum to 1: `self` goes before
`punctuation`; `start` and `end` are special tokens before and behind the text (BOS, EOS,
language marks); `words` is all the rest. In cross-attention no key is the query itself. A
piece is punctuation if all its words are: UPOS is PUNCT, or, without tags, no letter or digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ...models.batch import Tokens
from ...models.gates import HeadLayout
from ..annotations.pooling import positions
from ..annotations.sentence import Word
from .walk import Observer, RoleView, Side, summed

KINDS = ("words", "punctuation", "start", "end", "self")
_WORDS, _PUNCTUATION, _START, _END, _SELF = range(len(KINDS))


@dataclass(frozen=True)
class SinkMass:
    """Where attention rests.

    Args:
        layout: the heads, in the order of the columns.
        mass: sum over queries, by `KINDS`  # [sentence, head, kind]
        queries: how many  # [sentence, head]
    """

    layout: HeadLayout
    mass: Tensor
    queries: Tensor

    def shares(self) -> Tensor:
        """Return the mean mass of a query, float64; rows sum to 1  # [head, kind]."""
        return summed(self.mass) / summed(self.queries)[:, None]


class SinkObserver(Observer):
    """Sums the attention that rests on each kind of key.

    Args:
        layout: heads of the model.
        sentences: size of the corpus.
    """

    def __init__(self, layout: HeadLayout, sentences: int) -> None:
        shape = (sentences, len(layout))
        self.found = SinkMass(
            layout,
            torch.zeros(*shape, len(KINDS)),
            torch.zeros(shape),
        )

    def observe(self, view: RoleView) -> None:
        """Sum one batch; see `Observer.observe`."""
        source = _kinds(view.batch.source, view.source, view.batch.indices)
        target = _kinds(view.batch.target, view.target, view.batch.indices)
        for name, weights in view.attention.items():
            queries, _ = view.tokens(name)
            kinds = target if name.site == "decoder" else source  # [batch, key]
            asked = queries.ordinary[:, None, :, None].to(weights)  # [batch, 1, query, 1]
            counted = weights * asked  # [batch, head, query, key]
            by_key = counted.sum(2).double()  # [batch, head, key]
            own = torch.zeros_like(by_key)
            if name.site != "cross":
                own = counted.diagonal(dim1=2, dim2=3).double()  # [batch, head, key]
            member = torch.nn.functional.one_hot(kinds, len(KINDS)).double()  # [batch, key, kind]
            mass = (by_key - own) @ member  # [batch, head, kind]
            mass[..., _SELF] += own.sum(-1)
            columns = self.found.layout.slices[name]
            self.found.mass[view.batch.indices, columns] = mass.float().cpu()
            count = queries.ordinary.sum(1, keepdim=True).float().cpu()  # [batch, 1]
            self.found.queries[view.batch.indices, columns] = count.expand(mass.shape[:2])


def _kinds(tokens: Tokens, side: Side, indices: Tensor) -> Tensor:
    """Return the kind of every key, by position in `KINDS`  # [batch, key]."""
    begun = tokens.ordinary.cumsum(1) > 0  # [batch, key]
    kinds = torch.full_like(tokens.ids, _START).masked_fill(begun, _END)
    kinds = kinds.masked_fill(tokens.ordinary, _WORDS)
    here = indices.tolist()
    places = positions(tokens.ordinary, [side.pieces[index] for index in here])
    for row, index in enumerate(here):
        pieces = side.pieces[index].pieces
        marks = set[int]()
        letters = set[int]()
        for word, of_word in zip(side.sentences[index].words, pieces, strict=True):
            (marks if is_mark(word) else letters).update(of_word)
        kinds[row, [places[row][piece] for piece in sorted(marks - letters)]] = _PUNCTUATION
    return kinds


def is_mark(word: Word) -> bool:
    """Tell whether a word is a punctuation mark."""
    if word.upos:
        return word.upos == "PUNCT"
    return not any(character.isalnum() for character in word.form)
