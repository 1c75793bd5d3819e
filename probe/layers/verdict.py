"""Do lower layers lean to syntax and upper ones to semantics? One answer, or none.

Each task gives one number, the CENTRE of what its layers add. With S(l) the accuracy of the
probe on layer l, mean over models, and R(l) that on the same network with random weights,

    gain(l) = [(S(l) - S(0)) - max(0, R(l) - R(0))] / (max S - S(0)),
    centre = sum_{l>=1} l gain(l) / sum_{l>=1} gain(l),   gains below 0 counted as 0.

Layer 0 is taken away because a word's form already tells much, the random network because
mixing neighbours into a word helps even without any learning, and the headroom because a task
that is easy from the start must not count less.

What random layers LOSE is not given back. They bury the word deeper with every layer, so
R(l) - R(0) falls, and most for what hangs on the word itself, which is what semantic tasks
mostly ask: to count that fall as a gain of the trained network would move their centres up,
and give "syntax lower" for a model all of whose layers tell the same.

A task has a centre only if some layer surely adds something: the lower bound of its gain lies
above 0, at 2.5 % for all layers together (Bonferroni). Then

    D = mean centre of the semantic tasks - mean centre of the syntactic tasks, in layers.

Its 95 % interval is a hierarchical bootstrap: models (seeds), then sentences, the same for all
tasks and layers, then tasks within their family. The permutation null gives the family labels
to the tasks in all other ways; p is the share of ways with at least so large a |D|.

| answer | when |
| --- | --- |
| undecided | one model only, or fewer than three tasks in a family with a centre |
| equivalent | else, if the interval lies within half a layer around 0 |
| syntax lower, semantics lower | else, if it excludes 0 and p <= 0.05 |
| undecided | else |

With few tasks p cannot be small: of three against three the smallest is 0.1. Then the observed
labelling must be the most extreme of all. The smallest difference that could have been shown
is given beside the answer: 2.8 standard errors of D (5 % two-sided, power 80 %).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...models.errors import DataError
from .gains import Array, Gains, TaskCurves, centre_of, gains_of

Answer = Literal["syntax lower", "semantics lower", "equivalent", "undecided"]
FAMILIES = ("syntax", "semantics")
MARGIN = 0.5
LEAST_TASKS = 3
LEVEL = 0.05
MOST_LABELLINGS = 20_000
POWER = 1.96 + 0.84


@dataclass(frozen=True)
class Verdict:
    """The answer and what it rests on.

    Args:
        answer: one of four.
        reason: why, in one sentence.
        centres: of every task that has one, in layers.
        difference: D, in layers; NaN when a family has no task.
        interval: 95 %.
        p: share of labellings with at least so large a |D|.
        smallest_p: the smallest that the number of tasks allows.
        detectable: the smallest |D| that could have been shown, in layers.
        gains: of every task, also of those without a centre.
    """

    answer: Answer
    reason: str
    centres: dict[str, float]
    difference: float
    interval: tuple[float, float]
    p: float
    smallest_p: float
    detectable: float
    gains: tuple[Gains, ...] = ()


def verdict(
    curves: Sequence[TaskCurves],
    generator: np.random.Generator,
    *,
    resamples: int = 1000,
    margin: float = MARGIN,
) -> Verdict:
    """Answer from the curves of all tasks.

    Args:
        curves: tasks of both families on the same models and test sentences.
        generator: draws models, sentences and tasks.
        resamples: bootstrap resamples.
        margin: differences within it are called equivalent, in layers.

    Raises:
        DataError: tasks of other families, or on other models or sentences.
    """
    _refuse_unlike(curves)
    draws = _Draws.of(curves[0], generator, resamples)
    kept, centres, drawn, found_gains = [], [], [], []
    for each in curves:
        gains = each.gains(draws.models, draws.times)  # [resample, layer]
        of_task = gains_of(each, gains)
        found_gains.append(of_task)
        if of_task.centre is not None:
            kept.append(each)
            centres.append(of_task.centre)
            drawn.append(centre_of(gains))
    everything = tuple(found_gains)
    semantic = np.array([it.family == "semantics" for it in kept], dtype=bool)  # [task]
    named = {it.task: centre for it, centre in zip(kept, centres, strict=True)}
    fewest = min(int((~semantic).sum()), int(semantic.sum())) if kept else 0
    if not fewest:
        reason = _nothing_to_compare(curves, kept)
        none = float("nan")
        return Verdict("undecided", reason, named, none, (none, none), 1.0, 1.0, none, everything)
    observed = np.array(centres)  # [task]
    difference = float(_difference(observed[None], semantic)[0])
    found = _with_drawn_tasks(np.stack(drawn, 1), semantic, generator)  # [resample]
    low, high = (float(it) for it in np.percentile(found, (2.5, 97.5)))
    p, smallest = _permuted(observed, semantic, generator)
    answer, reason = _answer(len(curves[0].right), fewest, (low, high), p, smallest, margin)
    detectable = POWER * float(found.std())
    return Verdict(
        answer, reason, named, difference, (low, high), p, smallest, detectable, everything
    )


def _nothing_to_compare(curves: Sequence[TaskCurves], kept: Sequence[TaskCurves]) -> str:
    """Say which family has no centre: it was not asked, or no layer is surely above layer 0."""
    said = []
    for family in FAMILIES:
        own = [it for it in curves if it.family == family]
        if not own:
            said.append(f"no task of {family} was asked")
        elif not any(it.family == family for it in kept):
            few = f"none of {len(own)} tasks" if len(own) > 1 else "not the one task"
            said.append(f"no layer above 0 surely adds anything to {family} ({few})")
    return ", and ".join(said)


def _answer(
    models: int,
    fewest: int,
    interval: tuple[float, float],
    p: float,
    smallest: float,
    margin: float,
) -> tuple[Answer, str]:
    """Return the answer and its reason; the rules stand in the module's table."""
    low, high = interval
    said = f"the interval of the difference is [{low:.2f}, {high:.2f}] layers"
    if models < 2:
        return "undecided", "one model cannot tell its own accidents from a rule; train more seeds"
    if fewest < LEAST_TASKS:
        return "undecided", f"a family has {fewest} tasks with a centre; {LEAST_TASKS} are needed"
    if -margin < low and high < margin:
        return "equivalent", f"{said}, within {margin} of 0"
    if low <= 0 <= high:
        return "undecided", f"{said}; it includes 0 and reaches beyond {margin}"
    if p > max(LEVEL, smallest + 1e-9):
        return (
            "undecided",
            f"{said}, but other ways to name the families give as much (p = {p:.2f})",
        )
    answer: Answer = "syntax lower" if low > 0 else "semantics lower"
    return answer, f"{said}; p = {p:.3f}"


