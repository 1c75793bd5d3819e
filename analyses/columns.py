"""Columns that mean the same in the tables of several analyses."""

from __future__ import annotations

from .result import Column

HEAD = (
    Column("site", "text", "encoder, decoder or cross"),
    Column("layer", "whole", "layer, 0-based"),
    Column("head", "whole", "original id of the head in its layer, 0-based"),
)
BLEU = (
    Column("bleu", "number", "corpus BLEU", "BLEU points"),
    Column("bleu_low", "number", "lower bound of the interval", "BLEU points"),
    Column("bleu_high", "number", "upper bound of the interval", "BLEU points"),
)
BLEU_DIFFERENCE = (
    Column("bleu_difference", "number", "BLEU less the whole model's", "BLEU points"),
    Column("difference_low", "number", "lower bound of the paired interval", "BLEU points"),
    Column("difference_high", "number", "upper bound of the paired interval", "BLEU points"),
)
NLL = Column("nll", "number", "token NLL of the references, teacher-forced", "nats a token")
QUALITY = (
    Column("split", "text", "test split"),
    Column("search", "text", "greedy, beam and its size, or teacher forcing"),
    Column("measure", "text", "bleu, chrf or nll"),
    Column("value", "number", "score of the whole split", "see unit"),
    Column("low", "number", "lower bound of the interval", "see unit"),
    Column("high", "number", "upper bound of the interval", "see unit"),
    Column("unit", "text", "unit of value, low and high"),
    Column("sentences", "whole", "sentences of the split that were translated"),
    Column("signature", "text", "sacrebleu's signature"),
)
