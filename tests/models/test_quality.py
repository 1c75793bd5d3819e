"""Quality against sacrebleu's own command line and its own paired bootstrap."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.significance import PairedTest, _bootstrap_resample

from headcount.models.errors import DataError, UsageError
from headcount.models.quality import (
    bleu,
    chrf,
    measure,
    paired,
    quality,
    resampled_sums,
    sentence_statistics,
)

WORDS = ["Der", "Hund,", "die", "Katze;", "(sehr)", "groß", "-", "läuft", "3.14", "%", "an!"]


def sentences(count: int, seed: int) -> list[str]:
    """Return random sentences of 3 to 20 words."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randint(3, 20))) for _ in range(count)]


def noisy(references: list[str], share: float, seed: int) -> list[str]:
    """Return the sentences with a share of their words replaced."""
    draw = random.Random(seed)
    return [
        " ".join(draw.choice(WORDS) if draw.random() < share else word for word in line.split())
        for line in references
    ]


@pytest.fixture(scope="module")
def corpus() -> tuple[list[str], list[str], list[str]]:
    references = sentences(200, 1)
    return references, noisy(references, 0.3, 2), noisy(references, 0.4, 3)


def test_scores_equal_the_command_line(corpus, tmp_path):
    references, hypotheses, _ = corpus
    (tmp_path / "references").write_text("\n".join(references) + "\n", encoding="utf-8")
    text = "\n".join(hypotheses) + "\n"
    measures = ["-m", "bleu", "chrf", "ter"]
    command = [
        sys.executable,
        "-m",
        "sacrebleu",
        str(tmp_path / "references"),
        *measures,
        "-w",
        "8",
    ]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    for name, theirs in zip(("bleu", "chrf", "ter"), json.loads(done.stdout), strict=True):
        ours = quality(name, hypotheses, references, np.random.default_rng(0), resamples=10)
        assert ours.score == pytest.approx(theirs["score"], abs=1e-7)
        assert ours.signature == theirs["signature"]


@pytest.mark.parametrize(("name", "metric"), [("bleu", BLEU), ("chrf", CHRF), ("ter", TER)])
def test_resampled_scores_equal_sacrebleus(corpus, name, metric, monkeypatch):
    references, hypotheses, _ = corpus
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    statistics = sentence_statistics(name, hypotheses, references)
    _, theirs = _bootstrap_resample(statistics.tolist(), metric(references=[references]), 200)
    (sums,) = resampled_sums([statistics], np.random.default_rng(12345), 200)
    ours = measure[name].scores(sums)
    assert ours == pytest.approx([score.score for score in theirs], abs=1e-4)
    found = quality(name, hypotheses, references, np.random.default_rng(12345), resamples=200)
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(ours, [2.5, 97.5])))
    assert found.low < found.score < found.high
    assert found.n == 200


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
@pytest.mark.parametrize(
    "hypotheses",
    [["", ""], ["Katze", "x"], ["a b c", ""], ["der Hund schläft", "ein Haus"], ["q q q q", "z"]],
)
def test_scores_of_odd_corpora_equal_sacrebleus(name, hypotheses):
    references = ["der Hund schläft dort", "ein Haus"]
    metric = {"bleu": BLEU, "chrf": CHRF, "ter": TER}[name]()
    theirs = metric.corpus_score(hypotheses, [references]).score
    ours = quality(name, hypotheses, references, np.random.default_rng(0), resamples=5)
    assert ours.score == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(("name", "metric"), [("bleu", BLEU), ("chrf", CHRF)])
@pytest.mark.parametrize("worse", [0.32, 0.4])
def test_paired_bootstrap_equals_sacrebleus(corpus, name, metric, worse, monkeypatch):
    references, better, _ = corpus
    system = noisy(references, worse, 5)
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    systems = [("baseline", better), ("system", system)]
    _, table = PairedTest(systems, {"m": metric()}, [references], "bs", 500)()
    (theirs,) = (row for title, row in table.items() if title != "System")
    ours = paired(name, better, system, references, np.random.default_rng(12345), resamples=500)
    assert ours.p == pytest.approx(theirs[1].p_value, abs=1e-9)
    assert ours.difference == pytest.approx(theirs[1].score - theirs[0].score, abs=1e-9)
    assert ours.low < ours.difference < ours.high


def test_a_system_does_not_differ_from_itself(corpus):
    references, system, _ = corpus
    same = paired("bleu", system, system, references, np.random.default_rng(0))
    assert (same.difference, same.low, same.high) == (0, 0, 0)
    assert same.p == pytest.approx(1 / 1001)


def test_hand_computed_bleu_and_chrf():
    perfect = bleu(["a b c d"], ["a b c d"], np.random.default_rng(0), resamples=3)
    assert (perfect.score, perfect.low, perfect.high) == pytest.approx((100, 100, 100))
    # 3/4, 2/3, 1/2, smoothed 1/2 over 1; lengths equal.
    close = bleu(["a b c d"], ["a b c e"], np.random.default_rng(0), resamples=3)
    assert close.score == pytest.approx(100 * (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** 0.25)
    # Orders 1 and 2: 1/2 and 0 both ways; mean 1/4.
    half = chrf(["ab"], ["ac"], np.random.default_rng(0), resamples=3)
    assert half.score == pytest.approx(25)


def test_draws_in_blocks_are_the_same_draws(corpus, monkeypatch):
    references, hypotheses, _ = corpus
    statistics = sentence_statistics("bleu", hypotheses, references)
    (whole,) = resampled_sums([statistics], np.random.default_rng(3), 50)
    monkeypatch.setattr("headcount.models.quality._BLOCK", 700)
    (blocks,) = resampled_sums([statistics], np.random.default_rng(3), 50)
    assert np.array_equal(whole, blocks)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    references = sentences(4000, 7)
    hypotheses = noisy(references, 0.35, 8)
    truth = bleu(hypotheses, references, np.random.default_rng(0), resamples=2).score
    held = 0
    for start in range(0, 4000, 100):
        part = slice(start, start + 100)
        found = bleu(
            hypotheses[part], references[part], np.random.default_rng(start), resamples=300
        )
        held += found.low <= truth <= found.high
    assert held >= 33  # 95 % of 40 is 38; below 33 has probability 0.003


def test_bad_input_is_refused():
    generator = np.random.default_rng(0)
    with pytest.raises(DataError, match="no translations"):
        bleu([], [], generator)
    with pytest.raises(DataError, match="2 translations cannot be scored against 1"):
        bleu(["a", "b"], ["a"], generator)
    with pytest.raises(UsageError, match="did you mean 'bleu'"):
        quality("blue", ["a"], ["a"], generator)
