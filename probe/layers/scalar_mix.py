"""Scalar mix: which layers a probe wants when it may have all of them.

    h_i = gamma sum_l s_l h_i^(l),    s = softmax(a)

(Peters et al. 2018; Tenney et al. 2019), a and the probe learned together. The layers are
standardised, so that a layer of large numbers does not win by them; gamma is not learned but
brings the mix back to mean square 1. A free gamma would undo the penalty on the probe's
weights (large gamma, small weights), and with a fixed one a mix of unlike layers, which is
smaller than each, would be punished for it.

- centre of gravity: sum_l l s_l. It is close to the middle whenever the mix is close to
  uniform, so it is never shown without KL(s || uniform) in bits: 0 means that the mix says
  nothing about layers.
- cumulative mixes: the score S(l) of a mix of layers 0 ... l. Its differences delta_l tell where
  the information first appears:

      expected layer = sum_{l>=1} l delta_l / sum_{l>=1} delta_l.

  A negative delta (a mix that got worse) is left as it is. If the interval of sum delta_l
  includes 0 there is nothing to be expected anywhere, and the number is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import minimize
from torch import Tensor

from .examples import Numbers
from .features import Features
from .measures import Array
from .stacked import ABSENT, Problem, Solution, one_thread, solve

ITERATIONS = 300


@dataclass(frozen=True)
class Mix:
    """A fitted mix and its probe.

    Args:
        shares: s, sums to 1  # [layer]
        gamma: brings the mix to mean square 1.
        solution: the probe on the mix; its gradient includes that of the shares.
    """

    shares: NDArray[np.float64]
    gamma: float
    solution: Solution

    @property
    def centre(self) -> float:
        """Return the centre of gravity, in layers."""
        return float(np.arange(len(self.shares)) @ self.shares)

    @property
    def divergence(self) -> float:
        """Return KL(s || uniform) in bits, 0 to log2 of the number of layers."""
        positive = self.shares[self.shares > 0]
        return float(np.log2(len(self.shares)) + (positive * np.log2(positive)).sum())

    def of(self, layers: Sequence[Features]) -> Features:
        """Return the mix of other examples, standardised alike; held in memory, one width."""
        shares = self.gamma * self.shares
        blocks = [
            sum_of(shares, together).numpy()
            for together in zip(*[it.blocks() for it in layers], strict=True)
        ]
        return Features.of(np.concatenate(blocks))


def sum_of(shares: NDArray[np.float64], together: Sequence[Tensor]) -> Tensor:
    """Return a weighted sum of blocks of the layers  # [example, feature]."""
    mixed = torch.zeros_like(together[0])
    for share, block in zip(shares, together, strict=True):
        mixed.add_(block, alpha=float(share))
    return mixed


def fit_mix(
    layers: Sequence[Features],
    labels: Numbers,
    classes: int,
    penalty: float,
    *,
    tolerance: float = 1e-4,
    iterations: int = ITERATIONS,
) -> Mix:
    """Fit shares and probe together, starting from the best probe on the uniform mix.

    Args:
        layers: the training examples on each layer, each standardised.
        labels: -1 where a row is no example  # [example]
        classes: how many classes.
        penalty: against the sum of the losses, as in `Problem`.
    """
    chosen = np.flatnonzero(labels != ABSENT)
    objective = _Objective([it.select(chosen) for it in layers], labels[chosen], classes, penalty)
    uniform = objective.mix_of(np.zeros(len(layers)))
    start = solve(uniform.of(objective.layers), [Problem(labels[chosen], classes, penalty)])[0]
    if len(layers) == 1:
        return Mix(uniform.shares, uniform.gamma, start)
    first = np.concatenate([np.zeros(len(layers)), start.weights.double().numpy().ravel()])
    with one_thread(), torch.no_grad():
        found = minimize(
            objective,
            first,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": iterations, "gtol": tolerance, "ftol": 0.0, "maxcor": 20},
        )
    scores, weights = objective.split(found.x)
    mix = objective.mix_of(scores)
    gradient = float(np.abs(found.jac).max())
    solution = Solution(weights, gradient, int(found.nit), gradient <= tolerance)
    return Mix(mix.shares, mix.gamma, solution)


