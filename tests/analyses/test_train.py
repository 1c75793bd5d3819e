"""The record of a training: its log, its curve, and what a kill leaves of them."""

import json
import math

import pytest

from headcount.analyses.train import curve_records, read_steps


def step(update: int, loss: float) -> dict[str, float]:
    return {
        "update": update,
        "train_nll": loss,
        "tokens_per_second": 100.0 + update,
        "seconds": update / 10,
        "learning_rate": 0.01,
    }


def test_of_updates_made_twice_the_later_counts_and_torn_lines_are_left_out(tmp_path):
    log = tmp_path / "log.jsonl"
    lines = [json.dumps(step(update, loss)) for update, loss in [(1, 5), (2, 4), (3, 9), (2, 3)]]
    log.write_text("\n".join([*lines[:3], '{"update": 4, "tra', lines[3]]) + "\n")
    assert [(it["update"], it["train_nll"]) for it in read_steps(log)] == [(1, 5), (2, 3), (3, 9)]


def test_a_row_is_the_mean_since_the_row_above():
    steps = [step(update, float(update)) for update in range(1, 401)]
    validations = [
        {"update": 200, "valid_nll": 2.0, "valid_bleu": 10.0},
        {"update": 400, "valid_nll": 1.0},
        {"update": 400, "valid_nll": 0.9, "averaged": 2.0},
    ]
    rows = curve_records(steps, validations, validate_every=200)
    assert [row["step"] for row in rows] == list(range(4, 401, 4))
    assert rows[0]["train_loss"] == pytest.approx(2.5)
    assert rows[1]["tokens_per_second"] == pytest.approx(106.5)
    measured = {row["step"]: row["valid_nll"] for row in rows if not math.isnan(row["valid_nll"])}
    assert measured == {200: 2.0, 400: 1.0}
    assert math.isnan(rows[-1]["valid_bleu"])


def test_a_training_that_stopped_between_validations_has_its_last_row():
    steps = [step(update, 1.0) for update in range(1, 8)]
    rows = curve_records(
        steps, [{"update": 5, "valid_nll": 2.0}, {"update": 7, "valid_nll": 1.5}], 5
    )
    assert [row["step"] for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert rows[-1]["valid_nll"] == 1.5
    assert curve_records([], [], 5) == []
