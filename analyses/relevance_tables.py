"""The tables of the analysis `relevance`: one row an output token, an input token, a layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ..models.batch import Batch
from ..models.data.parallel_text import ParallelText
from ..models.translator import Translator
from ..probe.lrp import balance_error, share_of_layer
from ..probe.relevance import RelevanceSettings, TokenRelevance, token_relevance
from ..probe.relevance.ledger import KINDS, Place
from .columns import HEAD
from .result import Column, Table

SENTENCES = (
    Column("sentence", "whole", "number of the sentence in its text, 0-based"),
    Column("source", "text", "source sentence"),
    Column("target", "text", "sentence whose words are explained"),
    Column("reference", "text", "reference translation"),
    Column("logits", "number", "sum of the explained logits", "logit"),
    Column("error", "number", "|relevance of all inputs - logits| / sum of |logits|"),
    Column("accounted_error", "number", "the same when what was absorbed is counted"),
)
TOKENS = (
    Column("sentence", "whole", "number of the sentence"),
    Column("position", "whole", "output position, 0-based"),
    Column("side", "text", "source, or prefix: the output said before, from BOS on"),
    Column("place", "whole", "position of the input token on its side, 0-based"),
    Column("piece", "text", "input token"),
    Column("relevance", "number", "relevance of the input token for the output", "logit"),
)
SHARES = (
    Column("sentence", "whole", "number of the sentence"),
    Column("position", "whole", "output position, 0-based"),
    Column("piece", "text", "output token that is explained"),
    Column("rival", "text", "token it is contrasted with; empty where it is not"),
    Column("logit", "number", "what is explained: a logit, or a difference of two", "logit"),
    Column("source", "number", "relevance of all source tokens", "logit"),
    Column("prefix", "number", "relevance of all prefix tokens", "logit"),
    Column("absorbed", "number", "what biases, softmax and epsilon absorbed", "logit"),
    Column("source_share", "number", "share of absolute relevance on source tokens"),
    Column("prefix_share", "number", "share of absolute relevance on prefix tokens"),
)
CONSERVATION = (
    Column("side", "text", "encoder, decoder, or output for what follows the last layer"),
    Column("layer", "whole", "layer, 0-based"),
    *(Column(kind, "number", f"absorbed by {kind}, signed", "share of |logit|") for kind in KINDS),
)
HEADS = (
    Column("sentence", "whole", "number of the sentence"),
    Column("position", "whole", "output position, 0-based"),
    Column("piece", "text", "output token that is explained"),
    *HEAD,
    Column("relevance", "number", "relevance that passes the head", "logit"),
    Column("share", "number", "relevance / absolute sum over the heads of its layer"),
)

TOKENS_A_BATCH = 1024  # every target position takes a backward pass over its whole batch


@dataclass(frozen=True)
class Explained:
    """One sentence with its relevances, padding cut off.

    Args:
        order: its place in the text that was given.
        number: what it is called in the tables.
        source, prefix: input tokens.
        found: of this sentence alone  # each with a batch of 1
    """

    order: int
    number: int
    source_text: str
    target_text: str
    source: list[str]
    prefix: list[str]
    chosen: list[str]
    rival: list[str]
    found: TokenRelevance


def traced(
    translator: Translator, pairs: ParallelText, settings: RelevanceSettings, numbers: list[int]
) -> Iterator[Explained]:
    """Explain sentence pairs, batch by batch, and yield one after another.

    Args:
        pairs: the target side is what is explained.
        numbers: what to call the sentences.
    """
    for batch in translator.batches(pairs.source, pairs.target, tokens=TOKENS_A_BATCH):
        found = token_relevance(translator, batch, settings)
        for row, order in enumerate(batch.indices.tolist()):
            yield _cut(translator, pairs, batch, found, row, order, numbers[order])


def _cut(
    translator: Translator,
    pairs: ParallelText,
    batch: Batch,
    found: TokenRelevance,
    row: int,
    order: int,
    number: int,
) -> Explained:
    """Take one sentence out of a batch."""
    source, target = (int(side.lengths[row]) for side in (batch.source, batch.target))
    one, at = slice(row, row + 1), slice(0, target)
    own = TokenRelevance(
        found.source[one, at, :source],
        found.prefix[one, at, :target],
        found.heads[one, at],
        found.start[one, at],
        found.chosen[one, at],
        found.rival[one, at],
        {key: amount[one, at] for key, amount in found.absorbed.items()},
    )
    rivals = own.rival[0].tolist()
    return Explained(
        order,
        number,
        pairs.source[order],
        pairs.target[order],
        translator.pieces(batch.source.ids[row, :source].tolist(), "source"),
        translator.pieces(batch.target.ids[row, :target].tolist(), "target"),
        translator.pieces(own.chosen[0].tolist(), "target"),
        [translator.pieces([it], "target")[0] if it >= 0 else "" for it in rivals],
        own,
    )


def tables_of(
    translator: Translator,
    found: Sequence[Explained],
    references: Sequence[str],
    n: str,
    *,
    per_token: bool,
) -> dict[str, Table]:
    """Return all tables, sentences in the order in which they were given."""
    found = sorted(found, key=lambda one: one.order)
    tables = {
        "sentences": Table.of(
            "The sentences that are explained, and how far their relevance is conserved.",
            SENTENCES,
            [_sentence(one, references[one.order]) for one in found],
            n=n,
        ),
        "shares": Table.of(
            "How much each output token rested on the source and on the output before it.",
            SHARES,
            [row for one in found for row in _shares(one)],
            n=n,
        ),
        "tokens": Table.of(
            "Relevance of every input token for every output token.",
            TOKENS,
            [row for one in found for row in _tokens(one)],
            n=n,
        ),
        "conservation": conservation_table([one.found for one in found], n),
    }
    if per_token:
        tables["heads"] = Table.of(
            "Relevance that passes every head for every output token.",
            HEADS,
            [row for one in found for row in _heads(translator, one)],
            n=n,
        )
    return tables


def conservation_table(found: Sequence[TokenRelevance], n: str) -> Table:
    """Return what every layer absorbed, as shares of all absolute logits."""
    logits = sum(float(one.start.abs().sum()) for one in found)
    sums: dict[Place, dict[str, float]] = {}
    for one in found:
        for (place, kind), amount in one.absorbed.items():
            kinds = sums.setdefault(place, dict.fromkeys(KINDS, 0.0))
            kinds[kind] += float(amount.sum()) / logits if logits else 0.0
    order = {side: rank for rank, side in enumerate(("encoder", "decoder", "output"))}
    places = sorted(sums, key=lambda place: (order[place.side], place.layer))
    return Table.of(
        "Relevance that no input received: what each layer absorbed. All of it, with what the "
        "inputs received, sums to the logits.",
        CONSERVATION,
        [{**place._asdict(), **sums[place]} for place in places],
        n=n,
    )


def _sentence(one: Explained, reference: str) -> dict[str, Any]:
    return {
        "sentence": one.number,
        "source": one.source_text,
        "target": one.target_text,
        "reference": reference,
        "logits": float(one.found.start.sum()),
        "error": float(balance_error(one.found, absorbed=False)),
        "accounted_error": float(balance_error(one.found, absorbed=True)),
    }


def _shares(one: Explained) -> Iterator[dict[str, Any]]:
    found = one.found
    parts = (found.start, found.source.sum(2), found.prefix.sum(2), found.withheld)
    sums = torch.cat(parts).T.tolist()  # one row a position
    shares = found.source_share[0].tolist()
    for position, (logit, source, prefix, absorbed) in enumerate(sums):
        anything = source or prefix or shares[position]
        yield {
            "sentence": one.number,
            "position": position,
            "piece": one.chosen[position],
            "rival": one.rival[position],
            "logit": logit,
            "source": source,
            "prefix": prefix,
            "absorbed": absorbed,
            "source_share": shares[position],
            "prefix_share": 1 - shares[position] if anything else 0.0,
        }


def _tokens(one: Explained) -> Iterator[dict[str, Any]]:
    sides = (("source", one.source, one.found.source), ("prefix", one.prefix, one.found.prefix))
    for position in range(len(one.chosen)):
        for side, pieces, relevance in sides:
            seen = len(pieces) if side == "source" else position + 1
            values = relevance[0, position, :seen].tolist()
            for place, value in enumerate(values):
                yield {
                    "sentence": one.number,
                    "position": position,
                    "side": side,
                    "place": place,
                    "piece": pieces[place],
                    "relevance": value,
                }


def _heads(translator: Translator, one: Explained) -> Iterator[dict[str, Any]]:
    relevance = one.found.heads[0]  # [target, head]
    shares = share_of_layer(relevance, translator.layout)
    for position, (values, parts) in enumerate(
        zip(relevance.tolist(), shares.tolist(), strict=True)
    ):
        for head, value, share in zip(translator.layout, values, parts, strict=True):
            yield {
                "sentence": one.number,
                "position": position,
                "piece": one.chosen[position],
                **head._asdict(),
                "relevance": value,
                "share": share,
            }
