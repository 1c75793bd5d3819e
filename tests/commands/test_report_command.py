"""`headcount report` writes the page of a run from what the run folder holds."""

import json
import math
import re

import pytest

from headcount.analyses.result import Column, Provenance, Result, Table
from headcount.cli import run

COLUMNS = [Column("step", "whole", "updates"), Column("train_loss", "number", "loss", "nats")]
COLUMNS += [
    Column(name, "number", name)
    for name in ("valid_nll", "valid_bleu", "tokens_per_second", "seconds", "learning_rate")
]


@pytest.fixture
def trained(tmp_path):
    """A run folder that holds the Result of a training and no other."""
    rows = [{column.name: float(step) for column in COLUMNS} | {"step": step} for step in (1, 2)]
    rows[1]["train_loss"] = math.nan
    source = Provenance("0.1", "", "headcount train", 0, "ab", {}, "CPU", {}, "2026-01-01", 1.0)
    table = Table.of("Loss.", COLUMNS, rows)
    Result("train", {"curve": table}, {}, source).save(tmp_path / "results" / "train")
    return tmp_path


def test_it_says_where_the_page_is(trained, capsys):
    assert run(["report", str(trained), "--no-figures"]) == 0
    assert capsys.readouterr().out == f"The page is {trained / 'report.html'}\n"
    assert (trained / "report.html").is_file() and not (trained / "figures").exists()


def test_it_draws_figures(trained):
    assert run(["report", str(trained)]) == 0
    drawn = sorted(path.name for path in (trained / "figures").iterdir())
    assert drawn == ["training.pdf", "training.svg"]


def test_all_tables_are_one_json_and_nothing_is_written(trained, capsys):
    assert run(["report", str(trained), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    table = said["train"]["tables"]["curve"]
    assert [row["train_loss"] for row in table["rows"]] == [1.0, None]
    assert [row["step"] for row in table["rows"]] == [1, 2]
    assert table["columns"][1]["unit"] == "nats" and table["caption"] == "Loss."
    assert said["train"]["provenance"]["command"] == "headcount train"
    assert not (trained / "report.html").exists() and not (trained / "figures").exists()


def test_only_the_sections_that_are_asked_for(trained):
    assert run(["report", str(trained), "--no-figures", "--sections", "training"]) == 0
    html = (trained / "report.html").read_text(encoding="utf-8")
    assert re.findall('<section id="([^"]*)"', html) == ["training"]


@pytest.mark.parametrize(
    ("sections", "code", "words"),
    [
        ("trainning", 2, "no section 'trainning' (did you mean 'training'?)"),
        ("training,heads", 1, "nothing for the section 'heads': its results of score are missing"),
    ],
)
def test_a_section_that_cannot_be_shown_is_refused(trained, sections, code, words, capsys):
    assert run(["report", str(trained), "--sections", sections]) == code
    assert words in capsys.readouterr().err
    assert [path.name for path in trained.iterdir()] == ["results"]


def test_tables_are_not_mixed_with_a_page(trained, capsys):
    assert run(["report", str(trained), "--json", "--open"]) == 2
    assert "leave out --open" in capsys.readouterr().err


def test_it_opens_the_page_when_asked(trained, monkeypatch):
    opened = []
    monkeypatch.setattr("click.launch", opened.append)
    assert run(["report", str(trained), "--no-figures", "--open"]) == 0
    assert opened == [(trained / "report.html").as_uri()]


@pytest.mark.parametrize("arguments", [[], ["--loss", "-1"]])
def test_a_wrong_call_is_refused(tmp_path, arguments, capsys):
    assert run(["report", *arguments, *([str(tmp_path)] if arguments else [])]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_a_folder_without_results_is_refused_in_one_line(tmp_path, capsys):
    assert run(["report", str(tmp_path)]) == 1
    assert "holds no finished results" in capsys.readouterr().err
