"""All roles of a model's heads, in units of a forward pass with fused attention.

    python benchmarks/roles.py RUN --treebank en_pud.conllu --target-treebank de_pud.conllu

One thread, processor seconds, so that what else the machine does counts for little. The pass
is teacher-forced losses of the same sentence pairs in the same batches. The roles are those of
`headcount roles RUN` on the model itself: reading and joining the annotation to pieces, all
questions, offsets, sinks, blocks, shapes, all tests and intervals, and which heads are alike;
networks with random weights (the whole of looking again, each) and what reads another Result
are left out. Memory is the peak of each beyond what was in use before it; it is measured for a
quarter of the sentences and for all of them, each in a process of its own. No map outlives its
batch. What grows with the sentences is what intervals are drawn from, counts of each, and which
pieces are which words: of 72 heads some 30 KiB a sentence.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from headcount.analyses.bench.memory import rise
from headcount.analyses.pipeline import Pipeline, open_run
from headcount.analyses.result import Result
from headcount.analyses.role_text import RoleText, treebank_text
from headcount.analyses.roles import RolesSettings, roles
from headcount.models.translator import Translator
from headcount.probe.annotations import read_conllu


def main() -> None:
    """Measure the pass and the roles, and print their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--treebank", type=Path, required=True)
    parser.add_argument("--target-treebank", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        measure(given)
        return
    for sentences in (given.sentences // 4, given.sentences):
        words = [sys.executable, __file__, str(given.run), "--alone"]
        words += ["--treebank", str(given.treebank), "--sentences", str(sentences)]
        subprocess.run([*words, "--target-treebank", str(given.target_treebank)], check=True)


def measure(given: argparse.Namespace) -> None:
    """Measure one number of sentences in this process."""
    torch.set_num_threads(1)
    pipeline = Pipeline(open_run(given.run), torch.device("cpu"))
    translator, corpus = pipeline.translator, pipeline.corpus
    both = (read_conllu(given.treebank), read_conllu(given.target_treebank))
    text = treebank_text(*both, translator, given.sentences)
    forward(translator, text.head(20))  # what is slow the first time
    settings = RolesSettings(sentences=given.sentences, random_networks=0)
    one_pass, fused = measured(lambda: forward(translator, text))
    found: list[Result] = []
    look = partial(roles, translator, corpus, settings, 0, text=text)
    all_roles, most = measured(lambda: found.append(look()))
    print(
        f"{len(text.pairs)} sentences, {len(translator.layout)} heads: fused pass "
        f"{one_pass:.1f} s, all roles {all_roles:.1f} s = {all_roles / one_pass:.2f} passes; peak "
        f"memory above the start: pass {fused:.0f} MiB, roles {most:.0f} MiB; "
        f"{len(found[0].tables['arcs'].rows)} answers tested"
    )


def forward(translator: Translator, text: RoleText) -> None:
    """Run the model once over all sentences, without looking inside."""
    pairs = [(pair.source.text, pair.target.text) for pair in text.pairs]
    with torch.no_grad():
        for batch in translator.batches(*map(list, zip(*pairs, strict=True))):
            translator.token_losses(batch)


def measured(work: Callable[[], None]) -> tuple[float, float]:
    """Return the processor seconds of some work, and the MiB that it takes at its peak."""
    start = time.process_time()
    memory = rise(work)
    return time.process_time() - start, memory / 2**20


if __name__ == "__main__":
    main()
