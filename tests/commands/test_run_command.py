"""`headcount run`: the whole way, going on, and what it refuses."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from headcount import cli
from headcount.analyses import pipeline, points
from headcount.analyses.result import Result
from headcount.commands.corpus_options import with_whole_paths
from headcount.commands.run_options import assigned, read_config
from headcount.models.errors import UsageError


def stages_done(folder):
    record = json.loads((folder / "run.json").read_text())["stages"]
    return {name: stage["started"] for name, stage in record.items() if stage["state"] == "done"}


def test_everything_is_there(finished):
    stages = ["train", "evaluate", "score", "prune", "relevance", "attention_examples", "roles"]
    stages += ["reliability", "report"]
    assert list(stages_done(finished)) == stages
    for name in ("config.toml", "report.html", "log.txt", "log.jsonl", "model/model.json"):
        assert (finished / name).stat().st_size > 0
    names = {path.parent.name for path in finished.glob("results/*/result.json")}
    assert names == set(stages) - {"report"}
    assert not list(finished.glob("scratch/*"))


def test_the_settings_are_resolved_and_written(finished):
    config = tomllib.loads((finished / "config.toml").read_text())
    assert config["training"]["updates"] == 30
    assert config["network"]["width"] == 32
    assert config["corpus"]["name"] == "files"


def test_the_training_curve_has_every_validation(finished):
    curve = Result.load(finished / "results" / "train").tables["curve"].rows
    assert list(curve["step"]) == list(range(1, 31))
    assert list(curve["step"][curve["valid_nll"].notna()]) == [10, 20, 30]
    assert curve["train_loss"].iloc[-1] < curve["train_loss"].iloc[0]


def test_all_results_are_of_the_trained_model(finished):
    results = [
        Result.load(finished / "results" / name) for name in pipeline.RESULTS if name != "layers"
    ]
    assert len({result.provenance.model for result in results}) == 1


def test_a_second_time_does_nothing_and_says_the_same(finished, capsys):
    before = stages_done(finished)
    assert cli.run(["run", "-o", str(finished)]) == 0
    assert stages_done(finished) == before
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("BLEU ")
    assert lines[-1] == f"The page is {finished / 'report.html'}"


def test_json_names_the_page(finished, capsys):
    assert cli.run(["run", "-o", str(finished), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["page"] == str(finished / "report.html")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "training.updates=31"], "updates"),
        (["--set", "training.update=31"], "did you mean 'updates'"),
        (["--set", "updates"], "write KEY=VALUE"),
        (["--config", "missing.toml"], "no such file"),
        (["--seed", "4"], "seed"),
        (["--device", "cuda:99"], "cannot be used"),
        (["--preset", "nan"], "nano"),
    ],
)
def test_wrong_or_other_settings_are_refused(finished, capsys, words, message):
    assert cli.run(["run", "-o", str(finished), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--corpus", "miniatur"], 2, "did you mean 'miniature'"),
        (["--train", "no.en", "no.de", "--valid", "a", "b", "--test", "c", "d"], 1, "no such file"),
    ],
)
def test_a_misspelt_corpus_leaves_no_folder(tmp_path, capsys, words, code, message):
    assert cli.run(["run", "-o", str(tmp_path / "run"), *words]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("network.heads=7", "width 128 cannot be divided by 7 heads"),
        ("network.width=0", "greater than or equal to 1"),
        ("network.positions=sinusoid", "did you mean 'sinusoidal'"),
        ("network.initialisation=xaver", "did you mean 'xavier'"),
        ("vocabulary.joint=false", "needs a joint vocabulary"),
        ("vocabulary.kind=bpee", "did you mean 'bpe'"),
        ("vocabulary.size=259", "too small for kind 'bpe': give at least 260"),
        ("seed=4294967296", "seed: Input should be less than 4294967296"),
        ("training.learning_rate=inf", "learning_rate: Input should be a finite number"),
        ("training.schedule=constnat", "did you mean 'constant'"),
        ("score.metrics=['confidenc']", "did you mean 'confidence'"),
        ("reliability.metrics=['confidenc']", "did you mean 'confidence'"),
        ("prune.metrics=['shapley']", "which score.metrics does not measure"),
        ("evaluate.resamples=0", "resamples: Input should be greater than or equal to 1"),
        ("evaluate.beams=[]", "beams: Tuple should have at least 1 item"),
        ("evaluate.search.min_tokens=-1", "greater than or equal to 0"),
        ("evaluate.search.length_penalty=1e30", "less than or equal to 10"),
        ("evaluate.sentences=-5", "sentences: Input should be greater than or equal to 1"),
        ("score.sentences=0", "sentences: Input should be greater than or equal to 1"),
        ("prune.shares=[2]", "Input should be less than or equal to 1"),
        ("prune.proof_sentences=0", "Input should be greater than or equal to 1"),
        ("roles.sentences=-1", "sentences: Input should be greater than or equal to 1"),
        ("relevance.sentences=-1", "sentences: Input should be greater than or equal to 1"),
        ("training.betas=[2, 2]", "Input should be less than 1"),
        ("corpus.memory_bytes=-1", "Input should be greater than or equal to 0"),
    ],
)
def test_settings_that_cannot_work_leave_no_folder(tmp_path, capsys, setting, message):
    assert cli.run(["run", "-o", str(tmp_path / "run"), "--set", setting]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_merge_dropout_without_merges_leaves_no_folder(tmp_path, capsys):
    words = ["run", "-o", str(tmp_path / "run"), "--set", "training.merge_dropout=0.1"]
    assert cli.run([*words, "--set", "vocabulary.kind=word"]) == 2
    assert "needs a vocabulary of the kind 'bpe', not 'word'" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_settings_file_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbfseed = 1\r\n")
    assert read_config(tmp_path / "a.toml") == {"seed": 1}
    with pytest.raises(UsageError, match="is a directory; name a TOML file with settings"):
        read_config(tmp_path)


def test_paths_in_settings_hold_in_every_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text('[corpus]\ntrain = ["a.en", "/b/a.de"]\nvalid = "v.tsv"\n')
    said = with_whole_paths(read_config(tmp_path / "a.toml"))["corpus"]
    assert said == {"train": [f"{tmp_path}/a.en", "/b/a.de"], "valid": f"{tmp_path}/v.tsv"}
    said = with_whole_paths(assigned("corpus.from_folder=m"))
    assert said == {"corpus": {"from_folder": f"{tmp_path}/m"}}
    assert with_whole_paths(assigned("corpus.train=[1]")) == {"corpus": {"train": [1]}}
    assert with_whole_paths({"corpus": 3, "seed": 1}) == {"corpus": 3, "seed": 1}


def test_a_run_whose_settings_name_relative_paths_goes_on_elsewhere(
    finished, run_words, tmp_path, monkeypatch, capsys
):
    words = run_words(tmp_path / "run")
    start = words.index("--train")
    folder = Path(words[start + 1]).parent
    splits = "".join(f'{it} = ["{it}.en", "{it}.de"]\n' for it in ("train", "valid", "test"))
    (tmp_path / "a.toml").write_text(f"[corpus]\n{splits}")
    words[start : start + 9] = ["--config", str(tmp_path / "a.toml")]
    monkeypatch.chdir(folder)
    monkeypatch.setattr(pipeline.Pipeline, "whole_way", lambda self, _: None)
    monkeypatch.setattr("headcount.commands.run._findings", lambda _: {})
    assert cli.run(words) == 0
    made = tomllib.loads((tmp_path / "run" / "config.toml").read_text())["corpus"]
    assert made == tomllib.loads((finished / "config.toml").read_text())["corpus"]


@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_a_sentence_of_too_many_tokens_is_named_before_any_update(
    tmp_path, capsys, run_words, split
):
    words = run_words(tmp_path / "run")
    at = words.index(f"--{split}") + 2  # the target side
    long = Path(words[at]).read_text(encoding="utf-8").splitlines()
    long[2] = "elm " * 90
    words[at] = str(tmp_path / f"{split}.de")
    Path(words[at]).write_text("\n".join(long) + "\n", encoding="utf-8")
    assert cli.run([*words, "--set", "network.max_positions=60"]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"{split}: target sentence 3 has" in error
    assert "leave it out, or train with a larger max_positions" in error
    assert not (tmp_path / "run").exists()


def test_text_that_cannot_be_read_leaves_no_folder(tmp_path, capsys):
    for split in ("train", "valid", "test"):
        (tmp_path / f"{split}.en").write_text("one\ntwo\n")
        (tmp_path / f"{split}.de").write_text("eins\n" if split == "test" else "eins\nzwei\n")
    words = ["run", "-o", str(tmp_path / "run")]
    for split in ("train", "valid", "test"):
        words += [f"--{split}", str(tmp_path / f"{split}.en"), str(tmp_path / f"{split}.de")]
    assert cli.run(words) == 1
    assert "has 2 lines" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_resume_means_a_run_that_exists(finished, tmp_path, capsys):
    assert cli.run(["run", "--resume", "-o", str(finished)]) == 0
    assert cli.run(["run", "--resume", "-o", str(tmp_path / "none")]) == 2
    assert "no run to resume" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_after_ctrl_c_the_same_command_goes_on(
    run_words, tmp_path, capsys, monkeypatch, no_figures
):
    folder = tmp_path / "cut"
    made = []

    def cut_short(*arguments):
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(arguments[1])
        return measure(*arguments)

    measure = points.measure
    monkeypatch.setattr(points, "ROWS", 1)  # one model after the other, so that some are done
    monkeypatch.setattr(points, "measure", cut_short)
    assert cli.run(run_words(folder)) == 130
    assert f"go on with: headcount run -o {folder}" in capsys.readouterr().err
    before = stages_done(folder)
    assert list(before) == ["train", "evaluate", "score"]
    monkeypatch.setattr(points, "measure", lambda *a: made.append(a[1]) or measure(*a))
    assert cli.run(["run", "-o", str(folder)]) == 0
    after = stages_done(folder)
    assert {name: after[name] for name in before} == before
    assert len(made) == len(set(made))


def test_a_damaged_result_is_made_again(finished, capsys, tmp_path, no_figures):
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    table = copy / "results" / "evaluate" / "quality.csv"
    table.write_text(table.read_text().replace("bleu", "blue"))
    assert cli.run(["run", "-o", str(copy)]) == 0
    assert "blue" not in table.read_text()
    assert stages_done(copy)["score"] == stages_done(finished)["score"]


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_weights(run_words, finished, tmp_path):
    folder = tmp_path / "killed"
    words = [sys.executable, "-m", "headcount", *run_words(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
    log, limit = folder / "log.jsonl", time.monotonic() + 120
    while not (log.exists() and log.read_text().count("\n") > 12) and time.monotonic() < limit:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert "train" not in stages_done(folder)
    subprocess.run(words, env=environment, check=True, capture_output=True)
    models = [json.loads((it / "model" / "model.json").read_text()) for it in (folder, finished)]
    assert models[0]["weights_sha256"] == models[1]["weights_sha256"]
