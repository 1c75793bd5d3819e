"""`headcount prune` with a goal: the smaller model, why it is this one, and what is refused."""

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
import torch

from headcount import cli
from headcount.analyses.presets import run_settings
from headcount.analyses.pruning.way import way
from headcount.analyses.result import Result
from headcount.analyses.run_folder import RunFolder
from headcount.commands.comparison import _repetitions
from headcount.models.pruning.plan import PruningPlan
from headcount.models.reinitialised import with_random_weights
from headcount.models.transformer import TransformerTranslator


def files_of(folder):
    return {path: path.is_file() and path.stat().st_mtime_ns for path in folder.rglob("*")}


def prune(finished, *words) -> int:
    return cli.run(["prune", str(finished), *words])


def test_a_smaller_model_is_a_folder_that_translate_loads(finished, capsys, tmp_path, monkeypatch):
    folder = tmp_path / "five"
    assert prune(finished, "--heads", "5", "--save", str(folder)) == 0
    said = capsys.readouterr().out
    assert "heads left: 5 of 12 (" in said
    assert "why it stopped: 5 heads were asked for" in said
    assert f"the model is in {folder}" in said
    assert len(TransformerTranslator.load(folder).layout) == 5
    assert Result.load(folder / "results" / "smaller").tables["proof"].rows["sentences"].iloc[0] > 0
    assert not (folder / "scratch").exists()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"oak fir\n")))
    assert cli.run(["translate", str(folder), "--beam", "2"]) == 0


@pytest.mark.parametrize("keep", ["25%", "3"])
def test_a_share_or_a_number_is_kept(finished, capsys, tmp_path, keep):
    words = ["--keep", keep, "--finetune", "none", "--way", "gradient", "--json"]
    assert prune(finished, *words, "--save", str(tmp_path / "small")) == 0
    said = json.loads(capsys.readouterr().out)
    assert [row["heads"] for row in said["outcome"]] == [12, 3]
    assert sum(row["kept"] for row in said["kept"]) == 3
    assert said["folder"] == str(tmp_path / "small")


def test_a_model_that_nobody_named_lies_in_the_run_and_is_not_overwritten(
    finished, capsys, tmp_path
):
    words = ["--heads", "2", "--sites", "encoder", "--finetune", "none"]
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    assert prune(run, *words) == 0
    folder = run / "smaller" / "leave_one_out-heads-2"
    layout = TransformerTranslator.load(folder).layout
    assert layout.describe() == "2 encoder, 4 decoder, 4 cross"
    before = files_of(run)
    assert prune(run, *words) == 2
    assert "choose another folder with --save" in capsys.readouterr().err
    assert files_of(run) == before


def test_a_loss_of_bleu_is_met(finished, capsys, tmp_path):
    """The words of the small run are hardly learnt, so any loss is within a hundred points."""
    words = ["--max-bleu-loss", "100", "--by", "mean", "--finetune", "none"]
    assert prune(finished, *words, "--save", str(tmp_path / "small")) == 0
    said = capsys.readouterr().out
    assert "heads left: 1 of 12" in said
    assert "allowed loss: 100 BLEU points by mean" in said
    assert "why it stopped: no heads are left to remove" in said


def test_a_goal_that_cannot_be_met_has_exit_code_3_and_leaves_nothing(
    finished, capsys, tmp_path, monkeypatch
):
    from headcount.analyses.pruning.goal import Goal

    monkeypatch.setattr(Goal, "allows", lambda self, loss: False)
    before = files_of(finished)
    for words in (["--max-bleu-loss", "0"], ["--heads", "5", "--max-bleu-loss", "0"]):
        assert prune(finished, *words, "--finetune", "none") == 3
        assert "validation loss is" in capsys.readouterr().err
    assert files_of(finished) == before