class _Objective:
    """The penalised mean loss and its gradient in the shares' logits and the weights."""

    def __init__(
        self, layers: Sequence[Features], labels: Numbers, classes: int, penalty: float
    ) -> None:
        self.layers = list(layers)
        self.labels = torch.from_numpy(labels)
        self.classes = classes
        self.decay = penalty / len(labels)
        # How alike the layers are: <h^(l), h^(m)> / width, mean over examples.
        self.likeness = np.zeros((len(layers), len(layers)))
        for together in self._blocks():
            flat = torch.stack([block.flatten() for block in together])  # [layer, number]
            self.likeness += (flat @ flat.T).double().numpy()
        self.likeness /= len(labels) * layers[0].width

    def _blocks(self) -> zip[tuple[Tensor, ...]]:
        return zip(*[it.blocks() for it in self.layers], strict=True)

    def split(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], Tensor]:
        """Return the logits of the shares [layer] and the weights [feature + 1, class]."""
        count = len(self.layers)
        weights = torch.from_numpy(values[count:]).float().reshape(-1, self.classes)
        return values[:count], weights

    def mix_of(self, scores: NDArray[np.float64]) -> Mix:
        """Return the mix for logits of the shares, without a probe."""
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        gamma = float((shares @ self.likeness @ shares) ** -0.5)
        return Mix(shares, gamma, Solution(torch.zeros(0), 0.0, 0, False))

    def __call__(self, values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the objective and its gradient  # [] and [layer + weights]."""
        scores, weights = self.split(values)
        mix = self.mix_of(scores)
        shares, gamma = mix.shares, mix.gamma
        loss, start, size = 0.0, 0, len(self.labels)
        gradient = torch.zeros_like(weights)  # [feature + 1, class]
        pulls = np.zeros(len(shares))  # dloss/dmix . h^(l)  # [layer]
        for together in self._blocks():
            mixed = sum_of(gamma * shares, together)  # [example, feature]
            gold = self.labels[start : start + len(mixed), None]  # [example, 1]
            start += len(mixed)
            logs = torch.addmm(weights[-1], mixed, weights[:-1]).log_softmax(1)
            loss -= float(logs.gather(1, gold).double().sum()) / size
            residuals = logs.exp_().scatter_add_(1, gold, -torch.ones(gold.shape)) / size
            gradient[:-1] += mixed.T @ residuals
            gradient[-1] += residuals.sum(0)
            pull = residuals @ weights[:-1].T  # [example, feature]
            pulls += [float((pull * block).sum()) for block in together]
        loss += 0.5 * self.decay * float((weights[:-1].double() ** 2).sum())
        gradient[:-1] += self.decay * weights[:-1]
        # gamma depends on the shares: d gamma / d s = -gamma^3 (likeness s).
        by_share = gamma * pulls - gamma**3 * (self.likeness @ shares) * (shares @ pulls)
        by_score = shares * (by_share - shares @ by_share)
        return loss, np.concatenate([by_score, gradient.double().numpy().ravel()])


@dataclass(frozen=True)
class ExpectedLayer:
    """Where information first appears, or the refusal to say.

    Args:
        value: the expected layer; None when refused.
        interval: 95 % interval over the draws; None when refused.
        gain: sum of the differences, S(last) - S(0).
        gain_interval: 95 % interval; it includes 0 exactly when the rest is refused.
    """

    value: float | None
    interval: tuple[float, float] | None
    gain: float
    gain_interval: tuple[float, float]


def expected_layer(scores: Array, draws: Array) -> ExpectedLayer:
    """Return the expected layer of cumulative mixes (Tenney et al. 2019, eq. 3 and 4).

    Args:
        scores: of the mixes of layers 0 ... l  # [layer]
        draws: the same scores on resampled sentences  # [resample, layer]
    """
    gains = draws[:, -1] - draws[:, 0]  # [resample]
    bounds = _interval(gains)
    gain = float(scores[-1] - scores[0])
    if bounds[0] <= 0 <= bounds[1]:
        return ExpectedLayer(None, None, gain, bounds)
    centres = np.diff(draws, axis=1) @ np.arange(1, len(scores))  # [resample]
    value = float(np.diff(scores) @ np.arange(1, len(scores)) / gain)
    with np.errstate(divide="ignore", invalid="ignore"):
        interval = _interval(centres / gains)
    return ExpectedLayer(value, interval, gain, bounds)


def _interval(values: Array) -> tuple[float, float]:
    low, high = np.percentile(values, (2.5, 97.5))
    return float(low), float(high)
