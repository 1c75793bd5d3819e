"""`headcount train`, alone and shared by two processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headcount import cli
from headcount.analyses.result import Result

MORE = ["--set=training.micro_batches=2", "--set=network.dropout=0"]


def test_training_alone_and_again(run_words, tmp_path: Path, capsys):
    words = ["train", *run_words(tmp_path / "run")[1:], *MORE]
    assert cli.run(words) == 0
    assert "Validation NLL" in capsys.readouterr().out
    before = (tmp_path / "run" / "model" / "model.json").stat().st_mtime_ns
    assert cli.run(words) == 0
    assert (tmp_path / "run" / "model" / "model.json").stat().st_mtime_ns == before


@pytest.mark.slow
def test_torchrun_trains_the_same_model(run_words, tmp_path: Path):
    assert cli.run(["train", *run_words(tmp_path / "one")[1:], *MORE]) == 0
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    words = ["-m", "headcount", "train", *run_words(tmp_path / "two")[1:], *MORE]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for _ in range(2):  # the second time there is nothing to do
        subprocess.run([sys.executable, *launcher, *words], env=environment, check=True)
    nll = [
        Result.load(tmp_path / name / "results" / "train").tables["outcome"].rows["valid_nll"][0]
        for name in ("one", "two")
    ]
    assert nll[0] == pytest.approx(nll[1], abs=1e-4)
