"""How accurate are Shapley values of tied orders, against as many independent ones?

    python benchmarks/shapley.py RUN --sentences 16 --groups 40

Groups of eight tied orders are drawn (`probe/shapley.py`), and what each head adds in every
order is kept, for the mean over the sentences and for single ones. The variance of the mean of
one order, of an order and its reverse, and of all eight, over groups, is set against what it
would be for as many independent orders. Summed over heads; the interval is a bootstrap over
groups. What the choice of sentences adds to the error stands beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from headcount.analyses.pipeline import Pipeline, open_run
from headcount.probe.shapley import draw_orders, gains_by_order

Array = NDArray[np.float64]
TIED = 8


def main() -> None:
    """Draw groups of orders and print how far their means vary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--sentences", type=int, default=16)
    parser.add_argument("--groups", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    pipeline = Pipeline(open_run(given.run), torch.device("cpu"))
    translator, data = pipeline.translator, pipeline.corpus.valid.head(given.sentences)
    [batch] = translator.batches(data.source, data.target, tokens=10**6)
    tokens = batch.labels.real.sum(1).double()  # [sentence]
    generator = torch.Generator().manual_seed(given.seed)
    drawn = []
    for _ in range(given.groups):
        orders = draw_orders(len(translator.layout), TIED, generator, tied=True)
        drawn.append(gains_by_order(translator, batch, orders))  # [order, head, sentence]
    values = torch.stack(drawn).numpy()  # [group, order, head, sentence]
    text = values.sum(3, keepdims=True) / float(tokens.sum())  # [group, order, head, 1]
    alone = values / tokens.numpy()  # [group, order, head, sentence]
    print(
        f"{given.run}: {len(translator.layout)} heads, {len(data)} sentences, {given.groups} groups"
    )
    random = np.random.default_rng(given.seed)
    for what, found in (("mean over the sentences", text), ("single sentences", alone)):
        for together in (2, TIED):
            print(f"{what}, {together} tied orders: {report(found, together, random)}")
    by_sentence = alone.mean((0, 1)).var(-1, ddof=1).sum() / len(data)
    by_order = variance(text, 1)
    print(
        f"standard error, root of the sum over heads: of the choice of {len(data)} sentences "
        f"{by_sentence**0.5:.4f} nats a token; of 25 independent orders "
        f"{(by_order / 25) ** 0.5:.4f}, of 8 tied ones {variance(text, TIED) ** 0.5:.4f}"
    )


def variance(values: Array, together: int) -> float:
    """Return the variance over groups of the mean of the first orders, summed over heads.

    One order is as good as another, so for a single one it is the mean over all of them.

    Args:
        values: [group, order, head, sentence]
    """
    if together == 1:
        return float(values.var(0, ddof=1).mean((0, 2)).sum())
    return float(values[:, :together].mean(1).var(0, ddof=1).mean(1).sum())


def report(values: Array, together: int, random: np.random.Generator) -> str:
    """Say how large the variance is against as many independent orders, and what that is worth."""

    def ratio(of: Array) -> float:
        return variance(of, together) * together / variance(of, 1)

    groups = len(values)
    drawn = [ratio(values[random.integers(0, groups, groups)]) for _ in range(1000)]
    low, high = np.percentile(drawn, (2.5, 97.5))
    return (
        f"variance {ratio(values):.3f} [{low:.3f}, {high:.3f}] times that of as many "
        f"independent ones, so they are worth {together / ratio(values):.0f} "
        f"[{together / high:.0f}, {together / low:.0f}] of them"
    )


if __name__ == "__main__":
    main()
