"""`headcount compare` writes a page of several runs, tells the differences, and refuses."""

import json
import re

import pytest
from made_runs import REFERENCES, evaluated, scored

from headcount.cli import run

HOSTILE = "</script><b>x"


@pytest.fixture
def two(tmp_path):
    """Two run folders: the second says one word wrong everywhere."""
    worse = [text.replace("old", HOSTILE) for text in REFERENCES]
    for name, said, loss, values in (
        ("a", REFERENCES, 5.0, [4, 3, 2, 1]),
        ("b", worse, 10.0, [4, 3, 1, 2]),
    ):
        results = tmp_path / name / "results"
        evaluated(said, [loss] * 12).save(results / "evaluate")
        scored(values, model=name).save(results / "score")
    return [str(tmp_path / "a"), str(tmp_path / "b")]


def test_the_terminal_and_the_page_say_the_difference(two, tmp_path, capsys):
    assert run(["compare", *two, "--resamples", "50"]) == 0
    said = capsys.readouterr().out
    assert "b less a, on the sentences that both translated" in said
    assert re.search(r"nll +\+1\.000 \[\+1\.000, \+1\.000\]", said)
    page = tmp_path / "a-against-b" / "report.html"
    assert said.endswith(f"The page is {page}\n")
    html = page.read_text(encoding="utf-8")
    assert re.findall('<section id="([^"]*)"', html) == [
        "difference",
        "quality",
        "heads",
        "settings",
        "costs",
        "provenance",
    ]
    assert "surely different" in html and HOSTILE not in html
    for path in re.findall('href="(results/[^"]*)"', html):
        assert (page.parent / path).is_file()


def test_the_same_runs_give_the_same_page(two, tmp_path):
    pages = []
    for _ in range(2):
        assert run(["compare", *two, "-o", str(tmp_path / "out"), "--resamples", "20"]) == 0
        pages.append((tmp_path / "out" / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_json_is_the_whole_comparison_and_writes_nothing(two, tmp_path, capsys):
    assert run(["compare", *two, "--json", "--resamples", "20"]) == 0
    said = json.loads(capsys.readouterr().out)
    (nll,) = [r for r in said["tables"]["differences"]["rows"] if r["measure"] == "nll"]
    assert nll["difference"] == pytest.approx(1.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize(
    ("names", "code", "words"),
    [
        (["a"], 2, "two or more"),
        (["a", "a"], 2, "two or more"),
        (["a", "nowhere"], 1, "nowhere is not a folder"),
        (["a", "b", "-o", "a"], 2, "holds no comparison"),
    ],
)
def test_what_cannot_be_compared_is_refused(two, tmp_path, names, code, words, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["compare", *names]) == code
    assert words in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_runs_of_one_name_are_told_apart_by_their_folders(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for place in ("x", "y"):
        evaluated(REFERENCES, [5.0] * 12).save(tmp_path / place / "same" / "results" / "evaluate")
    assert run(["compare", "x/same", "y/same", "-o", "out", "--resamples", "10"]) == 0
    assert "y/same less x/same" in capsys.readouterr().out