def _difference(centres: Array, semantic: NDArray[np.bool_]) -> Array:
    """Return D  # [resample, task] -> [resample]."""
    difference: Array = centres[:, semantic].mean(1) - centres[:, ~semantic].mean(1)
    return difference


@dataclass(frozen=True)
class _Draws:
    """Drawn models [resample, model], and how often each sentence [resample, sentence]."""

    models: NDArray[np.int64]
    times: Array

    @classmethod
    def of(cls, curves: TaskCurves, generator: np.random.Generator, resamples: int) -> _Draws:
        models, _, sentences = curves.right.shape
        drawn = generator.integers(0, models, size=(resamples, models))
        places = generator.integers(0, sentences, size=(resamples, sentences))
        places += sentences * np.arange(resamples)[:, None]
        times = np.bincount(places.ravel(), minlength=resamples * sentences)
        return cls(drawn, times.astype(np.float64).reshape(resamples, sentences))


def _with_drawn_tasks(
    centres: Array, semantic: NDArray[np.bool_], generator: np.random.Generator
) -> Array:
    """Return D with the tasks drawn again within their families  # [resample]."""
    means = []
    for chosen in (np.flatnonzero(semantic), np.flatnonzero(~semantic)):
        picks = generator.choice(chosen, size=(len(centres), len(chosen)))
        drawn = np.take_along_axis(centres, picks, axis=1)  # [resample, task]
        there = np.isfinite(drawn)  # where layers add nothing there is no centre
        with np.errstate(divide="ignore", invalid="ignore"):
            means.append(np.where(there, drawn, 0).sum(1) / there.sum(1))
    found: Array = means[0] - means[1]
    return found[np.isfinite(found)]


def _permuted(
    centres: Array, semantic: NDArray[np.bool_], generator: np.random.Generator
) -> tuple[float, float]:
    """Return p over labellings, all of them where they are few, and the smallest possible p."""
    size, count = len(centres), int(semantic.sum())
    ways = comb(size, count)
    if ways <= MOST_LABELLINGS:
        chosen = np.array(list(combinations(range(size), count)))  # [way, task]
    else:
        drawn = [generator.permutation(size)[:count] for _ in range(MOST_LABELLINGS - 1)]
        chosen = np.array([*drawn, np.flatnonzero(semantic)])
    inside = centres[chosen].sum(1)  # [way]
    values = inside / count - (centres.sum() - inside) / (size - count)
    observed = abs(_difference(centres[None], semantic)[0])
    # With families of equal size, exchanging their names gives the same |D|.
    twins = 2 if 2 * count == size else 1
    return float((np.abs(values) >= observed - 1e-12).mean()), twins / len(chosen)


def _refuse_unlike(curves: Sequence[TaskCurves]) -> None:
    if not curves:
        raise DataError("no tasks to judge by; name some of both families")
    first = curves[0]
    for each in curves:
        if each.family not in FAMILIES:
            raise DataError(f"task '{each.task}' is of family '{each.family}', not of {FAMILIES}")
        if each.right.shape != first.right.shape or each.random.shape[1:] != first.right.shape[1:]:
            raise DataError(f"task '{each.task}' was measured on other models or sentences")
