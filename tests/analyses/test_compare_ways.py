"""The comparison of ways: curves on a planted model, summaries by hand, killed and resumed."""

import pytest
import torch
from made_translators import CARRIER

from headcount.analyses.pruning import arms
from headcount.analyses.pruning.finish import Finish
from headcount.analyses.pruning.way import Task, way
from headcount.analyses.pruning.way_tables import _knee
from headcount.analyses.ways import Training, WaysSettings, _repeated, ways
from headcount.models.data.vocabulary import VocabularySettings
from headcount.models.errors import UsageError
from headcount.models.gates import Attention
from headcount.models.planted import planted_corpus
from headcount.models.training.from_corpus import Recipe
from headcount.models.training.further import own_network
from headcount.models.training.settings import TrainingSettings
from headcount.models.transformer import TransformerTranslator

TRAINING = TrainingSettings(
    updates=80,  # a choice by training takes a quarter of them
    batch_tokens=128,
    warmup=4,
    learning_rate=0.01,
    validate_every=80,
    validation_sentences=0,
    average=1,
    precision="float32",
)
SETTINGS = WaysSettings(
    ways=("leave_one_out", "subset", "random"),
    finish=Finish(finetune="none"),
    shares=(0.5, 0.1),
    draws=3,
    seeds=2,
    sentences=16,
    resamples=50,
    jobs=1,
)


@pytest.fixture(scope="module")
def compare(planted):
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    text = planted_corpus(32)

    def compared(settings=SETTINGS, folder=None, **more):
        return ways(planted, text, settings, 0, recipe=recipe, folder=folder, **more)

    return compared


@pytest.fixture(scope="module")
def result(compare):
    return compare()


def test_every_way_and_repetition_has_every_number_of_heads(result):
    curve = result.tables["curve"].rows
    rows = curve.groupby(["order", "draw"])["heads_left"].apply(list)
    assert set(rows.index) == {
        ("leave_one_out", 0),
        *(("subset", draw) for draw in range(2)),
        *(("random", draw) for draw in range(3)),
    }
    assert all(counts == [18, 9, 2] for counts in rows)
    left = curve[["encoder_left", "decoder_left", "cross_left"]].sum(axis=1)
    assert (left == curve["heads_left"]).all()


def test_the_planted_answer_survives_every_way_but_chance(result):
    curve = result.tables["curve"].rows
    chosen = curve[curve["order"] != "random"]
    assert (chosen["bleu"] > 99).all()
    kept = result.tables["kept"].rows
    carriers = kept[(kept[["site", "layer", "head"]] == list(CARRIER)).all(axis=1)]
    assert len(carriers[carriers["order"] != "random"]) == 2 + 2 * 2
    lucky = set(map(tuple, carriers[["order", "draw", "heads_left"]].to_numpy()))
    for row in curve[(curve["order"] == "random") & (curve["heads_left"] < 18)].itertuples():
        assert (row.bleu > 50) == (("random", row.draw, row.heads_left) in lucky)


def test_choices_by_training_say_how_decided_they_were(result):
    curve = result.tables["curve"].rows
    undecided = curve[curve["heads_left"] < 18].set_index("order")["undecided"]
    assert undecided["subset"].notna().all()
    assert undecided["leave_one_out"].isna().all()


def test_the_knee_by_hand():
    values = {72: (30, 30), 36: (29, 27), 18: (20, 10), 0: (0, 0)}
    curve = [
        {"order": "l0", "draw": draw, "heads_left": heads, "share_left": heads / 72, "bleu": bleu}
        for heads, pair in values.items()
        for draw, bleu in enumerate(pair)
    ]
    # Above the straight line: 36: 29/30 - 1/2 = .467, 18: 20/30 - 1/4 = .417.
    assert _knee("l0", 0, curve)["heads_left"] == 36


def test_a_killed_comparison_does_again_only_what_it_lacks(compare, result, tmp_path, monkeypatch):
    real, made = arms.measure, []

    def stopped(*arguments):
        if len(made) == 4:
            raise KeyboardInterrupt
        made.append(1)
        return real(*arguments)

    monkeypatch.setattr(arms, "measure", stopped)
    with pytest.raises(KeyboardInterrupt):
        compare(folder=tmp_path)
    made.clear()
    monkeypatch.setattr(arms, "measure", lambda *it: made.append(1) or real(*it))
    resumed = compare(folder=tmp_path)
    assert len(made) == 2 * 6 - 4
    columns = ["order", "draw", "heads_left", "bleu", "nll", "chrf"]
    assert resumed.tables["curve"].rows[columns].equals(result.tables["curve"].rows[columns])


def test_the_control_stands_beside_the_way_whose_shapes_it_has(compare):
    changes = {"ways": ("leave_one_out",), "control": "leave_one_out", "shares": (0.5,)}
    curve = compare(SETTINGS.with_changes(**changes)).tables["curve"].rows
    one = curve[curve["heads_left"] == 9].set_index("order")
    assert list(one.index) == ["leave_one_out", "from scratch"]
    assert one.loc["from scratch", "parameters"] == one.loc["leave_one_out", "parameters"]
    assert one.loc["from scratch", "bleu"] < one.loc["leave_one_out", "bleu"]


