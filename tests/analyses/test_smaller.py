"""Goals: what a smaller model is asked for, searched on validation text, judged on test text."""

import time
from dataclasses import replace

import pytest
from made_translators import CARRIER

from headcount.analyses.bench import size
from headcount.analyses.pruning.finish import Finish, from_scratch
from headcount.analyses.pruning.goal import Goal, way_of
from headcount.analyses.pruning.importance import ByImportance
from headcount.analyses.pruning.search import Search
from headcount.analyses.pruning.trained import L0
from headcount.analyses.pruning.way import Chosen, Task
from headcount.analyses.smaller import SmallerSettings, smaller
from headcount.models.data.vocabulary import VocabularySettings
from headcount.models.errors import ThresholdError, UsageError
from headcount.models.gates import Head
from headcount.models.planted import planted_corpus
from headcount.models.pruning.plan import PruningPlan
from headcount.models.quality import Difference
from headcount.models.training.from_corpus import Recipe
from headcount.models.training.settings import TrainingSettings
from headcount.models.transformer import TransformerTranslator
from headcount.models.translator import SearchSettings

TRAINING = TrainingSettings(
    updates=40,
    batch_tokens=128,
    warmup=4,
    learning_rate=0.01,
    validate_every=40,
    validation_sentences=0,
    average=1,
    precision="float32",
)
NONE = Finish(finetune="none")


@pytest.fixture(scope="session")
def text():
    return planted_corpus(32)


@pytest.fixture
def make(planted, text, tmp_path):
    """Return the function that makes a smaller model of the planted one."""
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)

    def made(goal: dict, *, plan=None, start=None, **settings):
        values = {"finish": NONE, "resamples": 100, "proof_sentences": 8, "memory": False}
        values |= settings
        all_settings = SmallerSettings(goal=Goal(**goal), **values)
        more = {"recipe": recipe, "folder": tmp_path, "plan": plan, "start": start}
        return smaller(planted, text, all_settings, 0, **more)

    return made


def answers(result) -> dict[str, str]:
    rows = result.tables["answer"].rows
    return dict(zip(rows["property"], rows["value"], strict=True))


def test_the_smallest_model_within_a_loss_is_the_carrier_alone(make, planted):
    model, plan, result = make({"max_bleu_loss": 0.3})
    assert model.layout.heads == (CARRIER,)
    assert plan.model == planted.fingerprint
    assert set(plan.removed) == set(planted.layout) - {CARRIER}
    assert answers(result)["why it stopped"] == "no heads are left to remove"
    tried = result.tables["tried"].rows
    assert list(tried["heads_left"]) == [9, 4, 2, 1]  # by bisection
    assert tried["accepted"].all()


def test_the_search_stops_where_the_loss_is_too_large(make, planted, monkeypatch):
    """Were the carrier the third head to go, fifteen heads could not be reached."""
    order = [*(head for head in planted.layout if head != CARRIER)]
    order.insert(2, CARRIER)
    monkeypatch.setattr(ByImportance, "choose", _order_of(order))
    model, _, result = make({"max_bleu_loss": 0.3})
    assert len(model.layout) == 16
    why = answers(result)["why it stopped"]
    assert why.startswith("with 15 heads the loss is ")
    assert why.endswith("more than the 0.3 allowed by its bound")


def _order_of(order):
    def choose(self, task, heads):
        return Chosen(task.translator, tuple(order))

    return choose


def test_a_loss_that_no_model_stays_within_is_not_met(make, planted, monkeypatch):
    order = [CARRIER, *(head for head in planted.layout if head != CARRIER)]
    monkeypatch.setattr(ByImportance, "choose", _order_of(order))
    with pytest.raises(ThresholdError, match=r"within the 0\.3 .* 17 of 18"):
        make({"max_bleu_loss": 0.3})
    with pytest.raises(ThresholdError, match="with 9 heads the validation loss is"):
        make({"heads": 9, "max_bleu_loss": 0.3})