def test_a_plan_of_one_model_is_refused_by_another(finished, capsys, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    words = ["--finetune", "none", "--save"]
    assert prune(finished, "--heads", "6", *words, str(first)) == 0
    plan = first / "plan.json"
    assert prune(finished, "--plan", str(plan), *words, str(second)) == 0
    assert TransformerTranslator.load(second).fingerprint == (
        TransformerTranslator.load(first).fingerprint
    )
    found = PruningPlan.load(plan)
    PruningPlan("0" * 64, found.way, found.removed).save(plan)
    third = tmp_path / "third"
    assert prune(finished, "--plan", str(plan), *words, str(third)) == 2
    assert "the plan was made for another model" in capsys.readouterr().err
    assert not third.exists()


def test_plans_of_one_run_lie_side_by_side_and_keep_to_a_loss(finished, capsys, tmp_path):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    for heads in ("6", "5"):
        folder = str(tmp_path / heads)
        assert prune(run, "--heads", heads, "--finetune", "none", "--save", folder) == 0
        assert prune(run, "--plan", f"{folder}/plan.json", "--finetune", "none") == 0
    made = sorted((run / "smaller").iterdir())
    sizes = {len(TransformerTranslator.load(folder).layout) for folder in made}
    assert len(made) == 2 and sizes == {5, 6}
    before = files_of(run)
    words = ["--plan", f"{folder}/plan.json", "--finetune", "none", "--max-bleu-loss", "0"]
    assert prune(run, *words, "--save", str(tmp_path / "never")) in (0, 3)
    assert files_of(run) == before


def test_more_heads_go_from_a_smaller_model(finished, capsys, tmp_path):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    words = ["--finetune", "none", "--json"]
    assert prune(run, "--heads", "8", *words) == 0
    first = run / "smaller" / "leave_one_out-heads-8"
    capsys.readouterr()
    assert prune(run, "--model", str(first), "--heads", "5", *words) == 0
    said = json.loads(capsys.readouterr().out)
    folder = run / "smaller" / "leave_one_out-heads-8-leave_one_out-heads-5"
    assert said["folder"] == str(folder)
    second = TransformerTranslator.load(folder)
    assert set(second.layout) < set(TransformerTranslator.load(first).layout)
    # What was reached is compared with the whole model of the run, and so is its plan.
    assert [row["heads"] for row in said["outcome"]] == [12, 5]
    assert len(said["kept"]) == 12
    whole = TransformerTranslator.load(run / "model")
    plan = PruningPlan.load(folder / "plan.json")
    plan.check(whole.fingerprint, whole.layout)
    assert set(whole.layout) - set(plan.removed) == set(second.layout)
    assert whole.without(plan.removed).fingerprint == second.fingerprint

    assert prune(first, "--heads", "5", *words) == 1
    assert "is a model and no run: name its run, and this with --model" in capsys.readouterr().err
    assert prune(run, "--model", str(first), "--heads", "8", *words) == 2
    assert "all 8 heads would stay" in capsys.readouterr().err
    assert prune(run, "--model", str(tmp_path), "--heads", "5", *words) == 1
    assert "holds no finished model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--heads", "0"], 2, "a model without any head cannot translate"),
        (["--heads", "-1"], 2, "heads: Input should be greater than or equal to 0"),
        (["--heads", "13"], 2, "13 heads cannot be left of 12"),
        (["--heads", "9", "--sites", "encoder"], 2, "9 heads cannot be left of 4"),
        (["--heads", "3", "--sites", "encoder,cros"], 2, "did you mean 'cross'"),
        (["--keep", "150%"], 2, "keep: Input should be less than or equal to 1"),
        (["--keep", "a quarter"], 2, "write a share such as 25%"),
        (["--max-bleu-loss", "-1"], 2, "max_bleu_loss: Input should be greater"),
        (["--heads", "3", "--way", "leave_one_in"], 2, "did you mean 'leave_one_out'"),
        (["--heads", "3", "--set", "options.rescor=1"], 2, "did you mean 'rescore'"),
        (["--heads", "3", "--set", "finish.ratte=1"], 2, "did you mean 'rate'"),
        (["--heads", "3", "--metric", "gradient"], 2, "for the curve alone"),
        (["--way", "l0"], 2, "say how small the model shall be"),
        (["--plan", "missing.json"], 1, "missing.json cannot be read"),
        (["--way", "l0", "--lambda", "1e6", "--set", "options.gate_rate=2"], 3, "closes all of"),
        (["--way", "l0", "--lambda", "1e-6"], 3, "closes none of the 12 heads: try 0.1 or"),
        (["--keep", "100%"], 2, "all 12 heads would stay: ask for fewer"),
        (["--heads", "4", "--sites", "encoder"], 2, "at encoder, all 4 heads would stay"),
        (["--heads", "3", "--minimum", "2"], 2, "every sublayer keeps 2 (--minimum): 6 have to"),
        (["--plan", "plan.json", "--heads", "3"], 2, "so --heads has no meaning beside it"),
        (["--plan", "plan.json", "--lambda", "3"], 2, "so --lambda has no meaning beside it"),
        (["--compare", "l0", "--points", "3", "--minimum", "2"], 2, "3 heads cannot be left by l0"),
    ],
)
def test_what_makes_no_sense_is_said_and_changes_nothing(
    finished, capsys, tmp_path, monkeypatch, words, code, message
):
    monkeypatch.chdir(tmp_path)
    before = files_of(finished)
    assert prune(finished, *words) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert files_of(finished) == before
    assert not list(tmp_path.iterdir())


