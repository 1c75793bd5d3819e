"""What the run folder promises: nothing overwritten, nothing half, nothing done twice."""

import json
import os
import signal
import subprocess
import sys
import tomllib

import pytest

from headcount.analyses.run_folder import RunFolder
from headcount.models.errors import DataError, HeadcountError, UsageError

CONFIG = {"seed": 0, "train": {"steps": 10, "rate": 0.5, "warm_up": None}}


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(tmp_path / "run", CONFIG)


def writing(run, text, name="out.txt"):
    """Work that writes one file and counts how often it was called."""

    def work(stage):
        work.calls.append(stage)
        (run.path / name).write_text(text)

    work.calls = []
    return work


def do(run, work, inputs=None, outputs=("out.txt",), name="score"):
    return run.stage(name, inputs or {"data": "d1", "code": "c1"}, outputs, work)


# --- creation and settings


def test_settings_are_written_before_any_work(run):
    written = tomllib.loads((run.path / "config.toml").read_text())
    assert written == {"seed": 0, "train": {"steps": 10, "rate": 0.5}}
    assert RunFolder.open(run.path).config == CONFIG


def test_a_run_is_created_once(run):
    with pytest.raises(UsageError, match="holds a run already"):
        RunFolder.create(run.path, CONFIG)


def test_a_folder_with_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(UsageError, match=r"holds 'thesis\.tex'"):
        RunFolder.create(tmp_path, CONFIG)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_place_of_the_run_is_a_usage_error(tmp_path):
    (tmp_path / "run").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        RunFolder.create(tmp_path / "run", CONFIG)


def test_an_interrupted_creation_is_no_obstacle(tmp_path):
    (tmp_path / "config.toml").write_text("seed = 0\n")
    (tmp_path / ".run.json.abc").write_text('{"for')
    assert RunFolder.create(tmp_path, CONFIG).config == CONFIG


def test_opening_what_is_no_run_says_so(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such folder"):
        RunFolder.open(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"holds no run.*name a folder that `headcount run`"):
        RunFolder.open(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": "x"}'])
def test_a_damaged_record_is_a_clear_error(run, text):
    (run.path / "run.json").write_text(text)
    with pytest.raises(DataError, match="is damaged"):
        RunFolder.open(run.path)


def test_a_record_of_a_newer_form_names_the_version_that_wrote_it(run):
    record = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps({**record, "format": 99, "version": "9.1"}))
    with pytest.raises(DataError, match=r"made by headcount 9\.1"):
        RunFolder.open(run.path)


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        ({"seed": 1, "train": {"steps": 9}}, "seed = 0, and now it is 1"),
        ({"seed": 0, "train": {"steps": 11}}, "train.steps = 10, and now it is 11"),
        ({"seed": 0, "train": {"steps": 10, "rate": 1}}, "train.rate = 0.5, and now it is 1"),
        (
            {"seed": 0, "train": {"steps": 10, "rate": 0.5, "warm_up": 4}},
            "train.warm_up = null, and now it is 4",
        ),
        (
            {"seed": 0, "train": {"steps": 10, "rate": 0.5}},
            "train.warm_up = null, which this version does not know",
        ),
        ({"seed": False, "train": CONFIG["train"]}, "seed = 0, and now it is false"),
    ],
)
def test_going_on_with_other_settings_names_the_first_difference(run, other, difference):
    with pytest.raises(UsageError) as error:
        RunFolder.resume(run.path, other)
    assert difference in str(error.value)


def test_settings_that_the_record_does_not_know_are_added(run):
    more = {**CONFIG, "prune": {"draws": 10}}
    assert RunFolder.resume(run.path, more).config == more
    assert RunFolder.open(run.path).config == more
    assert tomllib.loads((run.path / "config.toml").read_text())["prune"] == {"draws": 10}


def test_a_kill_between_the_two_files_of_an_addition_is_mended(run):
    more = {**CONFIG, "prune": {"draws": 10}}
    old = (run.path / "config.toml").read_text()
    RunFolder.resume(run.path, more)
    (run.path / "config.toml").write_text(old)
    RunFolder.resume(run.path, more)
    assert tomllib.loads((run.path / "config.toml").read_text())["prune"] == {"draws": 10}


