"""How good translations are: BLEU, chrF and TER, with signature, interval and paired test.

This is the only place of the project where a translation is scored. The counting is
sacrebleu's (Post 2018), on raw text: no in-house tokenisation, no smoothing of our own.

- BLEU (Papineni et al. 2002): 100 x BP x exp(mean of log p_n), n = 1 ... 4, where p_n is the
  share of the translations' n-grams found in the references (clipped), and the brevity
  penalty BP = exp(1 - r/c) punishes a corpus of c words that is shorter than its references'
  r words. It is a property of a corpus: the mean of sentence BLEU is another number.
- chrF (Popovic 2015): 100 x F_2 of character n-grams, n = 1 ... 6.
- TER (Snover et al. 2006): 100 x edits / reference words; lower is better.

All three are functions of sums over sentences. So the sufficient statistics of every sentence
are counted once, and a bootstrap resample (Koehn 2004) costs one row of a matrix product:
how often each sentence was drawn, times the statistics. sacrebleu recounts nothing either,
but sums and scores its resamples one by one in Python, which is some twenty times slower.

Pitfall: sacrebleu reports its bootstrap as mean ± half the width. The interval here is the
percentile interval itself, which need not be symmetric around the score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from .errors import DataError
from .registry import Registry

Array = NDArray[np.float64]
RESAMPLES = 1000
_BLOCK = 4_000_000  # draws held at once: 32 MB, however large the corpus


@dataclass(frozen=True)
class Measure:
    """A quality measure that is a function of sums over sentences.

    Args:
        metric: builds sacrebleu's metric with the references' n-grams counted once.
        scores: from summed statistics [resample, statistic] to scores [resample].
    """

    metric: Callable[[Sequence[str]], Metric]
    scores: Callable[[Array], Array]


measure: Registry[Measure] = Registry("quality measure")


@dataclass(frozen=True)
class Quality:
    """The quality of one system's translations.

    Args:
        measure: `bleu`, `chrf` or `ter`.
        score: as sacrebleu's command line gives it, 0 to 100 (TER can be more).
        signature: sacrebleu's, without which the score cannot be compared.
        low, high: bounds of the 95 % percentile bootstrap interval over sentences.
        n: sentences.
        interval: how `low` and `high` were made, in words.
    """

    measure: str
    score: float
    signature: str
    low: float
    high: float
    n: int
    interval: str


@dataclass(frozen=True)
class Difference:
    """What one system scores more than another on the same sentences.

    Args:
        measure: `bleu`, `chrf` or `ter`.
        difference: score of the system minus score of the baseline, in points.
        low, high: bounds of the 95 % percentile interval of the paired bootstrap.
        p: two-sided p-value of the paired bootstrap, as sacrebleu (and Moses) define it.
        signature: sacrebleu's.
        n: sentences.
        interval: how `low`, `high` and `p` were made, in words.
    """

    measure: str
    difference: float
    low: float
    high: float
    p: float
    signature: str
    n: int
    interval: str


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    generator: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> Quality:
    """Return corpus BLEU with its interval; see `quality`."""
    return quality("bleu", hypotheses, references, generator, resamples=resamples)


def chrf(
    hypotheses: Sequence[str],
    references: Sequence[str],
    generator: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> Quality:
    """Return corpus chrF2 with its interval; see `quality`."""
    return quality("chrf", hypotheses, references, generator, resamples=resamples)


def quality(
    name: str,
    hypotheses: Sequence[str],
    references: Sequence[str],
    generator: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> Quality:
    """Score translations and say how sure the score is.

    Args:
        name: a quality measure: `bleu`, `chrf` or `ter`.
        hypotheses: raw translated text, one a sentence.
        references: raw reference text, one a sentence.
        generator: draws the resamples; `default_rng(12345)` draws sacrebleu's own.
        resamples: bootstrap resamples of the sentences.

    Raises:
        UsageError: there is no such measure.
        DataError: no sentences, or a different number of references.

    Source: Post 2018; Koehn 2004, section 3.
    """
    statistics = sentence_statistics(name, hypotheses, references)  # [sentence, statistic]
    n = len(statistics)
    scores = measure[name].scores
    drawn = scores(resampled_sums([statistics], generator, resamples)[0])  # [resample]
    low, high = np.percentile(drawn, (2.5, 97.5))
    score = scores(statistics.sum(0, keepdims=True))[0]
    how = f"95 % percentile bootstrap over {n} sentences, {resamples} resamples"
    return Quality(name, float(score), signature(name, references), float(low), float(high), n, how)


def paired(
    name: str,
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[str],
    generator: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> Difference:
    """Compare two systems on the same resamples of the same sentences.

    The p-value is sacrebleu's `--paired-bs`: the share of resamples in which the absolute
    difference, less its mean over resamples, exceeds the absolute difference on the corpus,
    one counted in addition above and below the line.

    Args:
        name: a quality measure: `bleu`, `chrf` or `ter`.
        baseline: raw text of the system compared with.
        system: raw text of the system whose gain is asked for.
        references: raw reference text.
        generator: draws the resamples; `default_rng(12345)` draws sacrebleu's own.
        resamples: bootstrap resamples of the sentences.

    Raises:
        UsageError: there is no such measure.
        DataError: no sentences, or different numbers of them.

    Source: Koehn 2004, section 4; sacrebleu's `significance.py`.
    """
    sides = [sentence_statistics(name, side, references) for side in (baseline, system)]
    scores = measure[name].scores
    drawn = [scores(sums) for sums in resampled_sums(sides, generator, resamples)]
    differences = drawn[1] - drawn[0]  # [resample]
    totals = [scores(side.sum(0, keepdims=True))[0] for side in sides]
    difference = float(totals[1] - totals[0])
    shifted = np.abs(differences) - np.abs(differences).mean()  # [resample]
    p = (int((shifted > abs(difference)).sum()) + 1) / (resamples + 1)
    low, high = np.percentile(differences, (2.5, 97.5))
    n = len(references)
    how = f"95 % paired percentile bootstrap over {n} sentences, {resamples} resamples"
    sign = signature(name, references)
    return Difference(name, difference, float(low), float(high), p, sign, n, how)


def signature(name: str, references: Sequence[str]) -> str:
    """Return sacrebleu's signature of a measure: version, tokenisation, case, smoothing."""
    return str(_metric(name, tuple(references)).get_signature())


