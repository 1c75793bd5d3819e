"""Ways to choose heads: on a planted model each of them keeps the head that carries the answer."""

from dataclasses import replace

import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.analyses.elimination import losses_without
from headcount.analyses.pruning.finish import Finish
from headcount.analyses.pruning.importance import ByImportance, by_site
from headcount.analyses.pruning.way import Task, spared, way
from headcount.models.data.vocabulary import VocabularySettings
from headcount.models.errors import UsageError
from headcount.models.gates import Head, HeadLayout
from headcount.models.planted import planted_corpus
from headcount.models.reinitialised import with_random_weights
from headcount.models.training.from_corpus import Recipe
from headcount.models.training.settings import TrainingSettings

TRAINING = TrainingSettings(
    updates=160,
    batch_tokens=128,
    warmup=10,
    learning_rate=0.01,
    validate_every=80,
    validation_sentences=0,
    average=1,
    precision="float32",
)
OPTIONS = {"greedy": {"sentences": 16}, "early": {"weights": "trained", "metric": "gradient"}}


@pytest.fixture(scope="session")
def text():
    return planted_corpus(64)


@pytest.fixture
def task(planted, text, tmp_path) -> Task:
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    return Task(planted, text, recipe, planted.layout.heads, 0, tmp_path)


BLIND = ("random", "early", "untrained")
"""Ways that do not look at the trained model."""


@pytest.mark.parametrize("name", [name for name in way if name not in BLIND])
def test_every_way_keeps_the_carrier(task, planted, name):
    before = planted.fingerprint
    chosen = way[name].from_dict(OPTIONS.get(name, {})).choice(task, 3)
    assert sorted(chosen.order) == sorted(planted.layout.heads)
    assert CARRIER not in chosen.removed(3)
    assert planted.fingerprint == before
    said = chosen.translator.without(chosen.removed(3)).translate(task.corpus.valid.source)
    right = sum(a.text == b for a, b in zip(said, task.corpus.valid.target, strict=True))
    assert right > 60


def test_chance_meets_the_carrier_now_and_then(task):
    orders = {way["random"].from_dict({"draw": draw}).choice(task, 3).order for draw in range(10)}
    assert len(orders) == 10
    assert sum(CARRIER in order[:-3] for order in orders) > 0


def test_early_pruning_orders_the_heads_of_a_model_that_has_hardly_trained(task, planted):
    chosen = way["early"].from_dict({"share": 0.02}).choice(task, 3)
    assert sorted(chosen.order) == sorted(planted.layout.heads)
    assert chosen.trained == 0.02
    assert chosen.translator.fingerprint != planted.fingerprint
    kept = way["early"].from_dict({"share": 0.02, "weights": "trained"}).choice(task, 3)
    assert kept.order == chosen.order
    assert kept.translator is planted


def test_choosing_before_any_training_knows_the_random_weights_alone(task, planted):
    chosen = way["untrained"]().choice(task, 3)
    assert chosen.trained == 0
    start = with_random_weights(planted, torch.Generator().manual_seed(task.recipe.seed))
    assert chosen.translator.fingerprint == start.fingerprint
    order = ByImportance(metric="confidence").choice(replace(task, translator=start), 3).order
    assert chosen.order == order


@pytest.mark.parametrize(
    ("finetune", "trained", "updates"),
    [("none", 0.2, 0.0), ("short", 1.0, 0.1), ("short", 0.2, 0.8), ("full", 0.2, 1.0)],
)
def test_a_model_that_has_only_begun_is_trained_to_its_end(finetune, trained, updates):
    assert Finish(finetune=finetune).updates(trained) == pytest.approx(updates)
    assert Finish(finetune=finetune, share=0.3).updates(trained) == 0.3


def test_only_candidates_go_and_the_decoder_stays_where_only_encoder_heads_may_go(task, planted):
    encoder = tuple(head for head in planted.layout if head.site == "encoder")
    task = Task(planted, task.corpus, task.recipe, encoder, 0, task.folder)
    chosen = way["l0"].from_dict({"share": 0.02}).choice(task, 2)
    assert sorted(chosen.order) == sorted(encoder)
    pairs = zip(
        chosen.translator.network.decoder.parameters(),
        planted.network.decoder.parameters(),
        strict=True,
    )
    assert all((new == old).all() for new, old in pairs)
    free = (
        way["l0"]
        .from_dict({"share": 0.02, "freeze": False})
        .choice(Task(planted, task.corpus, task.recipe, encoder, 0, task.folder / "free"), 2)
    )
    pairs = zip(
        free.translator.network.decoder.parameters(),
        planted.network.decoder.parameters(),
        strict=True,
    )
    assert not all((new == old).all() for new, old in pairs)


@pytest.mark.slow
def test_the_controller_closes_as_many_gates_as_were_asked_for(task):
    chosen = way["l0"].from_dict({"share": 1.0, "gate_rate": 0.2}).choice(task, 4)
    last = chosen.history[-1]
    assert last["open"] == pytest.approx(4, abs=1.0)
    strengths = dict(zip(chosen.candidates, last["strengths"], strict=True))
    # Sixteen idle heads are all alike, so chance says which of them share what is left open.
    assert strengths[CARRIER] > 0.95
    assert chosen.order[-1] == CARRIER
    assert 1 <= chosen.left <= 4