def test_ways_are_compared(finished, capsys, tmp_path):
    words = ["--compare", "gradient", "--compare", "random", "--finetune", "none", "--draws", "2"]
    words += ["--set", "shares=[0.5, 0.25]", "--sentences", "8", "--jobs", "1"]
    assert prune(finished, *words, "-o", str(tmp_path / "ways")) == 0
    said = capsys.readouterr().out
    assert "gradient" in said
    assert [line.split()[0] for line in said.splitlines()[3:6]] == ["12", "6", "3"]
    assert "one curve took 0 updates" in said
    curve = Result.load(tmp_path / "ways").tables["curve"].rows
    assert len(curve) == 3 * 3
    assert not (tmp_path / "ways" / "scratch").exists()
    assert prune(finished, *words, "-o", str(tmp_path / "ways")) == 2
    assert prune(finished, "--compare", "l0", "--heads", "3") == 2
    assert "--heads makes one model and has no meaning with --compare" in capsys.readouterr().err


def test_a_choice_is_repeated_on_other_trainings(finished, capsys, tmp_path):
    again = Path(shutil.copytree(finished, tmp_path / "again"))
    whole = TransformerTranslator.load(finished / "model")
    with_random_weights(whole, torch.Generator().manual_seed(5)).save(again / "model")
    words = ["--compare", "weight_norm", "--points", "6", "--finetune", "none", "--jobs", "1"]
    words += ["--sentences", "4", "--set", "resamples=20", "-o", str(tmp_path / "ways")]
    assert prune(finished, *words, "--seeds", str(again)) == 0
    result = Result.load(tmp_path / "ways")
    curve = result.tables["curve"].rows
    assert curve[["model", "draw", "heads_left"]].to_numpy().tolist() == [
        [0, 0, 12],
        [0, 0, 6],
        [1, 1, 12],
        [1, 1, 6],
    ]
    assert curve["nll"].nunique() == 4
    assert (result.tables["summary"].rows["repetitions"] == 2).all()
    capsys.readouterr()
    shutil.rmtree(tmp_path / "ways")
    before = files_of(again)
    for seeds, code, message in (
        (str(again), 2, "has the weights of another run"),
        ("0", 2, "give one number, at least 1"),
        (str(tmp_path / "nowhere"), 1, "no such folder"),
    ):
        for place in (words, words[:-2]):  # apart, and in the run
            assert prune(again, *place, "--seeds", seeds) == code
            error = capsys.readouterr().err
            assert message in error and error.count("\n") == 1
    assert not (tmp_path / "ways").exists()
    assert files_of(again) == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], (None, [])),
        (["3"], (3, [])),
        (["+2"], (2, [])),
        (["./2"], (1, [Path("2")])),
        (["runs/b", "3"], (3, [Path("runs/b")])),
        (["²"], (1, [Path("²")])),  # a digit, but no number
    ],
)
def test_seeds_are_a_number_or_runs(words, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("3").mkdir()  # a folder, but no run
    Path("2").mkdir()
    Path("2", "run.json").write_text("{}")
    assert _repetitions(words) == expected


def test_a_number_that_names_a_run_here_is_refused(finished, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("2").mkdir()
    Path("2", "run.json").write_text("{}")
    assert prune(finished, "--compare", "l0", "--seeds", "2") == 2
    error = capsys.readouterr().err
    assert "write ./2 for the run, or +2 for so many repetitions" in error


def test_a_comparison_is_a_stage_of_the_run(finished, capsys, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    words = ["--compare", "weight_norm", "--compare", "l0", "--points", "6,25%", "--seeds", "1"]
    words += ["--sentences", "4", "--jobs", "1", "--by-site", "--finetune", "none"]
    words += ["--set", "resamples=20", "--set", "options.l0.share=0.05"]
    assert prune(run, *words) == 0
    result = Result.load(run / "results" / "ways")
    curve = result.tables["curve"].rows
    # With one site, a quarter of its four heads, or as many as are left of six of twelve.
    assert list(dict.fromkeys(curve["where"])) == ["all", "encoder", "decoder", "cross"]
    assert list(dict.fromkeys(curve["heads_left"])) == [12, 6, 3, 10, 9]
    assert not (run / "scratch" / "ways").exists()
    before = files_of(run / "results")
    capsys.readouterr()
    assert prune(run, *words, "--json") == 0
    assert {"curve", "against", "overview", "gone"} <= set(json.loads(capsys.readouterr().out))
    assert files_of(run / "results") == before
    # Jobs change no number, but roles belong to what is told.
    words[words.index("--jobs") + 1] = "2"
    assert prune(run, *words) == 0
    assert files_of(run / "results") == before
    roles = {kind for kind in result.tables["gone"].rows["kind"] if kind == "role"}
    assert roles == {"role"}
    shutil.rmtree(run / "results" / "roles")
    assert prune(run, *words) == 0
    assert "role" not in set(Result.load(run / "results" / "ways").tables["gone"].rows["kind"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--compare", "l0", "--points", "12"], "12 is not fewer than all 12 heads"),
        (["--compare", "l0", "--points", "6;3"], "write numbers of heads such as 54,36,18"),
        (["--compare", "l0", "--set", "options.subset.rate=1"], "'subset' is not among the ways"),
        (["--compare", "l0", "--set", "control=subset"], "'subset' is not among the ways"),
        (["--compare", "lo"], "unknown way 'lo'"),
        (["--compare", "l0", "--sites", "cros"], "did you mean 'cross'"),
        (["--compare", "l0", "--set", "shares=[2]"], "2.0 is no share of the heads"),
        (["--heads", "3", "--seeds", "2"], "--seeds goes with --compare alone"),
    ],
)
def test_a_comparison_that_makes_no_sense_changes_nothing(finished, capsys, words, message):
    before = files_of(finished)
    assert prune(finished, *words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert files_of(finished) == before


def test_a_run_without_a_trained_model_is_refused(tmp_path, capsys):
    RunFolder.create(tmp_path / "begun", run_settings("nano", where="test").model_dump(mode="json"))
    before = files_of(tmp_path)
    assert prune(tmp_path / "begun", "--heads", "3") == 1
    assert "has no trained model yet" in capsys.readouterr().err
    assert prune(tmp_path / "missing", "--heads", "3") == 1
    assert files_of(tmp_path) == before


def test_the_help_names_every_way(capsys):
    assert cli.run(["prune", "--help"]) == 0
    said = capsys.readouterr().out
    assert [name for name in way if name not in said] == []


def test_an_interrupted_search_goes_on_where_it_was(finished, tmp_path, monkeypatch):
    from headcount.models.training import loop

    folder, whole = tmp_path / "small", tmp_path / "whole"
    words = ["--heads", "4", "--way", "subset", "--set", "options.share=0.5", "--save"]
    real, updates = loop._Run._update, []

    def counted(self, *arguments):
        if len(updates) == 14:
            updates.append(0)
            raise KeyboardInterrupt
        updates.append(self.progress.update)
        return real(self, *arguments)

    monkeypatch.setattr(loop._Run, "_update", counted)
    assert prune(finished, *words, str(folder)) == 130
    assert list(folder.iterdir()) == [folder / "scratch"]
    updates.clear()
    assert prune(finished, *words, str(folder)) == 0
    assert updates[0] == 12  # of 15, with a state kept every third
    monkeypatch.setattr(loop._Run, "_update", real)
    assert prune(finished, *words, str(whole)) == 0
    both = [TransformerTranslator.load(it).fingerprint for it in (folder, whole)]
    assert both[0] == both[1]