def sentence_statistics(name: str, hypotheses: Sequence[str], references: Sequence[str]) -> Array:
    """Count the sufficient statistics of every sentence, with sacrebleu.

    Returns:
        BLEU: hypothesis length, reference length, then matches and totals for n = 1 ... 4.
        chrF: hypothesis, reference and matching n-grams for n = 1 ... 6.
        TER: edits and reference words.  # [sentence, statistic]

    Raises:
        UsageError: there is no such measure.
        DataError: no sentences, or a different number of references.
    """
    if not hypotheses:
        raise DataError("no translations to score; give at least one sentence")
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses)} translations cannot be scored against {len(references)} "
            "references; give one reference a sentence"
        )
    # sacrebleu offers its sentence statistics under a private name only.
    counted = _metric(name, tuple(references))._extract_corpus_statistics(hypotheses, None)
    return np.asarray(counted, dtype=np.float64)  # [sentence, statistic]


def resampled_sums(
    statistics: Sequence[Array], generator: np.random.Generator, resamples: int
) -> list[Array]:
    """Sum sentence statistics over bootstrap resamples, the same ones for every system.

    Args:
        statistics: one array a system  # each [sentence, statistic]
        generator: draws sentences with replacement.
        resamples: how many resamples.

    Returns:
        one array a system  # each [resample, statistic]
    """
    n = len(statistics[0])
    rows = max(1, _BLOCK // n)
    blocks = []
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        draws = generator.choice(n, size=(count, n), replace=True)  # [resample, sentence]
        draws += n * np.arange(count)[:, None]
        times = np.bincount(draws.ravel(), minlength=count * n).reshape(count, n)
        times = times.astype(np.float64)  # [resample, sentence]
        blocks.append([times @ one for one in statistics])  # each [resample, statistic]
    return [np.concatenate(of_system) for of_system in zip(*blocks, strict=True)]


@lru_cache(maxsize=8)
def _metric(name: str, references: tuple[str, ...]) -> Metric:
    """Return sacrebleu's metric with the references counted once for many systems."""
    return measure[name].metric(references)


def _bleu_scores(sums: Array) -> Array:
    """Return BLEU with sacrebleu's exponential smoothing of zero matches  # [resample]."""
    length, reference_length = sums[:, 0], sums[:, 1]  # [resample]
    matches, totals = sums[:, 2:6], sums[:, 6:10]  # [resample, order]
    # The k-th order without a match counts as 1 / 2^k matches; an order without any n-gram
    # (all sentences shorter than n) makes log p so small that the score is 0.
    empty = np.cumsum(matches == 0, axis=1)  # [resample, order]
    smoothed = np.where(matches == 0, 0.5**empty, matches)
    possible = totals > 0  # [resample, order]
    precision = smoothed / np.where(possible, totals, 1)
    mean_log = np.log(precision).mean(1)  # [resample]
    short = np.where(length > 0, 1 - reference_length / np.maximum(length, 1), 0)
    score = 100 * np.exp(np.minimum(short, 0) + mean_log)  # [resample]
    return np.where(possible.all(1) & matches.any(1), score, 0.0)


def _chrf_scores(sums: Array) -> Array:
    """Return chrF2: F of the mean precision and mean recall over orders  # [resample]."""
    counts = sums.reshape(len(sums), -1, 3)  # [resample, order, count]
    ours, references, matches = counts[..., 0], counts[..., 1], counts[..., 2]
    counted = (ours > 0) & (references > 0)  # [resample, order]
    orders = np.maximum(counted.sum(1), 1)  # [resample]
    precision = np.where(counted, matches / np.maximum(ours, 1), 0).sum(1) / orders
    recall = np.where(counted, matches / np.maximum(references, 1), 0).sum(1) / orders
    weighted = 4 * precision + recall  # [resample]
    return 100 * 5 * precision * recall / np.where(weighted > 0, weighted, 1)


def _ter_scores(sums: Array) -> Array:
    """Return TER: edits over reference words  # [resample]."""
    edits, words = sums[:, 0], sums[:, 1]  # [resample]
    return 100 * np.where(words > 0, edits / np.where(words > 0, words, 1), edits > 0)


measure("bleu")(Measure(lambda references: BLEU(force=True, references=[references]), _bleu_scores))
measure("chrf")(Measure(lambda references: CHRF(references=[references]), _chrf_scores))
measure("ter")(Measure(lambda references: TER(references=[references]), _ter_scores))
