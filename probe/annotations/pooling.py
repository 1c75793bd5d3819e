"""From pieces to words: attention and states.

Attention TO a word is the SUM over its pieces, because weights are shares of one whole;
attention FROM a word is the MEAN over its pieces, because each piece asks on its own (Clark
et al. 2019, section 4.1). With A of shape [query, key] over pieces, pieces(u) of unit u:

    W[u, v] = 1 / |pieces(u)| * sum over q in pieces(u) of  sum over k in pieces(v) of A[q, k]

A row of W sums to what its pieces gave to words; what went to BOS, EOS or white space is
missing from it and is never redistributed. Both steps are matrix products, so a batch of
sentences and all heads take two of them:

    W = F A T',     F[u, q] = 1 / |pieces(u)|,  T[v, k] = 1 where the piece belongs to the unit.

A state of a word is the mean of its pieces' states, or the first's or last's. Positions in a
model's input are not pieces: BOS and EOS stand among them. `batch.source.ordinary` says which
positions are pieces, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from .pieces import WordPieces

Pooling = Literal["mean", "first", "last"]


def positions(ordinary: Tensor, aligned: Sequence[WordPieces]) -> list[list[int]]:
    """Return where in the model's input every piece of every sentence stands.

    Args:
        ordinary: which positions hold pieces, such as `batch.source.ordinary` [batch, token]
        aligned: the sentences of the batch, in its order.

    Raises:
        ValueError: a sentence has another number of pieces than positions for them; then
            positions and offsets are of different texts.
    """
    places = []
    for row, sentence in zip(ordinary.cpu(), aligned, strict=True):
        found: list[int] = row.nonzero()[:, 0].tolist()
        if len(found) != sentence.coverage.pieces:
            raise ValueError(
                f"{sentence.coverage.pieces} pieces but {len(found)} positions in the model's input"
            )
        places.append(found)
    return places


def pooling_matrix(
    ordinary: Tensor, aligned: Sequence[WordPieces], *, average: bool, dtype: torch.dtype
) -> Tensor:
    """Return the matrix that turns positions into units.

    Args:
        ordinary: which positions hold pieces [batch, token]
        aligned: the sentences of the batch, in its order.
        average: mean over a unit's pieces (F, for queries) instead of their sum (T, for keys).
        dtype: of what it will be multiplied with.

    Returns:
        zeros beyond a sentence's last unit  # [batch, unit, token]
    """
    units = max((len(sentence.unit_pieces) for sentence in aligned), default=0)
    matrix = torch.zeros(len(aligned), units, ordinary.shape[1], dtype=dtype)
    cells = [
        (index, unit, places[piece], 1 / len(pieces) if average else 1.0)
        for index, (places, sentence) in enumerate(
            zip(positions(ordinary, aligned), aligned, strict=True)
        )
        for unit, pieces in enumerate(sentence.unit_pieces)
        for piece in pieces
    ]
    if cells:  # all at once: setting single cells of a tensor is slow
        *index, weight = zip(*cells, strict=True)
        matrix[tuple(map(torch.tensor, index))] = torch.tensor(weight, dtype=dtype)
    return matrix.to(ordinary.device)  # [batch, unit, token]


def attention_over_words(attention: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Turn attention between positions into attention between units of words.

    Args:
        attention: softmax weights [batch, head, query, key]
        queries: `pooling_matrix` with average=True of the querying side [batch, unit, query]
        keys: `pooling_matrix` with average=False of the side looked at [batch, unit, key]

    Returns:
        rows sum to the attention that goes to words  # [batch, head, unit, unit]
    """
    from_units = queries[:, None] @ attention  # [batch, head, unit, key]
    return from_units @ keys[:, None].mT


def pooled_states(states: Tensor, pieces: Sequence[Sequence[int]], how: Pooling = "mean") -> Tensor:
    """Return one state for each word.

    Args:
        states: of the positions of one sentence [token, width]
        pieces: of every word, the positions of its pieces; at least one each, so words that
            could not be aligned are to be left out before.
        how: mean of the word's pieces, or the first or last of them.

    Raises:
        ValueError: a word without pieces.
    """
    if not all(pieces):
        raise ValueError("a word without pieces has no state; leave it out")
    if how != "mean":
        place = 0 if how == "first" else -1
        return states[[word[place] for word in pieces]]  # [word, width]
    device = states.device
    flat = [piece for word in pieces for piece in word]
    index = torch.tensor(flat, dtype=torch.long, device=device)  # [piece]
    sizes = torch.tensor([len(word) for word in pieces], dtype=torch.long, device=device)  # [word]
    owner = torch.arange(len(pieces), device=device).repeat_interleave(sizes)  # [piece]
    total = states.new_zeros(len(pieces), states.shape[1])  # [word, width]
    total.index_add_(0, owner, states[index])
    return total / sizes[:, None]  # [word, width]
