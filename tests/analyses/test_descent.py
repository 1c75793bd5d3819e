"""Going down: every model is made from the one before, and a killed descent goes on."""

from dataclasses import replace
from itertools import pairwise

import pytest
from made_translators import CARRIER

from headcount.analyses.pruning import descent as descents
from headcount.analyses.pruning.descent import Descent, stages
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


@pytest.mark.parametrize(
    ("name", "updates", "fresh"),
    [
        ("importance", [10, 20, 30], [10, 10, 10]),
        # The second model is that of the gates, which began with the whole one.
        ("l0", [10, 25, 50], [25, 10, 25]),
        pytest.param("group_lasso", [25, 35, 45], [25, 10, 10], marks=pytest.mark.slow),
    ],
)
def test_every_model_is_cut_from_the_one_before(task, planted, name, updates, fresh):
    before = planted.fingerprint
    options = {} if name == "importance" else {"share": 0.15}
    made = steps(task, name, **options)
    kept = [set(step.model.layout) for step in made]
    assert [len(heads) for heads in kept] == list(COUNTS)
    assert kept[0] > kept[1] > kept[2] == kept[2] | {CARRIER}
    # Ten updates a step, and fifteen for a choice; gates choose again when a quarter is left.
    assert [step.updates for step in made] == updates
    assert [step.fresh for step in made] == fresh
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


def test_a_choice_serves_until_a_quarter_of_its_heads_is_left(task, planted, monkeypatch):
    asked = []
    real = way["subset"].choose

    def choose(self, own, heads):
        asked.append((self.share, len(own.candidates), heads, own.translator.fingerprint))
        return real(self, own, heads)

    monkeypatch.setattr(way["subset"], "choose", choose)
    made = steps(task, "subset", share=0.1)
    six = made[1].model
    assert asked == [(0.1, 18, 6, planted.fingerprint), (0.1, 6, 2, six.fingerprint)]
    order = real(way["subset"](share=0.1), replace(task, folder=task.folder / "again"), 6)
    for step in made[:2]:
        assert set(step.model.layout) == set(planted.layout) - set(order.removed(step.heads))


def test_the_steps_that_a_choice_serves_by_hand():
    counts = (63, 54, 45, 36, 27, 18, 12, 9)
    assert stages(72, counts) == [range(6), range(6, 8)]  # 72 to 18, then 18 to 9
    assert stages(18, (9, 2)) == [range(1), range(1, 2)]
    assert stages(18, (1,)) == [range(1)]


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


def test_a_choice_that_began_further_up_is_the_same_after_a_kill(task, planted, tmp_path):
    """The second choice is made from five heads and serves four, three and two of them."""
    arguments = (way["subset"](share=0.05), Finish(finetune="none"), (10, 5, 4, 3, 2))
    whole = list(Descent(replace(task, folder=tmp_path / "whole"), *arguments).models())
    cut = [planted.without(set(planted.layout) - set(it.model.layout)) for it in whole]
    same = [a.fingerprint == b.model.fingerprint for a, b in zip(cut, whole, strict=True)]
    assert same == [True, False, False, False, False]  # five heads learnt with their gates
    for step in Descent(task, *arguments).models():
        if step.heads == 3:
            break
    [last] = Descent(task, *arguments).models(4)
    assert last.model.fingerprint == whole[4].model.fingerprint
    assert last.updates == whole[4].updates == 10


@pytest.mark.slow
def test_without_the_models_before_it_one_is_made_from_the_whole_again(task, tmp_path):
    whole = steps(replace(task, folder=tmp_path / "whole"), "subset")
    rest = list(Descent(task, way["subset"](), FINISH, COUNTS).models(2))
    assert [it.model.fingerprint for it in rest] == [whole[2].model.fingerprint]


def test_without_updates_nothing_is_trained(task, planted):
    none = Finish(finetune="none")
    made = list(Descent(task, way["importance"](), none, COUNTS).models())
    order = way["importance"]().choice(task, 2)
    for step in made:
        assert step.updates == 0
        cut = planted.without(order.removed(step.heads))
        assert step.model.fingerprint == cut.fingerprint