def test_models_that_share_a_choice_do_not_train_it_again(planted, tmp_path):
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    task = Task(planted, planted_corpus(32), recipe, planted.layout.heads, 0, tmp_path)
    chosen = way["group_lasso"](share=0.05)  # four of eighty updates, one order for all
    arm = arms.Arm("group_lasso", 0, chosen, task, Finish(finetune="none"))
    made = list(arms._apart(arm, (9, 2), (0, 1)))
    assert [(it.updates, it.fresh) for it in made] == [(4, 4), (4, 0)]


def test_a_way_that_begins_a_training_ends_it_at_its_own_rate(planted, tmp_path):
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    task = Task(planted, planted_corpus(32), recipe, planted.layout.heads, 0, tmp_path)
    [early] = _repeated("early", way["early"](), [task], WaysSettings(seeds=1))
    [other] = _repeated("l0", way["l0"](), [task], WaysSettings(seeds=1))
    assert (early.finish.rate, early.finish.updates(0.2)) == (None, 0.8)
    assert early.finish == Finish()
    assert other.finish == WaysSettings().finish


@pytest.mark.parametrize("chained", [True, False])
def test_what_another_comparison_left_in_the_folder_is_not_gone_on_with(
    compare, tmp_path, monkeypatch, chained
):
    """A was killed, then B with another fine-tuning: A goes on from its own models."""

    def settings(rate):
        finish = Finish(share=0.1, rate=rate, average=1, validations=1)
        more = {"ways": ("leave_one_out",), "finish": finish, "shares": (0.7, 0.5, 0.3)}
        return SETTINGS.with_changes(**more, seeds=1, chained=chained)

    def killed_after(points, rate):
        real, made = arms.measure, []

        def stopped(*arguments):
            if len(made) == points:
                raise KeyboardInterrupt
            made.append(1)
            return real(*arguments)

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(arms, "measure", stopped)
            compare(settings(rate), tmp_path)

    killed_after(1, 0.1)
    killed_after(1, 1.0)
    columns = ["heads_left", "nll"]
    resumed = compare(settings(0.1), tmp_path).tables["curve"].rows[columns]
    assert resumed.equals(compare(settings(0.1)).tables["curve"].rows[columns])


@pytest.fixture(scope="module")
def retrained(planted):
    """Another training of the same network, in which another head carries the answer."""
    network = own_network(planted)
    attention = network.attentions[Attention(CARRIER.site, CARRIER.layer)]
    order = [1, 0, 2]
    with torch.no_grad():
        for part in (attention.query, attention.key, attention.value):
            rows = part.weight.unflatten(0, (len(order), -1))  # [head, head_width, width]
            part.weight.copy_(rows[order].flatten(0, 1))
        columns = attention.output.weight.unflatten(1, (len(order), -1))
        attention.output.weight.copy_(columns[:, order].flatten(1, 2))
    both = planted.vocabularies
    return TransformerTranslator(network.eval(), both["source"], both["target"])


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_each_training_of_the_network_is_asked_for_its_own_heads(compare, retrained, jobs):
    recipe = Recipe(VocabularySettings(kind="word"), retrained.network.settings, TRAINING, 1)
    settings = SETTINGS.with_changes(ways=("leave_one_out", "random"), draws=2, jobs=jobs)
    result = compare(settings, others=[Training("again", retrained, recipe)])
    curve = result.tables["curve"].rows
    orders = curve.groupby(["order", "model"])["draw"].unique()
    assert {key: draws.tolist() for key, draws in orders.items()} == {
        ("leave_one_out", 0): [0],
        ("leave_one_out", 1): [1],
        ("random", 0): [0, 1],
        ("random", 1): [2, 3],
    }
    kept = result.tables["kept"].rows
    of_two = kept[(kept["order"] == "leave_one_out") & (kept["heads_left"] == 2)]
    carriers = {0: CARRIER, 1: CARRIER._replace(head=0)}
    for draw, rows in of_two.groupby("draw"):
        assert carriers[draw] in set(map(tuple, rows[["site", "layer", "head"]].to_numpy()))
    assert (curve[curve["order"] == "leave_one_out"]["bleu"] > 99).all()
    assert "of 2 trainings of the network, the run's own and those of again" in result.remarks[2]
    assert result.provenance.data["model of again"] == retrained.fingerprint


def test_only_other_trainings_of_the_same_network_are_compared(compare, planted, retrained):
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    with pytest.raises(UsageError, match="again has the weights of another run"):
        compare(others=[Training("again", planted, recipe)])
    smaller = Training("smaller", retrained.without([CARRIER]), recipe)
    with pytest.raises(UsageError, match="smaller has other heads"):
        compare(others=[smaller])


def test_an_unknown_way_is_refused_before_any_work(compare, tmp_path):
    with pytest.raises(UsageError, match="did you mean 'subset'"):
        compare(SETTINGS.with_changes(ways=("leave_one_out", "subsett")), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_processes_find_what_one_process_finds(compare, result, tmp_path):
    two = compare(SETTINGS.with_changes(jobs=2), tmp_path)
    columns = ["order", "draw", "heads_left", "bleu", "nll"]
    assert two.tables["curve"].rows[columns].equals(result.tables["curve"].rows[columns])
