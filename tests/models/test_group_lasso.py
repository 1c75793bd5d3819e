"""Group lasso over heads: norms by hand, and whole heads that shrink."""

import pytest
import torch
from tiny import tiny_network

from headcount.models.gates import Attention
from headcount.models.pruning.group_lasso import GroupLasso, head_norms


def test_norms_are_those_of_the_blocks_in_layout_order():
    network = tiny_network()
    norms = head_norms(network)
    for head, column in network.layout.columns.items():
        attention = network.attentions[Attention(head.site, head.layer)]
        rows = slice(head.head * attention.head_width, (head.head + 1) * attention.head_width)
        block = [attention.value.weight[rows].flatten(), attention.output.weight[:, rows].flatten()]
        assert norms[column].item() == pytest.approx(torch.cat(block).norm().item())


def test_an_untouched_network_costs_lambda():
    network = tiny_network()
    lasso = GroupLasso(network, network.layout.heads[2:9], 0.7)
    assert lasso.price(network).item() == pytest.approx(0.7)


def test_the_price_pulls_at_whole_heads_of_the_candidates_only():
    network = tiny_network()
    heads = network.layout.heads[:2]
    lasso = GroupLasso(network, heads, 0.7)
    lasso.price(network).backward()
    attention = network.attentions[Attention("encoder", 0)]
    norms, scale = head_norms(network).detach(), lasso.scale
    for at in (0, 1):
        rows = slice(at * attention.head_width, (at + 1) * attention.head_width)
        expected = 0.7 / 2 / scale * attention.value.weight[rows] / norms[at]
        assert torch.allclose(attention.value.weight.grad[rows], expected)
    assert (attention.value.weight.grad[2 * attention.head_width :] == 0).all()


def test_heads_that_nobody_needs_vanish_and_go_first():
    network = tiny_network()
    heads = network.layout.heads[:4]
    lasso = GroupLasso(network, heads, 1.0)
    lasso.record_every = 10
    needed = network.attentions[Attention("encoder", 0)].value
    rows = slice(2 * 4, 3 * 4)  # of encoder.0.2
    wanted = needed.weight[rows].detach().clone()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01, betas=(0.9, 0.98))
    for update in range(1, 101):
        loss = 50 * (needed.weight[rows] - wanted).square().sum() + lasso.price(network)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
        lasso.after_update(update, network)
    assert lasso.order(network)[-1] == heads[2]
    strengths = lasso.strengths(network)
    assert strengths[2] > 10 * strengths[[0, 1, 3]].max()
    assert [record["update"] for record in lasso.history] == list(range(10, 101, 10))


def test_layers_without_heads_have_no_norms():
    from headcount.models.surgery import without_heads

    network = tiny_network()
    gone = [head for head in network.layout if head.site == "encoder"]
    smaller = without_heads(network, gone)
    assert torch.equal(head_norms(smaller), head_norms(network)[len(gone) :])
