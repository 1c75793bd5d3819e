import json
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from headcount.analyses.provenance import ROOT
from headcount.cli import run
from headcount.commands import doctor


def test_every_library_of_pyproject_is_looked_at():
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    wanted = {"": project["dependencies"], **project["optional-dependencies"]}
    names = {extra: {Requirement(line).name for line in lines} for extra, lines in wanted.items()}
    found = {
        extra: {row["name"] for row in rows} for extra, rows in doctor.libraries_by_extra().items()
    }
    assert found == names


def test_the_answer_for_programs_is_one_json_object(capsys):
    assert run(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    torch = next(row for row in report["libraries"] if row["name"] == "torch")
    assert torch["version"] == metadata.version("torch")
    assert report["devices"][-1]["device"] == "cpu"
    assert report["devices"][-1]["threads"] >= 1
    assert report["machine"]["cores"] >= 1


@pytest.mark.parametrize(
    ("version", "line"),
    [
        (None, "error: torch is missing, needed is torch"),
        ("1.13.1", "error: torch 1.13.1, needed is torch"),
    ],
)
def test_a_required_library_that_does_not_fit_is_an_error(monkeypatch, capsys, version, line):
    real = metadata.version

    def answer(name):
        if name != "torch":
            return real(name)
        if version is None:
            raise metadata.PackageNotFoundError(name)
        return version

    monkeypatch.setattr(doctor.metadata, "version", answer)
    assert run(["doctor"]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith(line)
    assert "pip install 'torch" in shown.err
    assert "torch" in shown.out


def test_a_missing_extra_says_how_to_get_it_and_is_no_error(monkeypatch, capsys):
    real = metadata.version

    def answer(name):
        if name == "transformers":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(doctor.metadata, "version", answer)
    assert run(["doctor"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  hf "))
    assert "transformers" in line
    assert "pip install -e '.[hf]'" in line


def test_data_is_looked_for_where_the_variables_point(monkeypatch, tmp_path):
    (tmp_path / "shared/data/ud").mkdir(parents=True)
    (tmp_path / "shared/data/README.md").touch()
    monkeypatch.setenv("HEADCOUNT_SHARED", str(tmp_path / "shared"))
    monkeypatch.setenv("HEADCOUNT_DATA", str(tmp_path / "cache"))
    found = doctor.data_found()
    assert found["cache"] == str(tmp_path / "cache")
    assert found["shared"] == {"folder": str(tmp_path / "shared"), "holds": ["ud"]}
    where = {row["name"]: row["where"] for row in found["corpora"]}
    assert where["miniature"] == "built in"
    assert where["multi30k"] == ""


def test_a_corpus_that_is_not_here_says_how_to_fetch_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("HEADCOUNT_SHARED", str(tmp_path))
    monkeypatch.setenv("HEADCOUNT_DATA", str(tmp_path))
    assert run(["doctor"]) == 0
    assert "headcount data fetch multi30k" in capsys.readouterr().out
