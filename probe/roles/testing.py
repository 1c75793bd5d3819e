"""Is a head better than what knows nothing? Effects with intervals, and Holm's correction.

For a kind of question a, a head h and a baseline b, with counts of each sentence s,

    effect = min over b of  sum over s of (right_h,s - right_b,s) / sum over s of asked_s,

so the effect is the lead over the STRONGEST baseline: place, chance or random weights. The
baselines are chosen on other sentences than they are compared on. The interval is a
percentile bootstrap over sentences, in which each resample has its own strongest baseline.

The test of one baseline flips the sign of each sentence's lead d_s (all words of a sentence
together, because they are not independent); the sum of leads is then about normal with mean 0
and variance sum d_s^2, and the head must beat every baseline, so its p is the largest of them
(intersection-union test, Berger 1982). Holm's procedure (1979) then holds the chance of ANY
false role among all heads, directions and relations that were asked to the level.

Pitfall: with a million questions every lead is significant; a role also needs a lead of at
least 10 points. Pitfall: beside k networks with random weights, one more would be the most
extreme once in k + 1 times; one or two are a floor on rich text, where random heads are alike,
and too few where there are a dozen different words. Pitfall: the normal law is a little too
kind below ten sentences with a lead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats

from ...models.gates import Head
from .answers import MARGIN, ArcScores
from .questions import Arc

Array = NDArray[np.float64]

LEVEL = 0.05
"""Chance of any false role."""
PARTS = 10
"""Resamples are summed in so many parts, so that they need little memory at once."""


class Tested(NamedTuple):
    """A head set beside the baselines of a kind of question, on sentences that chose nothing.

    Args:
        arc, head: what was asked, and of whom.
        questions, sentences: how many.
        accuracy: share of right answers.
        place: the fixed place, chosen on other sentences.
        baseline, chance, floor: right answers of the place, of chance, of random weights.
        effect, low, high: the lead over the strongest of them, with its interval.
        p: of the sign-flip test, not corrected.
        chosen: whether the head is the best on the sentences for choosing.
    """

    arc: Arc
    head: Head
    questions: int
    sentences: int
    accuracy: float
    place: str
    baseline: float
    chance: float
    floor: float
    effect: float
    low: float
    high: float
    p: float
    chosen: bool

    def holds(self, p: float) -> bool:
        """Tell whether the head has the role, given its corrected p."""
        return self.effect >= MARGIN and p <= LEVEL


def compared(
    scores: ArcScores,
    choose: Sequence[int],
    score: Sequence[int],
    floors: Sequence[ArcScores] = (),
    *,
    generator: np.random.Generator,
    resamples: int = 1000,
) -> list[Tested]:
    """Test every head on every kind of question.

    Args:
        scores: of the model.
        choose: sentences on which the baselines are chosen.
        score: the others, on which all are compared.
        floors: scores of the same sentences by models with random weights.
        generator: draws the resamples.
        resamples: of the sentences; 0 leaves the intervals out (NaN).

    Returns:
        one for each kind that has questions on both sides, and each head; none for a site
        without heads.

    Raises:
        ValueError: a sentence is in both, or a floor is of other questions.
    """
    if set(choose) & set(score):
        raise ValueError("a sentence cannot both choose and score")
    if any(f.arcs != scores.arcs or not torch.equal(f.asked, scores.asked) for f in floors):
        raise ValueError("a floor needs the scores of the same questions")
    if not scores.heads:
        return []
    rows = list(score)
    weights = drawn_sentences(generator, len(rows), resamples)
    found = []
    best = scores.accuracy(choose).argmax(1).tolist()  # [arc]
    places = scores.baselines(choose).argmax(1).tolist()  # [arc]
    floor = _floors(scores, choose, floors)  # [arc, sentence]
    for row, arc in enumerate(scores.arcs):
        asked = _numbers(scores.asked[rows, row])  # [sentence]
        if not asked.sum() or not scores.asked[list(choose), row].any():
            continue
        right = _numbers(scores.right[rows, row])  # [sentence, head]
        known = np.stack(
            [
                _numbers(scores.by_place[rows, row, places[row]]),
                _numbers(scores.by_chance[rows, row]),
                floor[row, rows],
            ],
            axis=1,
        )  # [sentence, baseline]
        effect, low, high = _effects(right, known, asked, weights)
        p = _largest_p(right, known)  # [head]
        share = right.sum(0) / asked.sum()  # [head]
        baseline, chance, floor_share = (known.sum(0) / asked.sum()).tolist()
        for column, head in enumerate(scores.heads):
            found.append(
                Tested(
                    arc,
                    head,
                    int(asked.sum()),
                    int((asked > 0).sum()),
                    float(share[column]),
                    scores.places[places[row]],
                    baseline,
                    chance,
                    floor_share,
                    float(effect[column]),
                    float(low[column]),
                    float(high[column]),
                    float(p[column]),
                    column == best[row],
                )
            )
    return found


def drawn_sentences(
    generator: np.random.Generator, sentences: int, resamples: int
) -> NDArray[np.int16]:
    """Return how often each bootstrap resample has a sentence [resample, sentence]."""
    return generator.multinomial(sentences, [1 / sentences] * sentences, resamples).astype(np.int16)


def _numbers(counts: torch.Tensor) -> Array:
    return counts.numpy().astype(np.float64)


def _floors(scores: ArcScores, choose: Sequence[int], floors: Sequence[ArcScores]) -> Array:
    """Return right answers of the best head with random weights  # [arc, sentence]."""
    right = np.zeros((len(scores.arcs), len(scores.asked)))
    best = np.full(len(scores.arcs), -1.0)
    for each in floors:
        accuracy, heads = each.accuracy(choose).max(1)  # each [arc]
        for row, (share, head) in enumerate(zip(accuracy.tolist(), heads.tolist(), strict=True)):
            if share > best[row]:
                best[row] = share
                right[row] = _numbers(each.right[:, row, head])
    return right


