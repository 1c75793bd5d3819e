"""One layer probed by the stacked solver, against one scikit-learn fit for every probe.

    python benchmarks/layers.py runs/small --treebank en_ewt-ud-train.conllu.gz \\
        --layer supersenses=streusle.ud_train.derived.tsv --task upos --task supersense

Tasks about words and pairs. The same examples, penalties and tolerance for both, one thread
each, processor seconds. The whole survey of a layer is timed: choosing the penalty, the chosen
fits, control tasks and the online code. scikit-learn fits the chosen probe of every task and
one control task; what the other fits would take is reckoned from these: as many penalties as
the path tried, as many control draws, and the sum of the code's blocks.

Printed beside the times: how far the two are apart in accuracy and log-loss.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np

from headcount.analyses.layer_asking import captured, questions_of
from headcount.analyses.layer_text import treebank_text
from headcount.analyses.layers import LayersSettings
from headcount.commands.annotation_options import read_treebank
from headcount.models.transformer import TransformerTranslator
from headcount.probe.layers.control import control_labels
from headcount.probe.layers.examples import PARTS, Examples, Split
from headcount.probe.layers.features import Features
from headcount.probe.layers.logistic import fit_reference, judged, predict
from headcount.probe.layers.mdl import SHARES
from headcount.probe.layers.stacked import one_thread
from headcount.probe.layers.survey import Finding, SurveySettings, probe_layer

Returned = TypeVar("Returned")
CODE = sum(SHARES[:-1])
"""Examples that the blocks of the online code are fitted on, as a share of all."""


def timed(work: Callable[[], Returned]) -> tuple[float, Returned]:
    """Return processor seconds and what was made."""
    start = time.process_time()
    made = work()
    return time.process_time() - start, made


def compare(states: Features, task: Examples, found: Finding, split: Split) -> tuple[float, str]:
    """Fit a task and one control task with scikit-learn; return seconds and a line to print."""
    parts = [split.examples(task.sentences, part) for part in PARTS]
    known, asked = (states.select(parts[part]) for part in (0, 2))
    size, penalty = len(task.classes), found.chosen.penalty
    gold = task.labels

    def fit(labels: np.ndarray) -> object:
        # Unpenalised classes that training lacks are no business of scikit-learn.
        _, renamed = np.unique(labels, return_inverse=True)
        return fit_reference(known, renamed, int(renamed.max()) + 1, penalty, tolerance=1e-4)

    own, probe = timed(lambda: fit(gold[parts[0]]))
    draw = control_labels(task, split, np.random.default_rng(0), 1)[0]
    control, _ = timed(lambda: fit(draw[parts[0]]))
    said = predict(asked, [probe], [gold[parts[2]]])[0]
    theirs = judged(said, gold[parts[2]], task.sentences[parts[2]], size)
    fits = len(found.chosen.validation) + CODE
    total = own * fits + control * len(found.control)
    return total, (
        f"{task.task:22} one fit {own:6.1f} s, control {control:6.1f} s, all {total:7.1f} s; "
        f"accuracy {theirs.accuracy:.4f} and {found.test.accuracy:.4f}, "
        f"log-loss {theirs.log_loss:.4f} and {found.test.log_loss:.4f} bits"
    )


def main() -> None:
    """Compare on one layer of one model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--treebank", type=Path, required=True)
    parser.add_argument("--layer", action="append", default=[])
    parser.add_argument("--task", action="append", default=[])
    parser.add_argument("--words", type=int, default=30_000)
    parser.add_argument("--unit", type=int, default=2, help="which layer is probed")
    given = parser.parse_args()
    translator = TransformerTranslator.load(given.run / "model")
    text = treebank_text(read_treebank(given.treebank, given.layer), 0, words=given.words)
    settings = LayersSettings(tasks=tuple(given.task), altered=0, sides=("encoder",))
    side = text.side("encoder", 0, 0)
    with TemporaryDirectory() as folder, one_thread():
        store = captured(translator, side, settings, Path(folder), "states")
        questions, _ = questions_of(side, store, text.name, settings, [])
        survey = SurveySettings()
        ours, found = timed(
            lambda: probe_layer(store, given.unit, questions, side.split, survey, 0)
        )
        print(f"{text.described()}, layer {given.unit}: stacked solver {ours:.1f} s", flush=True)
        theirs = 0.0
        for task, finding in zip(questions, found, strict=True):
            matrix = Features(store.layer(given.unit), task.rows, task.partners)
            train = side.split.examples(task.sentences, "train")
            seconds, line = compare(matrix.standardised(train), task, finding, side.split)
            theirs += seconds
            print(line, flush=True)
    print(f"scikit-learn {theirs:.1f} s, {theirs / ours:.1f} times the stacked solver")


if __name__ == "__main__":
    main()
