"""`headcount data`: what is printed, what is refused, and what is not imported."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import click
import conllu
import pytest
from click.testing import CliRunner

from headcount.cli import run
from headcount.commands.corpus_options import corpus_options, given_corpus
from headcount.models.data import fetch as fetching
from headcount.models.data.fetch import Fetchable, RemoteFile


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.delenv("HEADCOUNT_SHARED", raising=False)
    monkeypatch.setenv("HEADCOUNT_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def own_files(tmp_path: Path) -> list[str]:
    arguments = []
    for split in ("train", "valid", "test"):
        source, target = tmp_path / f"{split}.en", tmp_path / f"{split}.fr"
        source.write_text(f"{split} one\nthe end\n")
        target.write_text("un\nla fin\n")
        arguments += [f"--{split}", str(source), str(target)]
    return arguments


def test_list_for_people_and_for_programs(
    capsys: pytest.CaptureFixture[str], own_cache: Path
) -> None:
    assert run(["data", "list"]) == 0
    text = capsys.readouterr().out
    assert "headcount data fetch multi30k" in text
    assert run(["data", "list", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["cache"] == str(own_cache)
    where = {row["name"]: row["where"] for row in answer["corpora"]}
    assert where == {"miniature": "built in", "multi30k": "", "files": "where you say"}


def test_list_imports_nothing_heavy() -> None:
    script = (
        "import sys; from headcount.cli import run; run(['data', 'list']);"
        "sys.exit(bool({'torch', 'pandas', 'tokenizers', 'numpy.random'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "PATH": "", "HOME": "/"}
    assert subprocess.run([sys.executable, "-c", script], env=environment).returncode == 0


def test_show_own_files(capsys: pytest.CaptureFixture[str], own_files: list[str]) -> None:
    assert run(["data", "show", *own_files, "-n", "1"]) == 0
    text = capsys.readouterr().out
    assert "files, en to fr: train 2, valid 2, test 2 sentence pairs" in text
    assert "test, the first 1 of 2" in text
    assert "  en  test one\n  fr  un\n" in text
    assert "the end" not in text
    assert run(["data", "show", *own_files, "--split", "train", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["pairs"][1] == {"source": "the end", "target": "la fin"}
    assert answer["splits"]["valid"]["sentences"] == 2


def test_dropped_pairs_are_counted(
    capsys: pytest.CaptureFixture[str], own_files: list[str]
) -> None:
    Path(own_files[-1]).write_text("un\n\n")
    assert run(["data", "show", *own_files]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert f"{own_files[-1]}, line 2" in error
    assert run(["data", "show", *own_files, "--drop-empty"]) == 0
    assert "test: 1 pairs with an empty side left out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["show", "multi30k"], 1, "run headcount data fetch multi30k"),
        (["show", "multi30"], 2, "did you mean 'multi30k'"),
        (["fetch", "multi30"], 2, "unknown corpus to fetch 'multi30'"),
        (["fetch", "multi30k", "--from", "/no/where"], 1, "no such file; give the folder"),
        (["show", "--train", "a.en", "a.de"], 2, "needs valid files"),
        (["show", "--train", "a", "--tsv", "a", "b"], 2, "(see headcount data show --help)"),
        (["show", "--test", "a", "b", "--tsv", "a", "b", "c"], 2, "and so does --test: give one"),
        (["show", "--tsv", "a", "b", "c", "--test", "a", "b"], 2, "and so does --test: give one"),
        (["show", "multi30k", "--conllu", "out"], 2, "only miniature has gold annotation"),
    ],
)
def test_what_is_wrong_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, line: str
) -> None:
    assert run(["data", *arguments]) == code
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: ")
    assert line in error


def test_fetch_from_a_folder(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    own_cache: Path,
    tmp_path: Path,
) -> None:
    content = gzip.compress(b"text\n")
    file = RemoteFile("a.gz", "http://no.where/", len(content), hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(
        fetching.fetchable._members, "multi30k", Fetchable("for research only", [file])
    )
    (tmp_path / "a.gz").write_bytes(content)
    assert run(["data", "fetch", "multi30k", "--from", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "for research only" in said.err
    assert str(own_cache / "multi30k") in said.out
    assert (own_cache / "multi30k" / "a.gz").read_bytes() == content
    assert run(["data", "fetch", "multi30k"]) == 0, "what is there is not downloaded again"


def test_a_cache_that_cannot_be_made_names_the_variable(capsys, monkeypatch, tmp_path) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("HEADCOUNT_DATA", str(tmp_path / "file"))
    content = gzip.compress(b"text\n")
    file = RemoteFile("a.gz", "http://no.where/", len(content), hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(fetching.fetchable._members, "multi30k", Fetchable("research", [file]))
    (tmp_path / "a.gz").write_bytes(content)
    assert run(["data", "fetch", "multi30k", "--from", str(tmp_path)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "not a directory; set HEADCOUNT_DATA to a folder of your own" in error


def test_a_damaged_copy_in_the_cache_is_called_so(capsys, own_cache: Path) -> None:
    (own_cache / "multi30k").mkdir(parents=True)
    for name in ("train.en.gz", "train.de.gz"):
        (own_cache / "multi30k" / name).write_bytes(b"x")
    assert run(["data", "list"]) == 0
    assert "checksum differs from the published file" in capsys.readouterr().out


def test_own_tables_are_shown(capsys, tmp_path: Path) -> None:
    names = []
    for split in ("train", "valid", "test"):
        path = tmp_path / f"{split}.tsv"
        path.write_text(f"one {split}\teins {split}\n", encoding="utf-8")
        names.append(str(path))
    assert run(["data", "show", "--tsv", *names]) == 2
    assert "--source-language" in capsys.readouterr().err
    languages = ["--source-language", "en", "--target-language", "de"]
    assert run(["data", "show", "--tsv", *names, *languages]) == 0
    said = capsys.readouterr().out
    assert "train 1, valid 1, test 1 sentence pairs" in said
    assert "one test" in said and "eins test" in said


def test_only_what_was_given_is_passed_on() -> None:
    seen = {}

    @click.command()
    @corpus_options
    def command() -> None:
        seen.update(given_corpus())

    CliRunner().invoke(command, [], catch_exceptions=False)
    assert seen == {}
    arguments = ["--train", "a", "/b", "--drop-empty", "--longest-line", "9", "--from", "d"]
    CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert seen == {
        "name": "files",
        "train": (str(Path.cwd() / "a"), "/b"),
        "drop_empty": True,
        "longest_line": 9,
        "from_folder": str(Path.cwd() / "d"),
    }


def test_gold_annotation_can_be_read_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "gold"
    assert run(["data", "show", "miniature", "--sentences", "12", "--conllu", str(folder)]) == 0
    paths = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(paths) == sorted(folder.iterdir())
    assert run(["data", "show", "--sentences", "12", "--split", "train", "-n", "12", "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    for language, side in (("en", "source"), ("de", "target")):
        text = (folder / f"train.{language}.conllu").read_text(encoding="utf-8")
        shown = [sentence.metadata["text"] for sentence in conllu.parse(text)]
        assert shown == [pair[side] for pair in pairs]