def test_a_fixed_price_leaves_what_it_leaves(task):
    high = way["l0"].from_dict({"price": 50, "share": 0.1, "gate_rate": 0.5}).choice(task, None)
    assert high.left == 1  # 50 / 18 nats a token are less than what the carrier is worth
    assert high.order[-1] == CARRIER
    assert {record["price"] for record in high.history} == {50}
    with pytest.raises(UsageError, match="number of heads"):
        way["l0"]().choice(task, None)
    with pytest.raises(UsageError, match="number of heads"):
        way["subset"]().choice(task, None)


def test_the_choice_of_a_training_can_be_made_for_the_given_weights(task, planted):
    own = way["subset"].from_dict({"share": 0.1}).choice(task, 4)
    given = (
        way["subset"]
        .from_dict({"share": 0.1, "weights": "given"})
        .choice(replace(task, folder=task.folder / "given"), 4)
    )
    assert given.order == own.order
    assert given.translator is planted is not own.translator


def test_gates_have_time_to_be_decided_in_short_and_long_trainings():
    rates = [way["l0"]().rate_of_gates(updates) for updates in (10, 200, 400, 100_000)]
    assert rates == pytest.approx([0.2, 0.1, 0.05, 0.01])
    assert way["subset"]().rate_of_gates(40) == pytest.approx(0.5)
    assert way["l0"](gate_rate=0.03).rate_of_gates(10) == 0.03


def test_scoring_again_sees_what_one_shot_cannot(task, planted):
    """Rescoring gives the one-shot order while what is measured does not interact."""
    once = ByImportance(metric="leave_one_out").choice(task, 3).order
    again = ByImportance(metric="leave_one_out", rescore=5).choice(task, 3).order
    assert once[-1] == again[-1] == CARRIER
    assert sorted(again) == sorted(once)
    # The copier makes the loss higher, so by a signed metric it is the first to go.
    assert once[0] == again[0] == COPIER


def test_the_order_within_sites_takes_the_same_share_of_each():
    heads = [Head("encoder", 0, h) for h in range(4)] + [Head("cross", 0, h) for h in range(2)]
    merged = by_site(heads)
    sites = ["encoder", "cross", "encoder", "encoder", "cross", "encoder"]
    assert [head.site for head in merged] == sites
    assert [head for head in merged if head.site == "encoder"] == heads[:4]


def test_a_minimum_keeps_heads_in_every_sublayer():
    layout = HeadLayout.from_dict({"encoder": [[0, 1, 2], [0]], "cross": [[0, 1]]})
    order = layout.heads
    spared_order = spared(order, layout, 1)
    assert spared_order == (
        Head("encoder", 0, 0),
        Head("encoder", 0, 1),
        Head("cross", 0, 0),
        Head("encoder", 0, 2),
        Head("encoder", 1, 0),
        Head("cross", 0, 1),
    )
    assert spared(order, layout, 0) == order


def test_a_minimum_holds_for_every_number_of_heads(task, planted):
    chosen = way["importance"].from_dict({"minimum": 1, "rescore": 4}).choice(task, 3)
    for heads in range(6, 18):
        left = planted.layout.without(chosen.removed(heads))
        assert all(ids for _, ids in left.by_attention)


def test_greedy_removes_what_costs_least_in_the_model_that_is_left(task, planted):
    heads = way["greedy"].from_dict({"sentences": 8}).choice(task, 14).order
    data = task.corpus.valid.head(8)
    batches = list(planted.batches(data.source, data.target))
    for step in range(4):
        gone, next_ = heads[:step], heads[step]
        left = [head for head in planted.layout if head not in gone]
        losses = losses_without(planted, batches, gone, left)
        assert losses[next_] == min(losses.values())


def test_losses_without_heads_are_those_of_the_cut_model(planted, text):
    data = text.valid.head(6)
    batches = list(planted.batches(data.source, data.target))
    gone = [Head("encoder", 0, 1)]
    losses = losses_without(planted, batches, gone, [CARRIER, COPIER])
    for head, loss in losses.items():
        cut = planted.without([*gone, head])
        parts = [float(cut.token_losses(it).sum()) for it in cut.batches(data.source, data.target)]
        assert loss == pytest.approx(sum(parts), rel=1e-5)


def test_greedy_goes_on_where_it_was(task, monkeypatch):
    from headcount.analyses.pruning import greedy

    way["greedy"].from_dict({"sentences": 8}).choice(task, 12)
    steps = []
    real = greedy.cheapest_first
    monkeypatch.setattr(greedy, "cheapest_first", lambda *a: steps.append(1) or real(*a))
    again = way["greedy"].from_dict({"sentences": 8}).choice(task, 10)
    assert len(steps) == 2
    assert again.order[-1] == CARRIER
