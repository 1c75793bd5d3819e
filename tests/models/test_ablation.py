"""Shared work gives the numbers of whole forwards."""

import pytest
import torch
from tiny import SHAPE, tiny_batch, tiny_network

from headcount.models.ablation import Replay, in_prefix_order, losses_of_masks
from headcount.models.gates import Attention, Head, HeadLayout
from headcount.models.losses import label_losses, token_cross_entropy
from headcount.models.surgery import without_heads


def naive_losses(network, batch, mask):
    logits = network.project(network(batch, mask[None]))
    return token_cross_entropy(logits, batch.labels.ids, batch.labels.real)


@torch.no_grad()
def assert_equals_one_forward_a_mask(network, masks, tolerance):
    batch = tiny_batch()
    found = dict(losses_of_masks(network, batch, masks))
    assert sorted(found) == list(range(len(masks)))
    for row, mask in enumerate(masks):
        expected = naive_losses(network, batch, mask)
        assert (found[row] - expected).abs().max() < tolerance
        assert found[row][~batch.labels.real].count_nonzero() == 0


def random_masks(network, rows: int = 40):
    generator = torch.Generator().manual_seed(5)
    return torch.randint(0, 2, (rows, len(network.layout)), generator=generator).double()


@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_every_head_alone_equals_a_forward_with_its_gate_closed(place, dtype, tolerance):
    shape = SHAPE.with_changes(norm_place=place, encoder_layers=3, decoder_layers=2)
    network = tiny_network(shape).to(dtype)
    assert_equals_one_forward_a_mask(network, network.layout.each_closed(), tolerance)


@pytest.mark.parametrize("place", ["post", "pre"])
def test_any_masks_in_any_order_equal_one_forward_each(place):
    network = tiny_network(SHAPE.with_changes(norm_place=place))
    assert_equals_one_forward_a_mask(network, random_masks(network), 1e-12)


def test_soft_gates_are_gates_too():
    network = tiny_network()
    assert_equals_one_forward_a_mask(network, torch.rand(9, len(network.layout)), 1e-12)


def test_uneven_layouts_and_attentions_without_a_head():
    gone = [Head("decoder", 0, head) for head in range(4)] + [Head("encoder", 1, 2)]
    gone += [Head("cross", 1, head) for head in range(4)]
    network = without_heads(tiny_network(), gone)
    assert len(network.layout) == 15
    masks = torch.cat((network.layout.each_closed().double(), random_masks(network)))
    assert_equals_one_forward_a_mask(network, masks, 1e-12)


@torch.no_grad()
def test_states_are_those_of_a_whole_forward_bit_for_bit():
    network, batch = tiny_network().float(), tiny_batch()
    replay = Replay(network, batch)
    for mask in random_masks(network, 12):
        assert torch.equal(replay.states(mask), network(batch, mask[None]))


@torch.no_grad()
def test_what_gates_cannot_reach_is_not_computed_again():
    network, calls = tiny_network(), []
    for name, attention in network.attentions.items():
        attention.output.register_forward_hook(lambda *_, name=name: calls.append(name))
    replay, gates = Replay(network, tiny_batch()), network.layout.ones()[0]
    first = replay.states(gates)
    assert len(calls) == 6
    calls.clear()
    assert replay.states(gates) is first
    gates[network.layout.column_of(Head("cross", 1, 3))] = 0
    replay.states(gates)
    assert calls == [Attention("cross", 1)]
    calls.clear()
    gates[network.layout.column_of(Head("encoder", 1, 0))] = 0
    replay.states(gates)
    # The first decoder attention sees the target alone.
    lower = [("encoder", 1), ("cross", 0), ("decoder", 1), ("cross", 1)]
    assert calls == [Attention(*it) for it in lower]


def test_a_mask_that_occurs_again_is_evaluated_once():
    network = tiny_network()
    masks = random_masks(network, 3)[[0, 1, 0, 2, 1]]
    found = dict(losses_of_masks(network, tiny_batch(), masks))
    assert found[0] is found[2]
    assert found[1] is found[4]


def test_prefix_order_groups_the_encoder_first_and_puts_open_gates_first():
    layout = HeadLayout.full({"encoder": 1, "decoder": 1, "cross": 1}, 1)
    masks = torch.tensor([[0, 1, 1], [1, 0, 1], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
    # Columns are encoder, decoder, cross; a forward meets them in this order here.
    assert in_prefix_order(layout, masks) == [4, 3, 1, 0, 2]


def test_label_losses_are_the_cross_entropy_whatever_the_chunks(monkeypatch):
    batch, states = tiny_batch(), 40 * torch.randn(3, 7, 16, dtype=torch.float64)
    table = torch.randn(17, 16, dtype=torch.float64)
    labels = batch.labels
    expected = token_cross_entropy(states @ table.T, labels.ids, labels.real)
    for chunk in (1, 4, 256):
        monkeypatch.setattr("headcount.models.losses.CACHED", chunk)
        torch.testing.assert_close(label_losses(states, table, labels.ids, labels.real), expected)


def test_no_graph_is_kept():
    network = tiny_network()
    masks = network.layout.each_closed()
    assert not any(it.requires_grad for _, it in losses_of_masks(network, tiny_batch(), masks))
