"""`headcount trust` on a finished run."""

import json
import shutil

import pytest
from made_translators import copies

from headcount.analyses.result import Result
from headcount.cli import run


@pytest.fixture(scope="module")
def asked(finished, tmp_path_factory):
    """A copy of the finished run, whose answer may be made anew."""
    folder = tmp_path_factory.mktemp("trust") / "run"
    shutil.copytree(finished, folder)
    return folder


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    folder = tmp_path_factory.mktemp("other")
    text = copies("other", 9, 12)
    for code, side in (("en", text.source), ("de", text.target)):
        (folder / f"other.{code}").write_text("\n".join(side) + "\n", encoding="utf-8")
    return [str(folder / f"other.{code}") for code in ("en", "de")]


def test_the_runs_own_answer_is_kept_and_printed(asked, capsys):
    assert run(["trust", str(asked)]) == 0
    shown = capsys.readouterr().out
    assert "Which metric can be believed on this model" in shown
    result = Result.load(asked / "results" / "reliability")
    names = list(result.tables["verdict"].rows["metric"])
    assert all(any(line.startswith(name) for line in shown.splitlines()) for name in names)
    assert "leave_one_out" in names


def test_options_ask_anew_and_keep_only_what_is_wanted(asked, other, tmp_path, capsys):
    before = (asked / "results" / "reliability" / "result.json").read_bytes()
    kept = tmp_path / "kept"
    words = ["trust", str(asked), "--metrics", "gradient,random", "--sentences", "10"]
    words += ["--seeds", str(asked), "--other", *other, "--no-greedy", "-o", str(kept)]
    assert run([*words, "--curve-sentences", "6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["metric"] for row in found["verdict"]] == ["gradient", "random", "leave_one_out"]
    assert {row["measure"] for row in found["areas"]} == {"nll"}
    assert {row["order"] for row in found["areas"]} == {"gradient", "leave_one_out", "random"}
    across = {row["across"]: row["detail"] for row in found["stability"]}
    assert across["seeds"] == "run / run"
    assert across["domain"] == "other.en other.de"
    assert any(remark.startswith("No greedy order") for remark in found["remarks"])
    assert Result.load(kept).analysis == "reliability"
    assert (asked / "results" / "reliability" / "result.json").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--metrics", "gradent"], "did you mean 'gradient'"),
        (["--metrics", ","], "--metrics names no metric"),
        (["--seeds", "nowhere"], "nowhere"),
        (["--data", "test"], "'test'"),
    ],
)
def test_what_cannot_be_asked_is_one_line(asked, capsys, words, line):
    assert run(["trust", str(asked), *words]) in (1, 2)
    assert line in capsys.readouterr().err