def test_the_largest_model_that_is_fast_enough(make, monkeypatch):
    """A machine on which every head that is gone spares a thirtieth of the time."""
    monkeypatch.setattr(Search, "_speedup", lambda self, heads: 1 / (1 - (18 - heads) / 30))
    model, _, result = make({"speedup": 1.3})
    # 1 / (1 - 7/30) = 1.304 with 11 heads, 1 / (1 - 6/30) = 1.25 with 12.
    assert len(model.layout) == 11
    why = "with 11 heads decoding is 1.30 times as fast, with 12 it is not"
    assert answers(result)["why it stopped"] == why
    with pytest.raises(ThresholdError, match=r"with 1 heads it is 2\.31 times"):
        make({"speedup": 2.5})


def test_speed_is_measured_in_turn(planted, text, tmp_path, monkeypatch):
    from headcount.analyses.pruning import search as searching

    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    task = Task(planted, text, recipe, planted.layout.heads, 0, tmp_path)
    data, way = text.valid.head(4), ByImportance(metric="weight_norm")
    search = Search(task, way, NONE, Goal(heads=3), data, SearchSettings(), 10)
    times = iter([2.0, 1.0, 3.0, 1.0, 4.0, 1.0])

    class Clock:
        @property
        def seconds(self):
            return next(times)

    monkeypatch.setattr(searching, "Stopwatch", Clock)
    assert search._speedup(3) == 3.0


def test_bound_and_mean_ask_different_things():
    loss = Difference("bleu", -0.2, -0.5, 0.1, 0.3, "", 10, "")
    assert not Goal(max_bleu_loss=0.3).allows(loss)
    assert Goal(max_bleu_loss=0.3, by="mean").allows(loss)
    assert Goal(max_bleu_loss=0.5).allows(loss)
    assert not Goal(max_bleu_loss=0.1, by="mean").allows(loss)


@pytest.mark.parametrize(("goal", "left"), [({"heads": 5}, 5), ({"keep": 0.25}, 4)])
def test_a_number_or_a_share_is_reached_exactly(make, goal, left):
    model, _, result = make(goal)
    assert len(model.layout) == left
    assert CARRIER in model.layout
    assert answers(result)["why it stopped"] == f"{left} heads were asked for"
    outcome = result.tables["outcome"].rows.set_index("model")
    assert outcome.loc["smaller", "bleu"] == pytest.approx(100)
    assert outcome.loc["smaller", "parameters"] < outcome.loc["whole", "parameters"]
    assert outcome.loc["whole", "bleu_difference"] == 0
    kept = result.tables["kept"].rows
    assert kept["kept"].sum() == left
    assert list(kept.sort_values("step")["kept"]) == [False] * (18 - left) + [True] * left


def test_what_the_models_need_by_hand(make, planted):
    """A third of the heads at every attention leaves a third of every product of attention."""
    kept = {(head.site, head.layer): head for head in planted.layout}
    removed = tuple(head for head in planted.layout if head not in kept.values())
    _, _, result = make({}, plan=PruningPlan(planted.fingerprint, "hand", removed))
    cost = result.tables["cost"].rows.set_index("model")
    assert cost.loc["smaller", "attention_left"] == pytest.approx(1 / 3)
    assert cost.loc["whole", "forward_left"] == 1
    assert cost.loc["smaller", "weights"] == 4 * cost.loc["smaller", "parameters"]
    assert cost.loc["whole", "disk"] - cost.loc["smaller", "disk"] > 3.9 * (
        cost.loc["whole", "parameters"] - cost.loc["smaller", "parameters"]
    )
    assert cost["peak"].isna().all()  # nobody asked for it
    spared = cost.loc["whole", "attention"] - cost.loc["smaller", "attention"]
    assert cost.loc["whole", "forward"] - cost.loc["smaller", "forward"] == pytest.approx(spared)


