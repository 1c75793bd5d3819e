"""The table `alignment` of `roles`: whose links of target to source words are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..probe.roles import AlignmentScores
from .result import Column, Table
from .role_tables import BY_SENTENCE, SHARE, Weights, resampled

ALIGNMENT = (
    Column("model", "text", "whole, cut (heads removed), or smaller (and trained on)"),
    Column("map", "text", "what is largest at the source word: weights, norm or relevance"),
    Column("aligner", "text", "a head, the mean of a layer or of all heads, or their union"),
    Column("asked", "text", "where a target word asks: read, or said one position before"),
    Column("chosen", "truth", "whether it is the head of the lowest rate on the other half"),
    Column("precision", "number", "|A & P| / |A|", SHARE),
    Column("recall", "number", "|A & S| / |S|", SHARE),
    Column("error_rate", "number", "alignment error rate (Och & Ney 2003)", SHARE),
    Column("error_rate_low", "number", "lower bound of the interval", SHARE),
    Column("error_rate_high", "number", "upper bound of the interval", SHARE),
)


def alignment_table(
    scores: Mapping[str, Mapping[tuple[str, str], AlignmentScores]],
    choose: Sequence[int],
    score: Sequence[int],
    weights: Weights,
    n: str,
) -> Table:
    """Return how well every aligner's links agree with the gold ones, on the scoring half.

    Args:
        scores: by model, and by what maps are made of and where target words ask.
        weights: how often each resample has a sentence of the scoring half
            [resample, sentence]
    """
    rows = []
    every = [(model, *way, it) for model, found in scores.items() for way, it in found.items()]
    for model, of, asked, found in every:
        if not found.aligners[0].startswith("cross."):
            continue  # no head of cross-attention is left
        chosen = found.held_out(choose, score)[0]
        half = list(score)
        right = (found.in_sure + found.in_possible)[half]  # [sentence, aligner]
        total = found.links[half] + found.sure[half, None]  # [sentence, aligner]
        high, low = (1 - bound for bound in resampled(right, total, weights))
        for column, (name, quality) in enumerate(
            zip(found.aligners, found.quality(half), strict=True)
        ):
            rows.append(
                {
                    "model": model,
                    "map": of,
                    "aligner": name,
                    "asked": asked,
                    "chosen": name == chosen,
                    **quality._asdict(),
                    "error_rate_low": low[column],
                    "error_rate_high": high[column],
                }
            )
    caption = "How well cross-attention links target words to source words."
    return Table.of(caption, ALIGNMENT, rows, n=n, interval=BY_SENTENCE)
