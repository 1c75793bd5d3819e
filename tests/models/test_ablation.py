"""Shared work gives the numbers of whole forwards, bit for bit."""

import pytest
import torch
from tiny import SHAPE, tiny_batch, tiny_network

from headcount.models.ablation import states_without_each
from headcount.models.gates import Head
from headcount.models.surgery import without_heads


@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_head_alone_equals_a_forward_with_its_gate_closed(place, dtype):
    shape = SHAPE.with_changes(norm_place=place, encoder_layers=3, decoder_layers=2)
    network = tiny_network(shape).to(dtype)
    batch = tiny_batch()
    found = list(states_without_each(network, batch))
    assert len(found) == len(network.layout) == 28
    with torch.no_grad():
        for row, states in zip(network.layout.each_closed(), found, strict=True):
            assert torch.equal(states, network(batch, row[None]))


def test_uneven_layouts_and_attentions_without_a_head():
    gone = [Head("decoder", 0, head) for head in range(4)] + [Head("encoder", 1, 2)]
    network = without_heads(tiny_network(), gone)
    found = list(states_without_each(network, tiny_batch()))
    assert len(found) == len(network.layout) == 19
    with torch.no_grad():
        for row, states in zip(network.layout.each_closed(), found, strict=True):
            assert torch.equal(states, network(tiny_batch(), row[None]))


def test_no_graph_is_kept():
    assert not any(
        states.requires_grad for states in states_without_each(tiny_network(), tiny_batch())
    )