def _effects(
    right: Array, known: Array, asked: Array, weights: NDArray[np.int16]
) -> tuple[Array, Array, Array]:
    """Return every head's lead over the strongest baseline, and its interval  # each [head].

    Args:
        right: [sentence, head]
        known: [sentence, baseline]
        asked: [sentence]
        weights: how often each resample has a sentence [resample, sentence]
    """
    effect = (right.sum(0) - known.sum(0).max()) / asked.sum()
    if not len(weights):
        return effect, np.full_like(effect, np.nan), np.full_like(effect, np.nan)
    there = asked > 0
    right, known, asked = right[there], known[there], asked[there]
    leads = []
    for some in np.array_split(weights[:, there], PARTS):
        drawn = some.astype(np.float64)  # [resample, sentence]
        total = drawn @ asked  # [resample]
        lead = drawn @ right - (drawn @ known).max(1, keepdims=True)  # [resample, head]
        leads.append(lead[total > 0] / total[total > 0, None])
    low, high = np.percentile(np.concatenate(leads), (2.5, 97.5), axis=0)
    return effect, low, high


def _largest_p(right: Array, known: Array) -> Array:
    """Return the largest p of the tests against all baselines, one-sided  # [head].

    Args:
        right: [sentence, head]
        known: [sentence, baseline]
    """
    lead = right[:, :, None] - known[:, None, :]  # [sentence, head, baseline]
    spread = np.sqrt((lead**2).sum(0))  # [head, baseline]
    z = np.divide(lead.sum(0), spread, out=np.zeros_like(spread), where=spread > 0)
    return stats.norm.sf(z).max(1)


def holm(values: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm 1979, in the order given.

    The i-th smallest of m is multiplied by m - i + 1, made no smaller than the one before it,
    and at most 1; those at most alpha are what the procedure rejects at alpha.
    """
    corrected = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        corrected[place] = largest
    return corrected
