"""Are the models of a curve decoded faster one by one, or side by side?

    OMP_NUM_THREADS=1 python benchmarks/points.py runs/miniature --sentences 4 40 300 --beams 1 5

Seven models, from which more and more heads of a random order are gone, translate the same
sentences: each by itself with the heads cut out of its weights, and all of them in one search
of the whole model, with a row of closed gates for every sentence of each. Printed is the
processor time of both, the smallest of the rounds, and how many translations are equal.
"""

from __future__ import annotations

import argparse
import time
from itertools import chain
from pathlib import Path

import numpy as np

from headcount.analyses.pipeline import Pipeline, open_run
from headcount.analyses.points import translations_of_masks
from headcount.analyses.removal import orders_by_chance
from headcount.models.devices import resolve_device
from headcount.models.translator import SearchSettings

SHARES = (7 / 8, 3 / 4, 5 / 8, 1 / 2, 3 / 8, 1 / 4, 1 / 8)


def main() -> None:
    """Print one line a search and number of sentences."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--sentences", type=int, nargs="+", default=[4, 40, 300])
    parser.add_argument("--beams", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    pipeline = Pipeline(open_run(given.run), resolve_device("cpu"))
    translator, test = pipeline.translator, pipeline.corpus.test
    layout = translator.layout
    [order] = orders_by_chance(layout, 1, np.random.default_rng(0))
    sets = [order.removed(round(share * len(layout))) for share in SHARES]
    for beam in given.beams:
        search = SearchSettings(beam=beam)
        for count in given.sentences:
            source = test.head(count).source
            times = []
            for _ in range(given.rounds):
                clock = time.process_time()
                cut = [translator.without(it).translate(source, search) for it in sets]
                apart = time.process_time()
                masked = translations_of_masks(translator, sets, source, search)
                times.append((apart - clock, time.process_time() - apart))
            said = [it.text for one in cut for it in one]
            equal = sum(a == b for a, b in zip(said, chain(*masked), strict=True))
            apart, together = (min(it) for it in zip(*times, strict=True))
            print(
                f"beam {beam}, {count:4} sentences: one by one {apart:6.2f} s, side by side "
                f"{together:6.2f} s, {equal} of {len(sets) * len(source)} translations equal"
            )


if __name__ == "__main__":
    main()
