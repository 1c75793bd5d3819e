"""One layer probed by the stacked solver, against one scikit-learn fit for every probe.

    OMP_NUM_THREADS=1 python benchmarks/layers.py runs/small --treebank en_ewt-ud-train.conllu.gz \\
        --layer supersenses=streusle.ud_train.derived.tsv --task upos --task supersense

Tasks about words and pairs. The same examples, penalties and tolerance for both, one thread
each, processor seconds. The whole survey of a layer is timed: choosing the penalty, the chosen
fits, control tasks and the online code, with reading, standardising and judging. scikit-learn is
timed on the same fits alone, in float32: each task with each penalty that was tried, each
control task, and each prefix of the online code. Nothing is reckoned from anything else.

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
from sklearn.linear_model import LogisticRegression

from headcount.analyses.layer_asking import captured, questions_of
from headcount.analyses.layer_text import treebank_text
from headcount.analyses.layers import LayersSettings
from headcount.commands.annotation_options import read_treebank
from headcount.models.transformer import TransformerTranslator
from headcount.probe.layers.control import control_labels
from headcount.probe.layers.examples import PARTS, Examples, Split
from headcount.probe.layers.features import Features
from headcount.probe.layers.mdl import block_ends
from headcount.probe.layers.stacked import one_thread
from headcount.probe.layers.survey import Finding, SurveySettings, probe_layer

Returned = TypeVar("Returned")


def timed(work: Callable[[], Returned]) -> tuple[float, Returned]:
    """Return processor seconds and what was made."""
    start = time.process_time()
    made = work()
    return time.process_time() - start, made


def fitted(
    rows: np.ndarray, labels: np.ndarray, penalty: float, settings: SurveySettings
) -> tuple[float, LogisticRegression | None]:
    """Fit one probe with scikit-learn; None where all labels are one."""
    kinds = len(np.unique(labels))
    if kinds < 2:
        return 0.0, None
    strength = (2 if kinds == 2 else 1) / penalty
    model = LogisticRegression(C=strength, tol=settings.tolerance, max_iter=settings.iterations)
    return timed(lambda: model.fit(rows, labels))


def compare(
    states: Features, task: Examples, found: Finding, split: Split, settings: SurveySettings
) -> tuple[float, str]:
    """Fit all probes of a task with scikit-learn; return seconds and a line to print."""
    parts = [split.examples(task.sentences, part) for part in PARTS]
    known, asked = (states.select(parts[part]).whole() for part in (0, 2))  # [example, feature]
    gold, test = task.labels[parts[0]], task.labels[parts[2]]
    tried = {it: fitted(known, gold, it, settings) for it in found.chosen.validation}
    generator = np.random.default_rng(0)
    controls = [
        fitted(known, draw[parts[0]], found.chosen.penalty, settings)[0]
        for draw in control_labels(task, split, generator, settings.controls)
    ]
    kinds, place = np.unique(task.sentences[parts[0]], return_inverse=True)
    ranks = generator.permutation(len(kinds))[place]  # [example]
    codes = [
        fitted(known[ranks < end], gold[ranks < end], settings.code_penalty, settings)[0]
        for end in block_ends(len(kinds))[:-1]
    ]
    seconds = [sum(it for it, _ in tried.values()), sum(controls), sum(codes)]
    model = tried[found.chosen.penalty][1]
    assert model is not None
    logs = model.predict_log_proba(asked)  # [example, class]
    right = (model.classes_[logs.argmax(1)] == test).mean()
    bits = -logs[np.arange(len(test)), np.searchsorted(model.classes_, test)].mean() / np.log(2)
    names = ("penalties", "controls", "code")
    each = ", ".join(f"{name} {it:.1f} s" for name, it in zip(names, seconds, strict=True))
    return sum(seconds), (
        f"{task.task:22} {each}; accuracy {right:.4f} and {found.test.accuracy:.4f}, "
        f"log-loss {bits:.4f} and {found.test.log_loss:.4f} bits"
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
            seconds, line = compare(matrix.standardised(train), task, finding, side.split, survey)
            theirs += seconds
            print(line, flush=True)
    print(f"scikit-learn {theirs:.1f} s, {theirs / ours:.1f} times the stacked solver")


if __name__ == "__main__":
    main()