def test_editing_the_settings_of_a_run_is_refused(run):
    file = run.path / "config.toml"
    file.write_text(file.read_text().replace("steps = 10", "steps = 20"))
    with pytest.raises(UsageError, match="was edited"):
        RunFolder.open(run.path)
    file.write_text("steps = = 20")
    with pytest.raises(UsageError, match="no longer TOML"):
        RunFolder.open(run.path)


def test_settings_given_out_are_copies(run):
    run.config["train"]["steps"] = 11
    assert run.config == CONFIG


# --- stages


def test_a_stage_is_done_once(run):
    work = writing(run, "one")
    assert do(run, work) is True
    assert do(run, work) is False
    assert do(RunFolder.open(run.path), work) is False
    assert len(work.calls) == 1


@pytest.mark.parametrize(
    "inputs",
    [{"data": "d2", "code": "c1"}, {"data": "d1", "code": "c2"}, {"data": "d1"},
     {"data": "d1", "code": "c1", "weights": "w"}],
)  # fmt: skip
def test_any_input_that_changed_appeared_or_went_away_does_it_again(run, inputs):
    do(run, writing(run, "one"))
    work = writing(run, "two")
    assert do(run, work, inputs) is True
    assert (run.path / "out.txt").read_text() == "two"
    assert [file.read_text() for file in run.path.glob("outdated/*/out.txt")] == ["one"]


def test_an_output_that_is_gone_or_was_touched_does_it_again(run):
    work = writing(run, "one")
    do(run, work)
    (run.path / "out.txt").unlink()
    assert do(run, work) is True
    (run.path / "out.txt").write_text("eno")
    assert do(run, work) is True
    assert len(work.calls) == 3
    assert "out.txt is not what it wrote" in (run.path / "log.txt").read_text()


def test_folders_are_sealed_file_by_file(run):
    def work(stage):
        (run.model / "inner").mkdir(parents=True)
        (run.model / "inner/weights").write_text("w")

    assert do(run, work, outputs=[run.model]) is True
    assert do(run, work, outputs=[run.model]) is False
    sealed = run.stages["score"]["outputs"]
    assert list(sealed) == ["model/inner/weights"]
    assert sealed["model/inner/weights"]["bytes"] == 1


def test_another_stage_is_not_disturbed(run):
    first, second = writing(run, "a", "a.txt"), writing(run, "b", "b.txt")
    do(run, first, outputs=["a.txt"], name="train")
    do(run, second, outputs=["b.txt"], name="score")
    do(run, second, {"data": "new"}, outputs=["b.txt"], name="score")
    assert do(run, first, outputs=["a.txt"], name="train") is False


def test_a_stage_that_raises_is_not_done_and_goes_on_with_its_scratch(run):
    def broken(stage):
        (stage.scratch / "checkpoint").write_text("step 5")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(run, broken)
    assert run.stages["score"]["state"] == "begun"

    def work(stage):
        assert stage.resuming
        assert (stage.scratch / "checkpoint").read_text() == "step 5"
        (run.path / "out.txt").write_text("whole")

    assert do(RunFolder.open(run.path), work) is True
    record = RunFolder.open(run.path).stages["score"]
    assert (record["state"], record["attempts"]) == ("done", 2)
    assert not (run.path / "scratch/score").exists()


@pytest.mark.parametrize("error", [UsageError, DataError])
def test_a_run_whose_first_work_is_refused_is_no_obstacle(run, error):
    def refused(stage):
        (stage.scratch / "text").write_text("tokens")
        raise error("not like this")

    with pytest.raises(error):
        do(run, refused)
    assert not run.path.exists()
    again = RunFolder.create(run.path, {"other": 1})
    assert again.stages == {}


