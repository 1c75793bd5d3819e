"""Every metric of the family on the network whose truth is known, and the command for it."""

import json

import pytest
import torch

from headcount.analyses.planted import planted
from headcount.cli import run
from headcount.models.planted import CARRIER, planted_text, planted_translator
from headcount.probe.confidence import Confidence
from headcount.probe.importance import HeadScores, Proof, metric
from headcount.probe.leave_one_out import LeaveOneOut

TEXT = planted_text("some", seed=2, sentences=8)
CHEAP = ("confidence", "gradient", "leave_one_out", "random")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", [name for name in metric if name != "random"])
def test_every_metric_ranks_the_carrier_first(name, dtype):
    # KernelShap fits a regression for every sentence; 64 sets are more than there are heads.
    member = metric[name](**({"samples": 64} if name == "kernel_shap" else {}))
    scores = member.scores(planted_translator(dtype=dtype), TEXT, torch.Generator().manual_seed(1))
    assert scores.removal_order()[-1] == CARRIER
    # First by far, not by rounding: no other head comes near.
    important = scores.mean if scores.higher_is_important else -scores.mean
    first, second = important.topk(2).values.tolist()
    assert first > second + 0.2 * abs(second)


def test_the_table_says_where_the_carrier_is_and_excuses_chance():
    rows = planted(CHEAP, sentences=16).tables["planted"].rows.set_index("metric")
    assert list(rows.index) == list(CHEAP)
    assert list(rows["rank"])[:3] == [1, 1, 1]
    assert rows["idle"]["gradient"] == 0
    assert rows["value"]["leave_one_out"] > 1 > 0 > rows["copier"]["leave_one_out"]
    assert list(rows["exempt"]) == [False, False, False, True]
    assert list(rows["passes"])[:3] == [True] * 3


def test_a_metric_that_is_turned_round_fails_and_so_does_one_without_its_proof(monkeypatch):
    honest = Confidence.scores

    def turned(self, translator, data, generator):
        found = honest(self, translator, data, generator)
        return HeadScores(found.layout, found.values, found.weights, "upside down", False)

    def prove(self, translator, data, generator):
        return (Proof("one is one", 0.0, 1e-6), Proof("nothing is known", float("nan"), 1e-6))

    monkeypatch.setattr(Confidence, "scores", turned)
    monkeypatch.setattr(LeaveOneOut, "prove", prove)
    result = planted(("confidence", "leave_one_out", "gradient"), sentences=16)
    rows = result.tables["planted"].rows.set_index("metric")
    assert rows["rank"]["confidence"] == 18
    assert list(rows["passes"]) == [False, False, True]
    assert (rows["hold"]["leave_one_out"], rows["proofs"]["leave_one_out"]) == (1, 2)
    proofs = result.tables["proofs"].rows
    assert list(proofs[proofs["metric"] == "leave_one_out"]["holds"]) == [True, False]


def few(monkeypatch):
    for name in [name for name in metric if name not in CHEAP]:
        monkeypatch.delitem(metric._members, name)


def test_the_doctor_prints_the_table(monkeypatch, capsys):
    few(monkeypatch)
    assert run(["doctor", "--planted"]) == 0
    shown = capsys.readouterr().out
    assert "cross.1.1" in shown
    assert "chance, excused" in shown
    assert len([line for line in shown.splitlines() if line.startswith(CHEAP)]) == len(CHEAP)


def test_the_doctor_fails_for_a_metric_that_does_not_find_the_carrier(monkeypatch, capsys):
    few(monkeypatch)
    monkeypatch.setitem(metric._members, "gradient", metric["random"])
    assert run(["doctor", "--planted", "--json"]) == 1
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert not found["passes"]
    assert {row["metric"] for row in found["planted"]} == set(CHEAP)
    assert shown.err.startswith("error: gradient gives the carrier rank ")
