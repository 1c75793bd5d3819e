"""The verdict on made curves, and a planted layer that every measure finds."""

from dataclasses import replace

import numpy as np
import pytest

from headcount.models.errors import DataError
from headcount.probe.layers.features import Features
from headcount.probe.layers.gains import TaskCurves, centre_of
from headcount.probe.layers.logistic import Labels, fit_chosen, predict
from headcount.probe.layers.mdl import online_codes
from headcount.probe.layers.scalar_mix import expected_layer, fit_mix
from headcount.probe.layers.verdict import verdict

SENTENCES, EACH = 300, 10
STILL = (0.5, 0.55, 0.55, 0.55, 0.55)


def curves(name, family, levels, models=3, seed=0, random=STILL):
    """Right predictions drawn with the probabilities `levels` of the layers."""
    generator = np.random.default_rng([seed, sum(map(ord, name))])
    right = generator.binomial(EACH, levels, size=(models, SENTENCES, len(levels)))
    mixing = generator.binomial(EACH, random, size=(models, SENTENCES, len(levels)))
    counts = np.full(SENTENCES, float(EACH))
    turned = (it.swapaxes(1, 2).astype(float) for it in (right, mixing))
    return TaskCurves(name, family, *turned, counts)


LOW = (0.5, 0.9, 0.7, 0.6, 0.55)  # what layer 1 adds is lost again
HIGH = (0.5, 0.56, 0.6, 0.7, 0.9)
FLAT = (0.5, 0.8, 0.8, 0.8, 0.8)


def tasks(syntactic, semantic, count=4, **options):
    return [
        *[curves(f"syn{i}", "syntax", syntactic, **options) for i in range(count)],
        *[curves(f"sem{i}", "semantics", semantic, **options) for i in range(count)],
    ]


def answer(made, **options):
    return verdict(made, np.random.default_rng(0), resamples=300, **options)


def test_centres_by_hand():
    assert centre_of(np.array([[0, 0.1, 0.3, 0.0]])) == pytest.approx([(0.1 + 0.6) / 0.4])
    assert centre_of(np.array([[0, -0.5, 0.3, 0.0]])) == pytest.approx([2.0])
    assert np.isnan(centre_of(np.array([[0, -0.1, 0.0]]))).all()


def test_gains_by_hand():
    def task_of(right, random):
        shape = (1, len(right), 1)
        made = (np.array(it, dtype=float).reshape(shape) for it in (right, random))
        return TaskCurves("made", "syntax", *made, np.array([10.0]))

    def gains(*made):
        return task_of(*made).gains(np.array([[0]]), np.array([[1.0]]))[0]

    # Headroom is 4 of 10; a random network adds 1, then 2, of 10.
    assert gains((5, 7, 9), (4, 5, 6)) == pytest.approx([0, (2 - 1) / 4, (4 - 2) / 4])
    # Where it harms, nothing is taken away: no layer adds more than all there is to add.
    assert gains((5, 7, 9), (4, 2, 0)) == pytest.approx([0, 0.5, 1])
    assert gains((5, 5, 5), (4, 5, 6)).tolist() == [0, 0, 0]  # nothing to add


def test_models_are_averaged_before_they_are_divided_by_the_headroom():
    right = np.array([[[50], [51], [50]], [[50], [60], [90]]], dtype=float)
    made = TaskCurves("made", "syntax", right, right[:1] * 0, np.array([100.0]))
    # Mean curve 50, 55.5, 70. Shares of each model's own headroom would be 1, 0 and 0.25, 1.
    assert made.gains(np.array([[0, 1]]), np.ones((1, 1)))[0] == pytest.approx([0, 5.5 / 20, 1])
    assert made.gains(np.array([[0, 0]]), np.ones((1, 1)))[0] == pytest.approx([0, 1, 0])


def test_what_is_lost_above_the_layer_that_adds_it_has_a_centre_there():
    peak = (0.5, 0.65, 0.4, 0.3, 0.3)  # the sum over layers is far below that of layer 0
    found = answer(tasks(peak, HIGH))
    assert all(found.centres[f"syn{i}"] == pytest.approx(1) for i in range(4))
    assert found.answer == "syntax lower"


def test_what_random_layers_lose_moves_no_centre():
    # Random layers bury the word, and trained ones tell the same everywhere.
    lost = tasks(FLAT, FLAT, random=(0.5, 0.4, 0.3, 0.2, 0.1))
    kept = tasks(FLAT, FLAT, random=(0.5,) * 5)
    made = answer([*kept[:4], *lost[4:]])
    assert made.answer == "equivalent" and abs(made.difference) < 0.1


def test_every_task_has_its_gains_beside_the_answer():
    made = [*tasks(LOW, HIGH), curves("flat", "syntax", (0.5,) * 5)]
    found = {it.task: it for it in answer(made).gains}
    assert set(found) == {it.task for it in made}
    assert found["flat"].centre is None and found["flat"].interval is None
    one = found["syn0"]
    assert one.interval[0] < one.centre < one.interval[1] < 2
    assert (one.low <= one.values).all() and (one.values <= one.high).all()
    assert one.values[0] == 0 and one.values.argmax() == 1


