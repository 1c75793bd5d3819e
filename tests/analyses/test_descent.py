"""Going down: every model is made from the one before, and a killed descent goes on."""

from dataclasses import replace
from itertools import pairwise

import pytest
from made_translators import CARRIER

from headcount.analyses.pruning import descent as descents
from headcount.analyses.pruning.descent import Descent
from headcount.analyses.pruning.finish import Finish
from headcount.analyses.pruning.way import Task, way
from headcount.models.data.vocabulary import VocabularySettings
from headcount.models.planted import planted_corpus
from headcount.models.training.from_corpus import Recipe
from headcount.models.training.settings import TrainingSettings

TRAINING = TrainingSettings(
    updates=100,
    batch_tokens=128,
    warmup=4,
    learning_rate=0.01,
    validate_every=80,
    validation_sentences=0,
    average=1,
    precision="float32",
)
COUNTS = (12, 6, 2)
FINISH = Finish(share=0.1, average=1, validations=1)


@pytest.fixture
def task(planted, tmp_path) -> Task:
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    return Task(planted, planted_corpus(32), recipe, planted.layout.heads, 0, tmp_path)


def steps(task, name, **options):
    return list(Descent(task, way[name].from_dict(options), FINISH, COUNTS).models())


@pytest.mark.parametrize(("name", "once"), [("leave_one_out", 0), ("l0", 0), ("group_lasso", 25)])
def test_every_model_is_cut_from_the_one_before(task, planted, name, once):
    member = "importance" if name == "leave_one_out" else name
    before = planted.fingerprint
    made = steps(task, member)
    kept = [set(step.model.layout) for step in made]
    assert [len(heads) for heads in kept] == list(COUNTS)
    assert kept[0] > kept[1] > kept[2] == kept[2] | {CARRIER}
    # Ten updates a step, whether five of them chose or none.
    assert [step.updates for step in made] == [once + 10, once + 20, once + 30]
    assert planted.fingerprint == before
    assert not list(task.folder.glob("step-*"))


def test_a_step_trains_on_from_the_weights_of_the_step_before(task, monkeypatch):
    started = []
    real = descents.Finish.finished

    def seen(self, own, smaller, name, **more):
        done = real(self, own, smaller, name, **more)
        started.append((smaller, done))
        return done

    monkeypatch.setattr(descents.Finish, "finished", seen)
    made = steps(task, "importance")
    for (_, before), (cut, _) in pairwise(started):
        gone = [head for head in before.layout if head not in cut.layout]
        assert before.without(gone).fingerprint == cut.fingerprint
    assert [step.model.fingerprint for step in made] == [done.fingerprint for _, done in started]


def test_gates_remember_what_they_learnt_above(task):
    seen = []
    real = way["subset"].choose

    class Watching(way["subset"]):
        def choose(self, task, heads):
            seen.append((dict(task.memory), task.candidates))
            chosen = real(self, task, heads)
            seen.append((dict(chosen.memory), chosen.translator.layout.heads))
            return chosen

    list(Descent(task, Watching(), FINISH, COUNTS).models())
    assert seen[0][0] == {}
    assert seen[2][0] == seen[1][0]
    assert len(seen[2][1]) == 12
    assert any(value != 0 for value in seen[2][0].values())


def test_a_killed_descent_goes_on_from_the_last_model(task, tmp_path, monkeypatch):
    whole = steps(replace(task, folder=tmp_path / "whole"), "subset")
    for step in Descent(task, way["subset"](), FINISH, COUNTS).models():
        if step.heads == 6:
            break  # killed while this one is measured
    made = []
    real = Descent._made
    monkeypatch.setattr(Descent, "_made", lambda *it: made.append(it[1]) or real(*it))
    rest = list(Descent(task, way["subset"](), FINISH, COUNTS).models(1))
    assert made == [1, 2]
    assert [it.model.fingerprint for it in rest] == [it.model.fingerprint for it in whole[1:]]
    assert [it.updates for it in rest] == [it.updates for it in whole[1:]]
    # Without the folder all is done again, and what is wanted is the same.
    again = replace(task, folder=tmp_path / "empty")
    rest = list(Descent(again, way["subset"](), FINISH, COUNTS).models(2))
    assert [it.model.fingerprint for it in rest] == [whole[2].model.fingerprint]


def test_without_updates_nothing_is_trained(task, planted):
    none = Finish(finetune="none")
    made = list(Descent(task, way["importance"](), none, COUNTS).models())
    order = way["importance"]().choice(task, 2)
    for step in made:
        assert step.updates == 0
        cut = planted.without(order.removed(step.heads))
        assert step.model.fingerprint == cut.fingerprint
