"""Pruning plans: written, read, and refused where they do not fit."""

import json

import pytest

from headcount.models.errors import DataError, UsageError
from headcount.models.gates import Head, HeadLayout
from headcount.models.pruning.plan import PruningPlan

LAYOUT = HeadLayout.from_dict({"encoder": [[0, 1]], "cross": [[0]]})
PLAN = PruningPlan("a" * 64, "l0", (Head("encoder", 0, 1), Head("cross", 0, 0)))


def test_a_plan_is_what_was_written(tmp_path):
    PLAN.save(tmp_path / "plan.json")
    assert PruningPlan.load(tmp_path / "plan.json") == PLAN
    PLAN.check("a" * 64, LAYOUT)


@pytest.mark.parametrize(
    ("model", "removed", "message"),
    [
        ("b" * 64, PLAN.removed, "made for another model"),
        ("a" * 64, (Head("decoder", 0, 1),), "no head decoder.0.1"),
        ("a" * 64, (Head("encoder", 0, 7),), "no head encoder.0.7"),
        ("a" * 64, (Head("encoder", 0, 1),) * 2, "removed twice"),
        ("a" * 64, LAYOUT.heads, "without any head"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(model, removed, message):
    with pytest.raises(UsageError, match=message):
        PruningPlan("a" * 64, "l0", removed).check(model, LAYOUT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        (
            json.dumps({"format": "headcount plan 1", "model": "a", "way": "b", "removed": "abc"}),
            r"plan\.json is not a pruning plan",
        ),
        ("[]", "not a pruning plan"),
        (json.dumps({"format": "headcount plan 9"}), "format"),
        (json.dumps({"format": "headcount plan 1", "model": "a"}), "not a pruning plan"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(tmp_path, text, message):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        PruningPlan.load(path)


def test_a_plan_with_something_that_is_no_head_is_refused(tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(
        json.dumps({"format": "headcount plan 1", "model": "a", "way": "l0"} | {"removed": ["x"]})
    )
    with pytest.raises(UsageError, match=r"plan\.json: 'x' does not name a head"):
        PruningPlan.load(path)
    with pytest.raises(DataError, match="cannot be read"):
        PruningPlan.load(tmp_path / "missing.json")
