"""Many multinomial logistic regressions at once over one matrix of states.

A layer is probed for several tasks, with several penalties, and for the control tasks too.
All of these read the same states X, so their weights stand side by side as columns of one
matrix W, and one step of all of them is two matrix products, X W and X' (P - Y), instead of
two small ones each.

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

TOLERANCE = 1e-4
ITERATIONS = 500
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
) -> list[Solution]:
    """Fit all problems; the solutions come in the order of the problems.

    Args:
        features: the training examples, standardised.
        problems: labels for these examples, and penalties.
        tolerance: bound of the largest absolute entry of each gradient.
        iterations: evaluations after which a problem is given up as it is.

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
        found = _descend(_Stack(features, [problems[i] for i in order]), tolerance, iterations)
    solutions: list[Solution | None] = [None] * len(problems)
    for place, solution in zip(order, found, strict=True):
        solutions[place] = solution
    return [it for it in solutions if it is not None]


class _Stack:
    """The problems that are not yet solved, their labels side by side."""

    def __init__(self, features: Features, problems: Sequence[Problem]) -> None:
        self.features = features
        self.problems = list(problems)
        classes = [problem.classes for problem in problems]
        self.owner = torch.repeat_interleave(torch.tensor(classes))  # [column]
        # Few different label arrays: a task's penalties share one.
        self.labels = {id(it.labels): torch.from_numpy(it.labels) for it in problems}
        counts = {key: int((labels >= 0).sum()) for key, labels in self.labels.items()}
        self.counts = torch.tensor([counts[id(it.labels)] for it in problems])  # [problem]

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
        """The penalty of every weight  # [feature + 1, column]."""
        strength = torch.tensor([it.penalty for it in self.problems]) / self.counts  # [problem]
        ridge = strength[self.owner].repeat(self.features.width + 1, 1)
        bias = torch.tensor([it.bias_too for it in self.problems])[self.owner]  # [column]
        ridge[-1] *= bias
        return ridge.float()

    def per_problem(self, columns: Tensor) -> Tensor:
        """Sum over the columns of every problem  # [column] -> [problem]."""
        sums = torch.zeros(len(self.problems), dtype=torch.float64)
        return sums.index_add_(0, self.owner, columns.double())

    def dot(self, one: Tensor, other: Tensor) -> Tensor:
        """Return the inner product of every problem  # [problem], float64."""
        return self.per_problem((one * other).sum(0))

    def largest(self, values: Tensor) -> Tensor:
        """Return the largest absolute entry of every problem  # [problem]."""
        top = torch.zeros(len(self.problems))
        return top.scatter_reduce_(0, self.owner, values.abs().amax(0), "amax")

    def evaluate(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return the objectives [problem] and their gradients [feature + 1, column]."""
        losses = torch.zeros(len(self.problems), dtype=torch.float64)
        gradient = torch.zeros_like(weights)
        start = 0
        for block in self.features.blocks():
            rows = slice(start, start + len(block))
            start += len(block)
            logits = torch.addmm(weights[-1], block, weights[:-1])  # [example, column]
            for first, count, column, classes in self.slabs:
                slab = logits[:, column : column + count * classes].unflatten(1, (count, classes))
                losses[first : first + count] += self._residuals(slab, first, count, rows)
            gradient[:-1] += block.T @ logits
            gradient[-1] += logits.sum(0)
        decay = self.ridge * weights  # [feature + 1, column]
        return losses + 0.5 * self.dot(decay, weights), gradient + decay

    def _residuals(self, slab: Tensor, first: int, count: int, rows: slice) -> Tensor:
        """Turn logits into weighted residuals in place, return the mean losses  # [problem].

        Args:
            slab: [example, problem, class]
        """
        own = self.problems[first : first + count]
        labels = torch.stack([self.labels[id(it.labels)][rows] for it in own], 1)  # [example, p]
        there = (labels >= 0).float() / self.counts[first : first + count]  # [example, problem]
        labels = labels.clamp(min=0).unsqueeze(2)  # [example, problem, 1]
        logs = slab.log_softmax(2)  # [example, problem, class]
        losses = (logs.gather(2, labels).squeeze(2) * -there).double().sum(0)  # [problem]
        probabilities = logs.exp_().mul_(there.unsqueeze(2))
        slab.copy_(probabilities.scatter_add_(2, labels, -there.unsqueeze(2)))
        return losses

    @cached_property
    def bounds(self) -> dict[tuple[int, float, bool], Tensor]:
        """The inverse of Boehning's bound  # each [feature + 1, feature + 1], float32."""
        wanted = {(id(it.labels), it.penalty, it.bias_too): it for it in self.problems}
        grams = self._grams()
        inverses = {}
        for key, problem in wanted.items():
            gram = 0.5 * grams[key[0]]
            diagonal = torch.full((len(gram),), problem.penalty, dtype=torch.float64)
            diagonal[-1] *= problem.bias_too
            count = int((problem.labels >= 0).sum())
            # Features can be exact copies of others, and float32 can do no better than this.
            floor = 1e-6 * gram.diagonal().mean()
            gram = gram + torch.diag(diagonal / count + floor)
            inverses[key] = torch.cholesky_inverse(torch.linalg.cholesky(gram)).float()
        return inverses

    def _grams(self) -> dict[int, Tensor]:
        """Return (1/n) X'X with the bias as a feature, for every array of labels."""
        size = self.features.width + 1
        # Control draws have labels of their own, but the rows of their task.
        patterns = {key: (labels >= 0).numpy().tobytes() for key, labels in self.labels.items()}
        examples = {
            patterns[key]: (labels >= 0).nonzero().squeeze(1) for key, labels in self.labels.items()
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
        return {key: sums[it] / len(examples[it]) for key, it in patterns.items()}

    def precondition(self, gradient: Tensor) -> Tensor:
        """Multiply by the inverse bound of every problem  # [feature + 1, column]."""
        keys = [(id(it.labels), it.penalty, it.bias_too) for it in self.problems]
        out = torch.empty_like(gradient)
        column = 0
        start = 0
        while start < len(keys):
            stop = start
            width = 0
            while stop < len(keys) and keys[stop] == keys[start]:
                width += self.problems[stop].classes
                stop += 1
            columns = slice(column, column + width)
            out[:, columns] = self.bounds[keys[start]] @ gradient[:, columns]
            column, start = column + width, stop
        return out

    def without(self, solved: Tensor) -> tuple[_Stack, Tensor]:
        """Return the stack of the others and which columns are left  # [column]."""
        kept = [it for it, gone in zip(self.problems, solved.tolist(), strict=True) if not gone]
        smaller = _Stack(self.features, kept)
        smaller.bounds = self.bounds
        return smaller, ~solved[self.owner]


def _descend(stack: _Stack, tolerance: float, iterations: int) -> list[Solution]:
    """Minimise all objectives; the solutions come in the order of the stack."""
    found: dict[int, Solution] = {}
    places = torch.arange(len(stack.problems))  # [problem]
    weights = torch.zeros(stack.features.width + 1, len(stack.owner))  # [feature + 1, column]
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
            own = weights[:, stack.owner == index].clone()
            largest = float(reached[index])
            found[int(places[index])] = Solution(own, largest, iteration, largest <= tolerance)
        if solved.all():
            break
        if solved.any():
            left = ~solved
            stack, columns = stack.without(solved)
            weights, gradient, direction = (it[:, columns] for it in (weights, gradient, direction))
            value, step, places = value[left], step[left], places[left]
            history = [(s[:, columns], y[:, columns], r[left]) for s, y, r in history]
        moved = step.float()[stack.owner] * direction
        new_value, new_gradient = stack.evaluate(weights + moved)
        slope = stack.dot(gradient, direction)  # [problem]
        rounding = 1e-7 * value.abs()
        good = new_value <= value + 1e-4 * step * slope + rounding  # [problem]
        taken = good[stack.owner]  # [column]
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
        gradient: [feature + 1, column]
        history: steps, changes of the gradient [feature + 1, column] and 1/(their inner
            product) [problem], 0 where a problem did not move.
    """
    shares = []
    for moved, change, inverse in reversed(history):
        share = inverse * stack.dot(moved, gradient)  # [problem]
        gradient = gradient - share.float()[stack.owner] * change
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
    result = scale.float()[stack.owner] * stack.precondition(gradient)
    for (moved, change, inverse), share in zip(history, reversed(shares), strict=True):
        again = share - inverse * stack.dot(change, result)  # [problem]
        result = result + again.float()[stack.owner] * moved
    return result