def test_the_peak_of_memory_is_that_of_the_same_search_by_each_model(make, monkeypatch):
    """The stand-in reads the model that a fresh process would, and says its size."""
    asked = []

    def peak(folder, sentences, search, device):
        asked.append((sentences, search, device))
        return TransformerTranslator.load(folder).describe()["parameters"]

    monkeypatch.setattr(size, "can_measure", lambda device: True)
    monkeypatch.setattr(size, "peak_of_search", peak)
    _, _, result = make({"heads": 2}, memory=True, search=SearchSettings(beam=3))
    cost = result.tables["cost"]
    assert list(cost.rows["peak"]) == list(cost.rows["parameters"])
    assert asked[0] == asked[1]
    sentences, search, device = asked[0]
    assert (len(sentences), search.beam, device) == (32, 3, "cpu")
    assert f"beam 3, {search.min_tokens} tokens a sentence" in cost.caption


def test_the_proof_of_the_cut_is_in_the_result(make):
    _, _, result = make({"heads": 6})
    [row] = result.tables["proof"].rows.to_dict("records")
    assert row["largest_logit_difference"] < 1e-4
    assert row["translations_equal"] == row["sentences"] == 8


def test_sites_that_may_not_be_pruned_keep_their_heads(make):
    model, _, _ = make({"heads": 0, "sites": ("encoder", "decoder")})
    assert model.layout.describe() == "0 encoder, 0 decoder, 6 cross"


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"heads": 0}, "without any head"),
        ({"keep": 0.01}, "without any head"),
        ({"heads": 19}, "cannot be left of 18"),
        ({}, "say how small"),
        ({"heads": 3, "keep": 0.5}, "one of them"),
        ({"heads": 1, "sites": ("encoders",)}, "did you mean 'encoder'"),
    ],
)
def test_goals_that_no_model_can_have_are_refused(make, goal, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        make(goal)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("goal", [{"heads": -1}, {"keep": 1.5}, {"max_bleu_loss": -0.3}])
def test_a_goal_beyond_what_there_is_is_refused(goal):
    with pytest.raises(UsageError):
        Goal.from_dict(goal)


def test_unknown_ways_and_options_are_refused():
    with pytest.raises(UsageError, match="did you mean 'greedy'"):
        way_of("greed", {})
    with pytest.raises(UsageError, match="did you mean 'price'"):
        way_of("l0", {"prise": 1})
    assert way_of("gradient", {"rescore": 3}) == ByImportance(metric="gradient", rescore=3)


def test_a_plan_is_followed_to_the_letter(make, planted):
    removed = tuple(head for head in planted.layout if head.site == "encoder")
    plan = PruningPlan(planted.fingerprint, "l0", removed)
    model, made, _ = make({}, plan=plan)
    assert set(planted.layout) - set(model.layout) == set(removed)
    assert made == plan
    with pytest.raises(UsageError, match="another model"):
        make({}, plan=replace(plan, model="0" * 64))
    with pytest.raises(UsageError, match="no head encoder"):
        make({}, plan=replace(plan, removed=(Head("encoder", 7, 0),)))


def test_the_time_of_a_priced_model_has_its_choice_in_it(make, planted, monkeypatch):
    def choose(self, task, heads):
        time.sleep(0.2)
        return Chosen(task.translator, planted.layout.heads, left=9)

    monkeypatch.setattr(L0, "choose", choose)
    _, _, result = make({}, way="l0", options={"price": 3.0})
    assert result.tables["tried"].rows["seconds"].item() > 0.2


@pytest.mark.parametrize(("price", "what", "try_"), [(1e6, "all", "10,"), (1e-7, "none", "0.1 ")])
def test_a_price_that_decides_nothing_is_said_with_a_proposal(make, price, what, try_):
    options = {"price": price, "share": 0.5, "gate_rate": 0.5}
    with pytest.raises(ThresholdError, match=f"closes {what} of the 18 heads: try {try_}"):
        make({}, way="l0", options=options)


def test_every_search_keeps_to_the_minimum(make, monkeypatch):
    model, _, _ = make({"max_bleu_loss": 0.3}, options={"minimum": 1})
    assert all(ids for _, ids in model.layout.by_attention)
    assert len(model.layout) == 6  # one of each sublayer
    with pytest.raises(UsageError, match=r"5 heads cannot be left .* 6 have to stay"):
        make({"heads": 5}, options={"minimum": 1})
    options = {"price": 3.0, "share": 0.5, "gate_rate": 0.5, "minimum": 2}
    model, _, result = make({}, way="l0", options=options)
    assert len(model.layout) >= 12
    if len(model.layout) == 12:
        assert "12 have to stay" in answers(result)["why it stopped"]


def test_a_plan_keeps_to_an_allowed_loss(make, planted):
    """Without the carrier nothing is left of the translation."""
    plan = PruningPlan(planted.fingerprint, "mine", (CARRIER,))
    with pytest.raises(ThresholdError, match=r"more than the 0\.3 allowed by its mean"):
        make({"max_bleu_loss": 0.3, "by": "mean"}, plan=plan)
    with pytest.raises(UsageError, match="a plan names the heads that go"):
        make({"heads": 3}, plan=plan)


def test_from_a_smaller_start_the_whole_model_teaches_and_is_compared_with(
    make, planted, monkeypatch
):
    taught = []
    monkeypatch.setattr(
        Task, "train", lambda self, what, cut, *rest, **more: taught.append(more["teacher"]) or cut
    )
    start = planted.without([head for head in planted.layout if head.site == "encoder"])
    model, plan, result = make({"heads": 2}, finish=Finish(distil=True), start=start)
    assert taught == [planted]
    assert set(model.layout) < set(start.layout)
    assert set(plan.removed) == set(planted.layout) - set(model.layout)
    assert answers(result)["heads left"].startswith("2 of 18")
    outcome = result.tables["outcome"].rows
    assert list(outcome["heads"]) == [18, 2]
    gone = result.tables["kept"].rows.query("site == 'encoder'")
    assert not gone["kept"].any() and gone["step"].isna().all()
    with pytest.raises(UsageError, match="has heads that the run's does not have"):
        settings = SmallerSettings(goal=Goal(heads=2))
        smaller(start, planted_corpus(8), settings, 0, recipe=None, folder=None, start=planted)


def test_fine_tuning_with_the_whole_model_as_teacher_is_kept_and_resumed(make, planted):
    settings = {"finish": Finish(finetune="short", distil=True), "control": True}
    model, _, result = make({"heads": 2}, **settings)
    again, _, _ = make({"heads": 2}, **settings)
    assert model.fingerprint == again.fingerprint != planted.fingerprint
    outcome = result.tables["outcome"].rows.set_index("model")
    assert list(outcome.index) == ["whole", "smaller", "from scratch"]
    assert outcome.loc["from scratch", "parameters"] == outcome.loc["smaller", "parameters"]
    assert outcome.loc["from scratch", "bleu"] < outcome.loc["smaller", "bleu"]


def test_the_control_has_the_shape_and_other_weights(planted, text, tmp_path):
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    task = Task(planted, text, recipe, planted.layout.heads, 0, tmp_path)
    smaller_one = planted.without(planted.layout.heads[:16])
    control = from_scratch(task, smaller_one, "2")
    assert control.layout == smaller_one.layout
    assert control.fingerprint != smaller_one.fingerprint


def test_a_choice_by_training_shows_how_it_came_about(make):
    options = {"share": 0.25}
    model, _, result = make({"heads": 4}, way="subset", options=options)
    assert len(model.layout) == 4
    gates, trajectory = result.tables["gates"].rows, result.tables["trajectory"].rows
    assert len(gates) == 10
    assert len(trajectory) == 10 * 18
    assert gates["open"].iloc[-1] == pytest.approx(4, abs=0.2)
    assert any("undecided" in remark for remark in result.remarks)
