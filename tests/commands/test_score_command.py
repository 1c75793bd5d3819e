"""`headcount score` on a finished run."""

import json

import pytest

from headcount import cli
from headcount.analyses.result import Result
from headcount.probe.confidence import Confidence
from headcount.probe.importance import Proof, metric


@pytest.fixture
def score(finished, capsys):
    """Run `headcount score` on the finished run; its exit code, output and errors."""

    def run(*words: str) -> tuple[int, str, str]:
        code = cli.run(["score", str(finished), *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def text_files(tmp_path, lines):
    paths = [tmp_path / name for name in ("own.en", "own.de")]
    for path in paths:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [str(path) for path in paths]


def test_the_scores_of_the_run(score):
    code, out, _ = score("--json")
    said = json.loads(out)
    assert code == 0
    assert len(said["heads"]) == 4 * 12
    assert [row["rank"] for row in said["heads"][:12]] == list(range(1, 13))
    about = {row["metric"]: row for row in said["metrics"]}
    assert set(about) == {"confidence", "gradient", "leave_one_out", "random"}
    assert about["random"]["proofs_hold"] is None
    assert about["gradient"]["proofs_hold"] is True
    assert all(row["holds"] for row in said["proofs"])
    assert "24 validation sentences" in said["n"]
    assert any("BOS and EOS" in remark for remark in said["remarks"])


def test_options_leave_the_run_alone(finished, score, tmp_path):
    before = (finished / "run.json").read_bytes()
    words = ["--metric", "gradient", "--sentences", "5", "-o", str(tmp_path / "own")]
    code, out, _ = score("--top", "2", *words)
    assert code == 0
    assert out.count("\n") == 3
    assert "5 validation sentences" in out
    assert "3 proofs hold" in out
    assert Result.load(tmp_path / "own").settings["sentences"] == 5
    assert (finished / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    "words", [["--metrics", "fisher,entropy"], ["--metrics", "fisher", "--metrics", "entropy"]]
)
def test_metrics_are_listed_with_commas_or_one_by_one(score, words):
    code, out, _ = score(*words, "--sentences", "4", "--top", "1")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[::2]] == ["fisher", "entropy"]


def test_options_of_a_metric(score):
    _, kept, _ = score(
        "--metrics", "entropy", "--option", "entropy.normalised=true", "--sentences", "4", "--json"
    )
    assert json.loads(kept)["heads"][0]["unit"] == "share of the largest entropy"


def test_training_text_and_own_files(score, tmp_path):
    few = ("--metrics", "confidence", "--sentences", "6", "--json")
    assert "6 training sentences" in json.loads(score("--data", "train", *few)[1])["n"]
    files = text_files(tmp_path, ["oak fir pine ash elm fir oak"] * 9)
    assert (
        "6 validation sentences (own.en own.de)"
        in json.loads(score("--files", *files, *few)[1])["n"]
    )


def test_a_metric_that_is_not_proved_is_marked(score, monkeypatch):
    wrong = Proof("one is two", error=1.0, tolerance=0.5)
    monkeypatch.setattr(Confidence, "prove", lambda *given: (wrong,))
    code, out, _ = score("--metrics", "confidence", "--sentences", "4")
    assert code == 0
    assert "not to be believed here: 'one is two' is off by 1 (at most 0.5)" in out


def test_bleu_without_each_head(score):
    code, out, _ = score("--metrics", "weight_norm", "--sentences", "4", "--bleu", "--top", "3")
    assert code == 0
    assert "BLEU without the head, 4 validation sentences" in out
    assert out.count("p = ") == 3
    _, out, _ = score("--metrics", "weight_norm", "--sentences", "4", "--bleu", "--json")
    assert len(json.loads(out)["bleu"]) == 12


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metrics", "gradent"], "did you mean 'gradient'"),
        (["--metrics", ","], "names no metric"),
        (["--option", "gradient.absolut=token"], "did you mean 'absolute'"),
        (["--option", "gradient"], "--option gradient: write KEY=VALUE"),
        (["--data", "test"], "never on test text"),
        (["--data", "vald"], "did you mean 'valid'"),
        (["--data", "valid", "--files", "a", "b"], "give one of them"),
    ],
)
def test_what_is_refused(score, words, message):
    code, _, error = score(*words)
    assert code == 2
    assert error.startswith("error: ")
    assert message in error


def test_files_with_the_test_text_are_refused(score, texts):
    at = texts.index("--test")
    code, _, error = score("--files", *texts[at + 1 : at + 3], "--metrics", "confidence")
    assert code == 2
    assert "is test text of this run" in error


def test_help_lists_the_metrics(capsys):
    assert cli.run(["score", "--help"]) == 0
    said = capsys.readouterr().out
    assert "Examples:" in said
    assert all(f"\n  {name} " in said for name in metric)


def test_without_a_model_it_says_how_to_go_on(tmp_path, capsys):
    assert cli.run(["score", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: ")
