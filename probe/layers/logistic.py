"""Linear probes: multinomial logistic regression, its penalty chosen on validation sentences.

The probe of a layer is p(label | h) = softmax(h W + b) on standardised states h (Belinkov et
al. 2017; Hewitt & Liang 2019). Being convex, it has one answer: what differs between layers
is what the states hold, as long as all probes are fitted equally well. So the fit goes to
convergence, the gradient is reported, and each task and layer gets the penalty that is
best in log-loss on the validation part.

There are two ways to the same answer: `solve` of `stacked.py`, for many probes at once, and
scikit-learn, one probe at a time, as the reference. With two classes, scikit-learn has one
weight vector w = w_1 - w_0 instead of two; |w_0|^2 + |w_1|^2 = |w|^2 / 2 in the optimum, so the
same probe has C = 2/penalty there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from .examples import Numbers
from .features import Features
from .measures import Judged
from .stacked import ITERATIONS, TOLERANCE, Problem, Solution, one_thread, solve

PENALTIES = (1.0, 10.0, 100.0, 1000.0)


@dataclass(frozen=True)
class Chosen:
    """A fitted probe with the penalty that validation chose.

    Args:
        solution: its weights and how well it converged.
        penalty: the chosen one.
        validation: mean bits a label on the validation part, of each penalty that was tried.
        at_edge: whether the best penalty is the first or last offered, so that a better one
            may lie beyond.
    """

    solution: Solution
    penalty: float
    validation: dict[float, float]
    at_edge: bool


@dataclass(frozen=True)
class Labels:
    """The labels of one task for the rows of the training and the validation features.

    Args:
        train, valid: -1 where a row is no example of the task  # each [example]
        classes: how many classes.
    """

    train: Numbers
    valid: Numbers
    classes: int


def fit_chosen(
    train: Features,
    valid: Features,
    tasks: Sequence[Labels],
    penalties: Sequence[float] = PENALTIES,
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> list[Chosen]:
    """Fit all tasks together, penalty after penalty, and return the best fit of every task.

    The path begins at the strongest penalty, where a fit is quick, and every fit starts from
    the one before it. A task leaves the path at its first penalty that validation finds worse
    than the one before, so the weakest penalties, the slowest to fit, are mostly never tried.

    Validation judges the very fits that are returned. Rougher ones would not do: from a warm
    start a weaker penalty then looks as good as the one before, because its fit has hardly
    moved, and when it is finished it has learnt the training words by heart.
    """
    best: list[tuple[Solution, float] | None] = [None] * len(tasks)
    losses: list[dict[float, float]] = [{} for _ in tasks]
    last: list[Solution | None] = [None] * len(tasks)
    left = list(range(len(tasks)))
    for penalty in sorted(penalties, reverse=True):
        fitted = solve(
            train,
            [Problem(tasks[index].train, tasks[index].classes, penalty) for index in left],
            tolerance=tolerance,
            iterations=iterations,
            starts=[it.weights for it in (last[index] for index in left) if it is not None],
        )
        said = predict(valid, fitted, [tasks[index].valid for index in left])
        worse = set()
        for index, solution, predicted in zip(left, fitted, said, strict=True):
            losses[index][penalty] = bits_of(predicted)
            last[index] = solution
            if losses[index][penalty] <= min(losses[index].values()):
                best[index] = solution, penalty
            else:
                worse.add(index)
        left = [index for index in left if index not in worse]
    edges = (min(penalties), max(penalties)) if len(penalties) > 1 else ()
    return [
        Chosen(it[0], it[1], scores, it[1] in edges)
        for it, scores in zip(best, losses, strict=True)
        if it is not None
    ]


def bits_of(predictions: tuple[Numbers, NDArray[np.float64]]) -> float:
    """Return the mean bits a label of the examples; rows without a label do not count."""
    bits = predictions[1]
    return float(np.nanmean(bits))


def predict(
    features: Features, solutions: Sequence[Solution], labels: Sequence[Numbers]
) -> list[tuple[Numbers, NDArray[np.float64]]]:
    """Return what probes say, all of them in one pass over the states.

    Args:
        features: what they read, standardised as in training.
        solutions: the probes.
        labels: of the rows, for each probe; -1 where a row is no example  # each [example]

    Returns:
        for each probe the predicted classes and -log2 p(label), NaN at rows without a
        label  # each [example]
    """
    if not solutions:
        return []
    together = torch.cat([it.weights for it in solutions], 1)  # [feature + 1, column]
    widths = [it.weights.shape[1] for it in solutions]
    predicted: list[list[Numbers]] = [[] for _ in solutions]
    bits: list[list[NDArray[np.float64]]] = [[] for _ in solutions]
    start = 0
    with one_thread(), torch.no_grad():
        for block in features.blocks():
            rows = slice(start, start + len(block))
            start += len(block)
            logits = torch.addmm(together[-1], block, together[:-1])  # [example, column]
            for index, own in enumerate(logits.split(widths, 1)):
                gold = torch.from_numpy(labels[index][rows])  # [example]
                logs = own.double().log_softmax(1)  # [example, class]
                cost = -logs.gather(1, gold.clamp(min=0)[:, None]).squeeze(1) / np.log(2)
                bits[index].append(cost.masked_fill(gold < 0, float("nan")).numpy())
                predicted[index].append(own.argmax(1).numpy())
    return [
        (np.concatenate(one), np.concatenate(other))
        for one, other in zip(predicted, bits, strict=True)
    ]


def judged(
    predictions: tuple[Numbers, NDArray[np.float64]],
    labels: Numbers,
    sentences: Numbers,
    classes: int,
) -> Judged:
    """Join predictions with what they are judged by; rows without a label fall away."""
    there = labels >= 0  # [example]
    predicted, bits = predictions
    return Judged(labels[there], predicted[there], bits[there], sentences[there], classes)


def fit_reference(
    features: Features,
    labels: Numbers,
    classes: int,
    penalty: float,
    *,
    tolerance: float = 1e-6,
    iterations: int = 20_000,
) -> Solution:
    """Fit one probe with scikit-learn; every class must occur among the labels.

    Args:
        features: the training examples, standardised; held in memory whole.
        labels: -1 where a row is no example  # [example]
        classes: how many classes.
        penalty: as in `Problem`.
    """
    from sklearn.linear_model import LogisticRegression

    there = labels >= 0
    rows, gold = features.whole().astype(np.float64)[there], labels[there]
    strength = (2 if classes == 2 else 1) / penalty
    model = LogisticRegression(C=strength, tol=tolerance, max_iter=iterations).fit(rows, gold)
    weights, bias = model.coef_, model.intercept_  # [class or 1, feature], [class or 1]
    if classes == 2:
        weights = np.concatenate([-weights, weights]) / 2
        bias = np.concatenate([-bias, bias]) / 2
    together = np.column_stack([weights, bias]).T  # [feature + 1, class]
    gradient = _gradient(rows, gold, together, penalty)
    solution = torch.from_numpy(together).float()
    return Solution(solution, gradient, int(model.n_iter_.max()), gradient <= TOLERANCE)


def _gradient(
    rows: NDArray[np.float64], labels: Numbers, weights: NDArray[np.float64], penalty: float
) -> float:
    """Return the largest absolute entry of the gradient of the mean objective."""
    logits = torch.from_numpy(rows @ weights[:-1] + weights[-1])  # [example, class]
    residuals = logits.softmax(1).numpy()
    residuals[np.arange(len(labels)), labels] -= 1
    decay = penalty * np.concatenate([weights[:-1], np.zeros_like(weights[-1:])])
    sums = np.concatenate([rows.T @ residuals, residuals.sum(0, keepdims=True)]) + decay
    return float(np.abs(sums).max() / len(labels))