def test_a_refusal_takes_nothing_away_that_somebody_may_want(run, tmp_path):
    def refused(stage):
        raise DataError("no such text")

    def trained(stage):
        (stage.scratch / "deep").mkdir()
        (stage.scratch / "deep" / "state.safetensors").write_text("step 5")
        raise DataError("no such text")

    with pytest.raises(DataError):
        do(run, trained)
    assert (run.path / "run.json").exists()  # the training can go on
    with pytest.raises(DataError):
        do(RunFolder.open(run.path), refused)
    assert (run.path / "run.json").exists()

    other = RunFolder.create(tmp_path / "other", {})
    (other.path / "notes").write_text("mine")
    with pytest.raises(DataError):
        do(other, refused)
    assert [file.name for file in other.path.iterdir()] == ["notes"]

    done = RunFolder.create(tmp_path / "done", {})
    do(done, lambda stage: (done.path / "a.txt").write_text("whole"), outputs=["a.txt"], name="a")
    with pytest.raises(DataError):
        do(done, refused, outputs=["b.txt"], name="b")
    assert (done.path / "a.txt").exists() and (done.path / "run.json").exists()


def test_scratch_of_other_inputs_is_never_gone_on_with(run):
    def broken(stage):
        (stage.scratch / "checkpoint").write_text("of old data")
        raise ValueError

    with pytest.raises(ValueError):
        do(run, broken, {"data": "old"})

    def work(stage):
        assert not stage.resuming
        assert list(stage.scratch.iterdir()) == []
        (run.path / "out.txt").write_text("whole")

    assert do(run, work, {"data": "new"}) is True


def test_work_that_writes_nothing_is_a_programming_error(run):
    with pytest.raises(RuntimeError, match=r"did not write out\.txt"):
        do(run, lambda stage: None)
    assert run.stages["score"]["state"] == "begun"


@pytest.mark.parametrize("output", ["../elsewhere", ".", "/tmp/elsewhere", "a/../../b"])
def test_an_output_outside_the_run_is_refused_before_work(run, output):
    work = writing(run, "x")
    with pytest.raises(ValueError, match="is not inside"):
        do(run, work, outputs=[output])
    assert work.calls == []


def test_a_run_named_by_a_relative_path_works_after_the_directory_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RunFolder.create("runs/a", CONFIG)
    monkeypatch.chdir("/")
    assert do(run, writing(run, "x"), outputs=[run.path / "out.txt"]) is True
    assert (tmp_path / "runs/a/out.txt").exists()


def test_why_says_what_would_be_done_without_doing_it(run):
    inputs = {"data": "d1", "code": "c1"}
    assert run.why("score", inputs, ["out.txt"]) == "for the first time"
    do(run, writing(run, "x"))
    assert run.why("score", inputs, ["out.txt"]) is None
    assert run.why("score", {**inputs, "data": "d2"}, ["out.txt"]) == "data changed"
    assert run.why("score", inputs, ["other.txt"]) == "it has other outputs"


# --- several processes

OTHER = """
import os, sys, time
from headcount.analyses.run_folder import RunFolder
run = RunFolder.open(sys.argv[1])
def work(stage):
    (stage.scratch / "checkpoint").write_text("step 5")
    print("working", flush=True)
    time.sleep(60)
run.stage("score", {"data": "d1", "code": "c1"}, ["out.txt"], work)
"""


@pytest.fixture
def other(run):
    """Another process in the middle of the stage."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, run.path], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "working\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_two_processes_do_not_work_in_one_run(run, other):
    with pytest.raises(HeadcountError, match=f"worked on by process {other.pid}"):
        do(run, writing(run, "x"))
    assert RunFolder.open(run.path).stages["score"]["state"] == "begun"


def test_a_killed_process_leaves_no_lock_and_its_scratch(run, other):
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    work = writing(run, "x")
    assert do(run, work) is True
    assert work.calls[0].resuming


def test_holding_the_run_may_be_nested(run):
    with run.working(), run.working():
        assert do(run, writing(run, "x")) is True


def test_reading_results_of_a_run_does_not_load_torch(run):
    code = (
        "import sys; from headcount.analyses.run_folder import RunFolder; "
        "RunFolder.open(sys.argv[1]); print('torch' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, run.path], capture_output=True, text=True, check=True
    )
    assert answer.stdout == "False\n"
