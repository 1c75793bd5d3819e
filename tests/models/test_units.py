"""Feed-forward units: gates on blocks of them, and blocks cut out of the weights."""

import pytest
import torch
from made_translators import nano, vocabulary
from tiny import SHAPE, tiny_batch, tiny_network

from headcount.models.checkpoints import fingerprint_of
from headcount.models.errors import UsageError
from headcount.models.gates import Head
from headcount.models.losses import token_cross_entropy
from headcount.models.surgery import without_heads, without_units
from headcount.models.transformer import TransformerTranslator
from headcount.models.units import Block, FeedForward, UnitLayout, spread

__all__ = ["nano", "vocabulary"]
SIZE = 5  # 24 units a layer: four blocks of five, and one of four
GONE = [0, 3, 4, 7, 11, 12, 19]


def loss(network, units=None) -> torch.Tensor:
    batch = tiny_batch()
    logits = network.project(network(batch, None, None, units))
    return token_cross_entropy(logits, batch.labels.ids, batch.labels.real).sum()


def test_the_gates_of_blocks_reach_their_units():
    layout = UnitLayout.full({"encoder": 1, "decoder": 1}, 5)
    blocks = layout.blocks(2)
    assert [len(it.units) for it in blocks] == [2, 2, 1] * 2
    gates = spread(torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]), blocks)
    assert gates[FeedForward("encoder", 0)].tolist() == [[1, 1, 2, 2, 3]]
    assert gates[FeedForward("decoder", 0)].tolist() == [[4, 4, 5, 5, 6]]


def test_layouts_are_written_as_ranges_and_come_back():
    layout = UnitLayout.full({"encoder": 2, "decoder": 1}, 9)
    first, second = FeedForward("encoder", 0), FeedForward("encoder", 1)
    layout = layout.without([Block(first, (0, 3, 4)), Block(second, tuple(range(1, 9)))])
    written = {"encoder.0": "1-2,5-8", "encoder.1": "0", "decoder.0": "0-8"}
    assert layout.to_dict() == written
    assert UnitLayout.from_dict(written) == layout
    assert len(layout) == 6 + 1 + 9


@torch.no_grad()
def test_open_gates_are_no_gates_bit_for_bit():
    network = tiny_network()
    blocks = network.units.blocks(SIZE)
    for rows in (1, 3):
        ones = spread(torch.ones(rows, len(blocks), dtype=torch.double), blocks)
        assert torch.equal(loss(network, ones), loss(network))


def test_the_slope_of_a_gate_is_the_central_difference():
    network = tiny_network()
    blocks = network.units.blocks(SIZE)
    gates = torch.ones(1, len(blocks), dtype=torch.double, requires_grad=True)
    slopes = torch.autograd.grad(loss(network, spread(gates, blocks)), gates)[0]
    with torch.no_grad():
        for block in range(len(blocks)):
            step = torch.zeros_like(gates)
            step[0, block] = 1e-6
            ends = [loss(network, spread(gates + side * step, blocks)) for side in (1, -1)]
            assert float(ends[0] - ends[1]) / 2e-6 == pytest.approx(
                float(slopes[0, block]), abs=1e-6
            )


@pytest.mark.parametrize("place", ["post", "pre"])
@torch.no_grad()
def test_closed_gates_are_removed_units(place):
    network, batch = tiny_network(SHAPE.with_changes(norm_place=place)), tiny_batch()
    blocks = network.units.blocks(SIZE)
    gates = torch.ones(1, len(blocks), dtype=torch.double)
    gates[:, GONE] = 0
    masked = network(batch, None, None, spread(gates, blocks))
    gone = [blocks[number] for number in GONE]
    smaller = without_units(network, gone)
    torch.testing.assert_close(smaller(batch), masked)
    assert not torch.allclose(network(batch), masked)
    units = sum(len(block.units) for block in gone)
    size, left = (sum(it.numel() for it in one.parameters()) for one in (network, smaller))
    assert size - left == units * (2 * 16 + 1)


@torch.no_grad()
def test_heads_and_units_go_in_any_order_and_again():
    network, batch = tiny_network(), tiny_batch()
    blocks = network.units.blocks(SIZE)
    gone = [blocks[number] for number in GONE]
    heads = [Head("encoder", 0, 1), *(Head("cross", 1, head) for head in range(4))]
    one = without_units(without_heads(network, heads), gone)
    other = without_heads(without_units(without_units(network, gone[:3]), gone[3:]), heads)
    assert torch.equal(one(batch), other(batch))
    assert one.units == other.units
    with pytest.raises(UsageError, match=r"encoder\.0 has no feed-forward unit 0"):
        without_units(one, gone[:1])
    with pytest.raises(UsageError, match="leave one"):
        without_units(network, [it for it in blocks if it.name.side == "decoder"])
    with pytest.raises(UsageError, match="at least one"):
        network.units.blocks(0)


def test_a_model_without_units_is_saved_searched_and_trained_on(nano, tmp_path):
    blocks = nano.network.units.blocks(3)
    cut = nano.without_units([blocks[0], blocks[7], blocks[-1]])
    cut.network.float()
    cut.save(tmp_path)
    again = TransformerTranslator.load(tmp_path)
    assert again.fingerprint == cut.fingerprint != nano.fingerprint
    assert again.network.units == cut.network.units
    assert again.translate(["a b c"]) == cut.translate(["a b c"])
    assert again.without([Head("cross", 0, 0)]).network.units == cut.network.units
    trained = without_heads(again.network, ())
    assert all(weight.requires_grad for weight in trained.parameters())
    assert fingerprint_of(trained) == fingerprint_of(again.network)


@torch.no_grad()
def test_every_sentence_follows_its_own_row(nano):
    [batch] = nano.batches(["a b", "c"], ["a b", "c"])
    blocks = nano.network.units.blocks(4)
    rows = torch.rand(2, len(blocks), generator=torch.Generator().manual_seed(1)).double()
    both = nano.token_losses_of_units(batch, rows, 4)
    for row in (0, 1):
        alone = nano.token_losses_of_units(batch, rows[row : row + 1], 4)
        torch.testing.assert_close(both[row], alone[row])
