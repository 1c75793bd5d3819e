"""`headcount bench score` in small."""

import json

import pytest
from click.testing import CliRunner

from headcount.analyses.bench import score
from headcount.analyses.result import Provenance, Result, Table
from headcount.commands.bench import command

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


def test_json_has_every_ratio():
    shown = CliRunner().invoke(command, [*SMALL, "--json"], catch_exceptions=False)
    rows = json.loads(shown.output)["ratios"]
    assert {"what", "against", "reached", "target", "met", "seconds", "note"} == set(rows[0])
    assert any(row["what"] == "Shapley values" and row["target"] == 0.2 for row in rows)
    assert any(row["target"] is None and row["met"] is None for row in rows)
