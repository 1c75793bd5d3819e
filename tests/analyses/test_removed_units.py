"""Which feed-forward units can go: what is idle goes first, and what is cut is what was closed."""

import pytest
import torch

from headcount.analyses.pruning.finish import Finish
from headcount.analyses.pruning.way import Task
from headcount.analyses.result import Result
from headcount.analyses.units import UnitsSettings, least_important, without_units
from headcount.models.data.vocabulary import VocabularySettings
from headcount.models.errors import UsageError
from headcount.models.gates import Head
from headcount.models.training.from_corpus import Recipe
from headcount.models.training.settings import TrainingSettings
from headcount.models.units import Block, FeedForward, UnitLayout
from headcount.probe.units import unit_importance

TRAINING = TrainingSettings(
    updates=40,
    batch_tokens=128,
    warmup=4,
    validate_every=40,
    validation_sentences=0,
    average=1,
    precision="float32",
)
IDLE = [Block(FeedForward("encoder", 0), (2, 3)), Block(FeedForward("decoder", 1), (14, 15))]


@pytest.fixture(scope="module")
def lazy(nano):
    """The random model in which two blocks of units reach nothing: their columns of W_2 are 0."""
    made = nano.without([])
    for block in IDLE:
        layers = getattr(made.network, block.name.side)
        layers[block.name.layer].feed_forward.outer.weight[:, list(block.units)] = 0
    return made


@pytest.mark.parametrize("name", list(unit_importance))
def test_idle_blocks_have_no_importance_and_go_first(lazy, pairs, name):
    text = pairs.head(6)
    importance = unit_importance[name](lazy, text, 2)
    blocks = lazy.network.units.blocks(2)
    zero = [block for block, value in zip(blocks, importance.tolist(), strict=True) if value == 0]
    assert zero == IDLE
    assert set(least_important(blocks, importance.abs(), 44 / 48)) == set(IDLE)


def test_leave_one_out_of_a_block_is_the_cut_model(lazy, pairs):
    text = pairs.head(4)
    blocks = lazy.network.units.blocks(8)
    importance = unit_importance["leave_one_out"](lazy, text, 8)

    def nll(model):
        total = tokens = 0.0
        for batch in model.batches(text.source, text.target):
            total += float(model.token_losses(batch).sum())
            tokens += int(batch.labels.real.sum())
        return total / tokens

    for number in (0, 3):
        change = nll(lazy.without_units([blocks[number]])) - nll(lazy)
        assert float(importance[number]) == pytest.approx(change, abs=1e-9)


def test_every_layer_keeps_a_block_and_no_more_go_than_may():
    blocks = UnitLayout.full({"encoder": 1, "decoder": 1}, 6).blocks(2)
    importance = torch.tensor([1.0, 2.0, 3.0, 9.0, 8.0, 7.0])
    gone = least_important(blocks, importance, 0.25)  # nine of twelve units may go
    assert [blocks.index(block) for block in gone] == [0, 1, 5, 4]
    gone = least_important(blocks, importance, 0.6)  # 4.8 may go
    assert [blocks.index(block) for block in gone] == [0, 1]
    assert least_important(blocks, importance, 1.0) == ()


@pytest.fixture(scope="module")
def made(planted, copying, tmp_path_factory):
    recipe = Recipe(VocabularySettings(kind="word"), planted.network.settings, TRAINING, 0)
    folder = tmp_path_factory.mktemp("units")
    task = Task(planted, copying, recipe, planted.layout.heads, 0, folder)
    fewer = planted.without([Head("encoder", 0, 0)])
    settings = UnitsSettings(
        block=1, finish=Finish(finetune="short"), resamples=50, test_sentences=8, proof_sentences=4
    )
    return *without_units(fewer, task, settings), planted


def test_heads_and_units_are_shown_apart(made, copying, tmp_path):
    model, result, planted = made
    source_ids = planted.vocabularies["source"].encode_ids(copying.test.source[:8])
    layers = result.tables["layers"].rows
    rows = result.tables["outcome"].rows.set_index("model")
    assert list(rows.index) == ["whole", "heads removed", "units removed too"]
    units = len(planted.network.units)
    assert list(rows["units"]) == [units, units, units // 2]
    assert list(rows["heads"]) == [18, 17, 17]
    assert rows["parameters"].is_monotonic_decreasing
    # A unit of the encoder works once a source token, one of the decoder once a step (12).
    read = max(len(ids) + 1 for ids in source_ids)
    works = result.tables["layers"].rows["side"].map({"encoder": read, "decoder": 12})
    before, after = ((works * layers[it]).sum() for it in ("units", "units_left"))
    share = rows.loc["units removed too", "feed_forward_products"]
    assert share == pytest.approx(after / before)
    assert rows.loc["heads removed", "feed_forward_products"] == 1
    assert rows.loc["heads removed", "attention_products"] < 1
    assert rows.loc["whole", "bleu_difference"] == 0
    assert len(model.network.units) == units // 2
    assert layers["units_left"].sum() == units // 2
    assert (layers["units_left"] >= 1).all()
    assert result.tables["blocks"].rows["kept"].sum() == units // 2
    result.save(tmp_path)
    assert Result.load(tmp_path).tables["outcome"].rows.equals(result.tables["outcome"].rows)


def test_the_cut_is_what_was_closed(made):
    _, result, _ = made
    [row] = result.tables["proof"].rows.to_dict("records")
    assert row["largest_logit_difference"] < 1e-4 * max(1, row["largest_logit"])
    assert row["sentences"] == 4


def test_settings_that_make_no_sense_are_refused():
    for wrong in ({"keep": 0}, {"keep": 1.2}, {"block": 0}):
        with pytest.raises(UsageError):
            UnitsSettings.from_dict(wrong)
    with pytest.raises(UsageError, match="did you mean 'taylor'"):
        unit_importance["tailor"]
