"""Many multinomial logistic regressions at once over one matrix of states.

A layer is probed for several tasks, with several penalties, and for the control tasks too.
All of these read the same states X, so their weights stand side by side as columns of one
matrix W, and one step of all of them is two matrix products, X W and X' (P - Y), instead of
two small ones each. In memory a column is a row, and problems with equally many classes stand
class by class, [class, problem, example]: the softmax over few classes runs along the first
axis, which is ten times faster than along the last.

Every problem minimises its own convex objective, in the form of scikit-learn (C = 1/penalty),

    f(W) = (1/n) [ sum_i -log softmax(x_i W)_{y_i} + (penalty / 2) |W|^2 ],

by L-BFGS in step with the others, with its own step length and history; one that has
converged leaves the stack. The first Hessian of L-BFGS is Boehning's (1992) bound

    H <= (1/2) X'X / n + (penalty / n) I,

one Cholesky factor a task and penalty: it takes the correlation of the features out, which
is what makes states of a network slow for gradient methods.

Converged means max |df/dW| <= tolerance, in the standardised features; the value that was
reached is returned with the weights, because accuracies of probes that are not equally
converged must not be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ...models.errors import DataError
from .features import Features

TOLERANCE = 1e-5
ROUGH = 1e-3
"""Enough for accuracies of control tasks, and for the online code."""
ITERATIONS = 1000
HISTORY = 10
ABSENT = -1
"""The label of a row that is no example of a task."""


@dataclass(frozen=True)
class Problem:
    """One regression of the stack.

    Args:
        labels: class of every row, -1 where the row is no example  # [example]
        classes: how many classes; the labels are below.
        penalty: 1/C of scikit-learn: against the SUM of the losses.
        bias_too: whether the bias is penalised like the weights. Without, as usual, the bias
            of a class that training lacks goes to minus infinity.
    """

    labels: NDArray[np.int64]
    classes: int
    penalty: float
    bias_too: bool = False


@dataclass(frozen=True)
class Solution:
    """The weights of one problem.

    Args:
        weights: float32, the last row is the bias  # [feature + 1, class]
        gradient: largest absolute entry of the gradient of f.
        iterations: evaluations of f until it was reached.
        converged: whether the gradient is within the tolerance.
    """

    weights: Tensor
    gradient: float
    iterations: int
    converged: bool


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute with one thread: two processes of one are faster than one process of two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def solve(
    features: Features,
    problems: Sequence[Problem],
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
    starts: Sequence[Tensor] | None = None,
) -> list[Solution]:
    """Fit all problems; the solutions come in the order of the problems.

    Args:
        features: the training examples, standardised.
        problems: labels for these examples, and penalties.
        tolerance: bound of the largest absolute entry of each gradient.
        iterations: evaluations after which a problem is given up as it is.
        starts: weights to begin with, one a problem; zeros when none are given.

    Raises:
        DataError: a problem without examples, or with fewer than two classes.
    """
    if not problems:
        return []
    for problem in problems:
        if problem.classes < 2:
            raise DataError("a task with one class has nothing to probe; leave it out")
        if not (problem.labels >= 0).any():
            raise DataError("a task has no examples in the training split; give more sentences")
    with one_thread(), torch.no_grad():
        # Equal class counts stand together, so that their softmax is one call.
        order = sorted(range(len(problems)), key=lambda i: problems[i].classes)
        stack = _Stack(features, [problems[i] for i in order])
        weights = torch.zeros(len(stack.owner), features.width + 1)  # [column, feature + 1]
        for place, index in enumerate(order if starts else ()):
            weights[stack.owner == place] = (starts or [])[index].T
        found = _descend(stack, weights, tolerance, iterations)
    solutions: list[Solution | None] = [None] * len(problems)
    for place, solution in zip(order, found, strict=True):
        solutions[place] = solution
    return [it for it in solutions if it is not None]


class _Stack:
    """The problems that are not yet solved, their labels side by side."""

    def __init__(
        self,
        features: Features,
        problems: Sequence[Problem],
        patterns: dict[int, bytes] | None = None,
    ) -> None:
        self.features = features
        self.problems = list(problems)
        # Few different label arrays: a task's penalties share one.
        self.labels = {id(it.labels): torch.from_numpy(it.labels) for it in problems}
        counts = {key: int((labels >= 0).sum()) for key, labels in self.labels.items()}
        self.counts = torch.tensor([counts[id(it.labels)] for it in problems])  # [problem]
        # Which rows are examples: control draws have labels of their own, but their task's rows.
        self.patterns = patterns or {
            key: (labels >= 0).numpy().tobytes() for key, labels in self.labels.items()
        }
        self.keys = [
            (self.patterns[id(it.labels)], it.penalty, it.bias_too) for it in self.problems
        ]
        self.owner = torch.cat(
            [
                torch.arange(first, first + count).repeat(classes)
                for first, count, _, classes in self.slabs
            ]
        )  # [column]

    @cached_property
    def slabs(self) -> list[tuple[int, int, int, int]]:
        """Runs of problems with equally many classes: first, count, first column, classes."""
        slabs: list[tuple[int, int, int, int]] = []
        column = 0
        for index, problem in enumerate(self.problems):
            if slabs and slabs[-1][3] == problem.classes:
                first, count, start, classes = slabs[-1]
                slabs[-1] = (first, count + 1, start, classes)
            else:
                slabs.append((index, 1, column, problem.classes))
            column += problem.classes
        return slabs

    @cached_property
    def ridge(self) -> Tensor:
        """The penalty of every weight  # [column, feature + 1]."""
        strength = torch.tensor([it.penalty for it in self.problems]) / self.counts  # [problem]
        ridge = strength[self.owner, None].repeat(1, self.features.width + 1)
        ridge[:, -1] *= torch.tensor([it.bias_too for it in self.problems])[self.owner]
        return ridge.float()

    def dot(self, one: Tensor, other: Tensor) -> Tensor:
        """Return the inner product of every problem  # [problem], float64."""
        sums = torch.zeros(len(self.problems), dtype=torch.float64)
        return sums.index_add_(0, self.owner, (one * other).sum(1).double())

    def largest(self, values: Tensor) -> Tensor:
        """Return the largest absolute entry of every problem  # [problem]."""
        top = torch.zeros(len(self.problems))
        return top.scatter_reduce_(0, self.owner, values.abs().amax(1), "amax")

    def evaluate(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return the objectives [problem] and their gradients [column, feature + 1]."""
        losses = torch.zeros(len(self.problems), dtype=torch.float64)
        gradient = torch.zeros_like(weights)
        start = 0
        for block in self.features.blocks():
            rows = slice(start, start + len(block))
            start += len(block)
            logits = torch.addmm(weights[:, -1:], weights[:, :-1], block.T)  # [column, example]
            for first, count, column, classes in self.slabs:
                slab = logits[column : column + count * classes].unflatten(0, (classes, count))
                losses[first : first + count] += self._residuals(slab, first, count, rows)
            gradient[:, :-1] += logits @ block
            gradient[:, -1] += logits.sum(1)
        decay = self.ridge * weights  # [column, feature + 1]
        return losses + 0.5 * self.dot(decay, weights), gradient + decay

    def _residuals(self, slab: Tensor, first: int, count: int, rows: slice) -> Tensor:
        """Turn logits into weighted residuals in place, return the mean losses  # [problem].

        Args:
            slab: [class, problem, example]
        """
        own = self.problems[first : first + count]
        labels = torch.stack([self.labels[id(it.labels)][rows] for it in own])  # [p, example]
        there = (labels >= 0).float() / self.counts[first : first + count, None]  # [p, example]
        labels = labels.clamp(min=0)[None]  # [1, problem, example]
        logs = slab.log_softmax(0)  # [class, problem, example]
        losses = (logs.gather(0, labels)[0] * -there).sum(1).double()  # [problem]
        torch.exp(logs, out=slab).mul_(there)
        slab.scatter_add_(0, labels, -there[None])
        return losses

    @cached_property
    def bounds(self) -> dict[tuple[bytes, float, bool], Tensor]:
        """The inverse of Boehning's bound  # each [feature + 1, feature + 1], float32."""
        counts = dict(zip(self.patterns.values(), [0] * len(self.patterns), strict=True))
        for key, labels in self.labels.items():
            counts[self.patterns[key]] = int((labels >= 0).sum())
        grams = self._grams(counts)
        inverses = {}
        for pattern, penalty, bias_too in dict.fromkeys(self.keys):
            gram = 0.5 * grams[pattern]
            diagonal = torch.full((len(gram),), penalty, dtype=torch.float64)
            diagonal[-1] *= bias_too
            # Features can be exact copies of others, and float32 can do no better than this.
            floor = 1e-6 * gram.diagonal().mean()
            gram = gram + torch.diag(diagonal / counts[pattern] + floor)
            inverse = torch.cholesky_inverse(torch.linalg.cholesky(gram))
            inverses[pattern, penalty, bias_too] = inverse.float()
        return inverses

    def _grams(self, counts: dict[bytes, int]) -> dict[bytes, Tensor]:
        """Return (1/n) X'X with the bias as a feature, for every pattern of examples."""
        size = self.features.width + 1
        examples = {
            self.patterns[key]: (labels >= 0).nonzero()[:, 0] for key, labels in self.labels.items()
        }
        sums = {pattern: torch.zeros(size, size, dtype=torch.float64) for pattern in examples}
        start = 0
        for block in self.features.blocks():
            padded = torch.cat([block, torch.ones(len(block), 1)], 1)  # [example, feature + 1]
            for pattern, chosen in examples.items():
                inside = chosen[(chosen >= start) & (chosen < start + len(block))] - start
                rows = padded if len(inside) == len(padded) else padded[inside]
                sums[pattern] += (rows.T @ rows).double()
            start += len(block)
        return {pattern: it / counts[pattern] for pattern, it in sums.items()}

    @cached_property
    def columns(self) -> list[tuple[tuple[bytes, float, bool], Tensor]]:
        """The columns of the problems that share a bound  # each [column]."""
        numbers = {key: index for index, key in enumerate(dict.fromkeys(self.keys))}
        mine = torch.tensor([numbers[key] for key in self.keys])[self.owner]  # [column]
        return [(key, (mine == index).nonzero()[:, 0]) for key, index in numbers.items()]

    def precondition(self, gradient: Tensor) -> Tensor:
        """Multiply by the inverse bound of every problem  # [column, feature + 1]."""
        if len(self.columns) == 1:
            return gradient @ self.bounds[self.columns[0][0]]
        out = torch.empty_like(gradient)
        for key, columns in self.columns:
            out[columns] = gradient[columns] @ self.bounds[key]
        return out

    def without(self, solved: Tensor) -> tuple[_Stack, Tensor]:
        """Return the stack of the others and which columns are left  # [column]."""
        kept = [it for it, gone in zip(self.problems, solved.tolist(), strict=True) if not gone]
        smaller = _Stack(self.features, kept, self.patterns)
        smaller.bounds = self.bounds
        return smaller, ~solved[self.owner]


def _descend(stack: _Stack, weights: Tensor, tolerance: float, iterations: int) -> list[Solution]:
    """Minimise all objectives; the solutions come in the order of the stack."""
    found: dict[int, Solution] = {}
    places = torch.arange(len(stack.problems))  # [problem]
    value, gradient = stack.evaluate(weights)
    history: list[tuple[Tensor, Tensor, Tensor]] = []
    direction = -stack.precondition(gradient)
    step = torch.ones(len(stack.problems), dtype=torch.float64)  # [problem]
    for iteration in range(1, iterations + 1):
        reached = stack.largest(gradient)  # [problem]
        # A step that vanishes means that rounding hides any further progress.
        solved = (reached <= tolerance) | (step < 1e-6)
        if iteration == iterations:
            solved[:] = True
        for index in solved.nonzero().squeeze(1).tolist():
            own = weights[stack.owner == index].T.contiguous()  # [feature + 1, class]
            largest = float(reached[index])
            found[int(places[index])] = Solution(own, largest, iteration, largest <= tolerance)
        if solved.all():
            break
        if solved.any():
            left = ~solved
            stack, columns = stack.without(solved)
            weights, gradient, direction = (it[columns] for it in (weights, gradient, direction))
            value, step, places = value[left], step[left], places[left]
            history = [(s[columns], y[columns], r[left]) for s, y, r in history]
        moved = step.float()[stack.owner, None] * direction
        new_value, new_gradient = stack.evaluate(weights + moved)
        slope = stack.dot(gradient, direction)  # [problem]
        rounding = 1e-7 * value.abs()
        good = new_value <= value + 1e-4 * step * slope + rounding  # [problem]
        taken = good[stack.owner, None]  # [column, 1]
        change = torch.where(taken, new_gradient - gradient, 0.0)
        moved = torch.where(taken, moved, 0.0)
        curvature = stack.dot(moved, change)  # [problem]
        inverse = torch.where(curvature > 1e-20, 1 / curvature, 0.0).nan_to_num(0, 0, 0)
        history = [*history, (moved, change, inverse)][-HISTORY:]
        weights = weights + moved
        gradient = torch.where(taken, new_gradient, gradient)
        value = torch.where(good, new_value, value)
        step = torch.where(good, 1.0, step * 0.4)
        direction = torch.where(taken, -_quasi_newton(stack, gradient, history), direction)
    return [found[place] for place in range(len(found))]


def _quasi_newton(
    stack: _Stack, gradient: Tensor, history: Sequence[tuple[Tensor, Tensor, Tensor]]
) -> Tensor:
    """Multiply by the inverse Hessian of L-BFGS (Nocedal & Wright 2006, algorithm 7.4).

    Args:
        gradient: [column, feature + 1]
        history: steps, changes of the gradient [column, feature + 1] and 1/(their inner
            product) [problem], 0 where a problem did not move.
    """
    shares = []
    for moved, change, inverse in reversed(history):
        share = inverse * stack.dot(moved, gradient)  # [problem]
        gradient = gradient - share.float()[stack.owner, None] * change
        shares.append(share)
    newest, scale = torch.zeros(len(stack.problems)), torch.ones(len(stack.problems)).double()
    for _, change, inverse in reversed(history):
        fresh = (inverse > 0) & (newest == 0)  # the newest pair of every problem counts
        if fresh.any():
            length = stack.dot(change, stack.precondition(change))
            scale = torch.where(fresh & (length > 0), 1 / (inverse * length), scale)
            newest = newest + fresh
        if bool((newest > 0).all()):
            break
    result = scale.float()[stack.owner, None] * stack.precondition(gradient)
    for (moved, change, inverse), share in zip(history, reversed(shares), strict=True):
        again = share - inverse * stack.dot(change, result)  # [problem]
        result = result + again.float()[stack.owner, None] * moved
    return result
