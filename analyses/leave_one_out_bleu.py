"""What BLEU loses when one head alone is cut out, for every head, with a corrected test.

    d_h = BLEU(g_h = 0) - BLEU(g = 1)

on translations of the same validation sentences (Michel et al. 2019, section 3.2 and table 1).
Negative is a loss. Every head is compared with the whole model by the paired bootstrap
(Koehn 2004) on the same resamples, with the p-value as sacrebleu defines it.

With 72 heads, three or four have p < 0.05 by chance alone. Holm's correction (1979) bounds
the chance of any false finding: with p_(1) <= ... <= p_(m) sorted,

    p_holm_(i) = max over j <= i of  min(1, (m - j + 1) p_(j)),

which is never weaker than Bonferroni's and assumes nothing of how the heads depend.

Pitfall: a bootstrap p-value is never below 1 / (resamples + 1), and the smallest one is
multiplied by m. With 1,000 resamples and 72 heads nothing could ever be significant at 0.05,
so resamples are many here. Pitfall: sacrebleu counts the resamples whose difference exceeds the
one on the corpus, and so gives two systems that never differ its smallest p; here a head whose
absence changes BLEU in no resample has p = 1. Pitfall: a head without an effect that can be
seen on these sentences may have one; look at the interval.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..models.data.parallel_text import ParallelText
from ..models.quality import paired, signature
from ..models.translator import SearchSettings, Translator
from ..probe.roles import holm
from .analysis import Progress, silent
from .columns import HEAD
from .result import Column, Table

RESAMPLES = 10_000
BLEU = (
    *HEAD,
    Column("difference", "number", "BLEU without the head - BLEU of the whole model", "points"),
    Column("low", "number", "lower bound of the interval", "points"),
    Column("high", "number", "upper bound of the interval", "points"),
    Column("p", "number", "two-sided p-value of the paired bootstrap"),
    Column("p_holm", "number", "the same after Holm's correction for all heads"),
)


def bleu_table(
    translator: Translator,
    data: ParallelText,
    search: SearchSettings,
    seed: int,
    progress: Progress = silent,
    *,
    n: str,
    resamples: int = RESAMPLES,
) -> Table:
    """Translate without each head and compare with the whole model.

    Args:
        data: validation or training sentences.
        search: how to translate.
        seed: of the resamples, the same ones for every head.
        n: the sentences in words, for the table.
        resamples: bootstrap resamples of the sentences.
    """
    layout = translator.layout
    whole = [it.text for it in translator.translate(data.source, search)]
    records: list[dict[str, Any]] = []
    for done, head in enumerate(layout):
        progress("score: BLEU without each head", done, len(layout))
        said = translator.translate(data.source, search, gates=layout.closing([head]))
        texts = [it.text for it in said]
        generator = np.random.default_rng(seed)
        found = paired("bleu", whole, texts, data.target, generator, resamples=resamples)
        numbers = {"difference": found.difference, "low": found.low, "high": found.high}
        same = not any(numbers.values())
        records.append({**head._asdict(), **numbers, "p": 1.0 if same else found.p})
    for record, p in zip(records, holm([record["p"] for record in records]), strict=True):
        record["p_holm"] = p
    progress("score: BLEU without each head", len(layout), len(layout))
    return Table.of(
        f"Change of BLEU when one head alone is closed ({signature('bleu', data.target)}).",
        BLEU,
        records,
        n=n,
        interval=f"95 % paired percentile bootstrap over sentences, {resamples} resamples",
    )
