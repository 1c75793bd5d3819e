"""`headcount bench score` and `headcount bench gain` in small."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from headcount import cli
from headcount.analyses.bench import score
from headcount.analyses.result import Provenance, Result, Table
from headcount.commands.bench import command
from headcount.models.transformer import TransformerTranslator

SMALL = ["score", "--shape", "nano", "--vocabulary", "30", "--sentences", "6", "--rounds", "1"]
SMALL += ["--orders", "1", "--no-memory"]


@pytest.fixture
def measured(monkeypatch) -> list[score.ScoreBenchmark]:
    """Stands in for the measuring, and remembers what was to be measured."""
    asked = []

    def stand_in(settings, progress):
        asked.append(settings)
        rows = [
            {"what": "fast", "against": "slow", "reached": 0.5, "target": 1.0, "met": True},
            {"what": "large", "against": "small", "reached": 2.0, "target": 1.5, "met": False},
            {"what": "odd", "against": "even", "reached": 7.0, "note": "so it is"},
        ]
        table = Table.of("Ratios.", score.RATIOS, [{"note": "", **row} for row in rows], n="6")
        origin = Provenance("0", "", "", 0, "", {}, "", {}, "", 0.0)
        return Result("bench_score", {"ratios": table}, {}, origin, ("A remark.",))

    monkeypatch.setattr(score, "benchmark_score", stand_in)
    return asked


def test_the_table_says_what_is_reached_and_what_is_missed(measured):
    shown = CliRunner().invoke(command, ["score"], catch_exceptions=False).output.splitlines()
    assert "A remark." in shown
    assert shown[-3:] == [
        "   0.500    1.00  fast / slow",
        "   2.000    1.50  large / small  <- MISSED",
        "   7.000          odd / even (so it is)",
    ]


def test_the_default_is_the_shape_of_preset_small_and_a_thousand_sentences(measured):
    CliRunner().invoke(command, ["score"], catch_exceptions=False)
    (settings,) = measured
    shape = settings.subject.network
    assert (shape.width, shape.encoder_layers, shape.heads) == (256, 3, 8)
    assert (settings.subject.sentences, settings.subject.vocabulary) == (1000, 8000)
    assert settings.memory is None


def test_json_has_every_ratio_and_the_result_is_kept(tmp_path):
    words = [*SMALL, "--json", "-o", str(tmp_path / "kept")]
    shown = CliRunner().invoke(command, words, catch_exceptions=False)
    rows = json.loads(shown.output)["ratios"]
    kept = Result.load(tmp_path / "kept").tables["ratios"].rows
    assert list(kept["what"]) == [row["what"] for row in rows]
    assert {"what", "against", "reached", "target", "met", "seconds", "note"} == set(rows[0])
    assert any(row["what"] == "Shapley values" and row["target"] == 0.2 for row in rows)
    assert any(row["target"] is None and row["met"] is None for row in rows)


QUICK = ["--batch", "2", "--beam", "1", "--rounds", "6", "--no-parts", "--no-memory"]


def test_the_gain_of_a_smaller_model_is_kept_for_the_page(finished, capsys, tmp_path):
    run = Path(shutil.copytree(finished, tmp_path / "run"))
    whole = TransformerTranslator.load(run / "model")
    whole.without(whole.layout.heads[:9]).save(tmp_path / "three")
    words = ["bench", "gain", str(run), "--model", str(tmp_path / "three"), *QUICK]
    assert cli.run(words) == 0
    said = capsys.readouterr().out
    assert said.count("times as fast") == 2  # equal lengths and own ones
    assert "three" in said
    assert "  3 heads" in said
    tables = Result.load(run / "results" / "gain").tables
    assert list(tables["size"].rows["heads"]) == [12, 3]
    assert cli.run([*words, "--json", "-o", str(tmp_path / "elsewhere")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in found["speed"]] == ["whole", "three"] * 2
    assert Result.load(tmp_path / "elsewhere").settings["rounds"] == 6


def test_models_that_cannot_be_told_apart_or_are_not_there_are_refused(finished, capsys, tmp_path):
    for folder in ("a/same", "b/same"):
        (tmp_path / folder).mkdir(parents=True)
    both = [it for folder in ("a", "b") for it in ("--model", str(tmp_path / folder / "same"))]
    assert cli.run(["bench", "gain", str(finished), *both]) == 2
    assert "the same name" in capsys.readouterr().err
    assert cli.run(["bench", "gain", str(finished), *both[:2]]) == 1
    assert "holds no finished model" in capsys.readouterr().err
