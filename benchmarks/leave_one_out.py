"""Exact leave-one-out of every head, in units of one forward pass a head.

    python benchmarks/leave_one_out.py [--batches 1] [--rounds 3]

1.00 is what 72 plain evaluation passes and one more cost; below that, work was shared
between heads. Preset `small`'s shape with random weights; the plain pass and leave-one-out
alternate in one process, and the medians are compared.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from training import VOCABULARY, batches

from headcount.models.batch import Batch
from headcount.models.data.vocabulary import Vocabulary
from headcount.models.network import Network, NetworkSettings
from headcount.models.transformer import TransformerTranslator
from headcount.probe.leave_one_out import losses_without_each, sentence_sums


def main() -> None:
    """Print seconds of both and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=1, help="of 4,096 padded target tokens")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    settings = NetworkSettings(width=256, feed_forward_width=1024)
    network = Network(settings, settings.full_layout(), VOCABULARY, VOCABULARY)
    network.initialise(torch.Generator().manual_seed(0)).eval().requires_grad_(False)
    # Batches are made of ids here, so the vocabulary is never asked.
    vocabulary = Vocabulary.train(["a"], "character", 10)
    translator = TransformerTranslator(network, vocabulary, vocabulary)
    made = batches(arguments.batches)
    plain, each = [], []
    for _ in range(arguments.rounds):
        plain.append(_seconds(lambda: [_plain_pass(translator, batch) for batch in made]))
        each.append(_seconds(lambda: [losses_without_each(translator, batch) for batch in made]))
    heads = len(translator.layout)
    one, all_heads = statistics.median(plain), statistics.median(each)
    print(f"one forward pass   {one:8.2f} s")
    print(f"leave-one-out      {all_heads:8.2f} s for {heads} heads")
    print(f"per head           {all_heads / (heads + 1) / one:8.2f} forward passes")


def _plain_pass(translator: TransformerTranslator, batch: Batch) -> None:
    with torch.no_grad():
        sentence_sums(translator.token_losses(batch))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