def test_the_four_answers():
    assert answer(tasks(LOW, HIGH)).answer == "syntax lower"
    assert answer(tasks(HIGH, LOW)).answer == "semantics lower"
    same = answer(tasks(FLAT, FLAT))
    assert same.answer == "equivalent" and same.detectable < 0.5
    assert answer(tasks(FLAT, FLAT), margin=1e-6).answer == "undecided"


def test_the_difference_is_in_layers():
    found = answer(tasks(LOW, HIGH))
    # Gains over the random network: .35 .15 .05 0 and .01 .05 .15 .35.
    low = (1 * 0.35 + 2 * 0.15 + 3 * 0.05) / 0.55
    high = (1 * 0.01 + 2 * 0.05 + 3 * 0.15 + 4 * 0.35) / 0.56
    assert found.difference == pytest.approx(high - low, abs=0.1)
    assert found.interval[0] < high - low < found.interval[1]
    assert set(found.centres) == {f"{a}{b}" for a in ("syn", "sem") for b in range(4)}
    assert found.p == pytest.approx(2 / 70) and found.smallest_p == found.p


def test_one_model_or_few_tasks_are_undecided():
    alone = answer(tasks(LOW, HIGH, models=1))
    assert alone.answer == "undecided" and "one model" in alone.reason
    few = answer(tasks(LOW, HIGH, count=2))
    assert few.answer == "undecided" and "3 are needed" in few.reason


def test_tasks_on_which_layers_add_nothing_have_no_centre():
    found = answer(tasks(STILL, HIGH))  # syntax no better than in a random network
    assert found.answer == "undecided"
    assert found.reason == "no layer above 0 surely adds anything to syntax (none of 4 tasks)"
    alone = answer([curves("sem", "semantics", STILL)])
    assert alone.reason.startswith("no task of syntax was asked, and no layer above 0 surely adds")
    assert alone.reason.endswith("to semantics (not the one task)")
    assert np.isnan(found.difference) and len(found.centres) == 4


def test_models_that_disagree_widen_the_interval():
    agreed = answer(tasks(LOW, HIGH))
    made = tasks(LOW, HIGH)
    # One of three models has it the other way round.
    turned = tasks(HIGH, LOW)
    mixed = [
        replace(a, right=np.concatenate([a.right[:2], b.right[:1]]))
        for a, b in zip(made, turned, strict=True)
    ]
    unsure = answer(mixed)
    wide, narrow = (it.interval[1] - it.interval[0] for it in (unsure, agreed))
    assert wide > 2 * narrow


def test_other_families_or_sentences_are_refused():
    with pytest.raises(DataError, match="morphology"):
        answer([curves("case", "morphology", LOW)])
    with pytest.raises(DataError, match="no tasks"):
        answer([])
    with pytest.raises(DataError, match="other models"):
        answer([curves("a", "syntax", LOW), curves("b", "syntax", LOW, models=2)])


def test_every_measure_finds_a_planted_layer():
    # Labels are written into layer 2 of four; the others are noise.
    generator = np.random.default_rng(9)
    labels = generator.integers(0, 3, size=1200)
    states = generator.normal(size=(4, 1200, 8)).astype(np.float32)
    states[2] += 1.5 * np.eye(3)[labels] @ generator.normal(size=(3, 8))
    train, valid, test = np.arange(600), np.arange(600, 900), np.arange(900, 1200)
    layers = [Features.of(it).standardised(train) for it in states]
    task = Labels(labels[train], labels[valid], 3)
    scores, losses, codes = [], [], []
    for layer in layers:
        chosen = fit_chosen(layer.select(train), layer.select(valid), [task])[0]
        said = predict(layer.select(test), [chosen.solution], [labels[test]])[0]
        scores.append((said[0] == labels[test]).mean())
        losses.append(said[1].mean())
        sent = [(labels[train], 3, chosen.penalty)]
        order = np.random.default_rng(0)
        codes.append(online_codes(layer.select(train), sent, train // 5, order)[0])
    others = [0, 1, 3]
    assert scores[2] > 0.85 and max(scores[i] for i in others) < 0.45
    assert losses[2] < 0.6 and min(losses[i] for i in others) > 1.5
    assert codes[2].compression > 2 and max(codes[i].compression for i in others) < 1.1
    mix = fit_mix([it.select(train) for it in layers], labels[train], 3, 1.0)
    assert mix.shares.argmax() == 2 and mix.centre == pytest.approx(2, abs=0.3)
    cumulative = []
    for top in range(4):
        mix = fit_mix([it.select(train) for it in layers[: top + 1]], labels[train], 3, 1.0)
        mixed = mix.of([it.select(test) for it in layers[: top + 1]])
        said = predict(mixed, [mix.solution], [labels[test]])[0]
        cumulative.append((said[0] == labels[test]).mean())
    draws = np.array(cumulative) + generator.normal(0, 0.01, size=(200, 4))
    assert expected_layer(np.array(cumulative), draws).value == pytest.approx(2, abs=0.2)
