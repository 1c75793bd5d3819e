"""What a gate means: its gradient, and that 0 is the head cut out of the weights."""

import pytest
import torch
from tiny import SHAPE, tiny_batch, tiny_network

from headcount.models.gates import Head
from headcount.models.losses import token_cross_entropy
from headcount.models.network import Network
from headcount.models.recorder import Recorder
from headcount.models.surgery import without_heads

PLACES = pytest.mark.parametrize("place", ["post", "pre"])
SOME = [Head("encoder", 0, 1), Head("encoder", 1, 0), Head("decoder", 1, 3), Head("cross", 0, 2)]
LAYER = [Head("cross", 1, head) for head in range(4)]
ALL = [
    Head(site, layer, head)
    for site in ("encoder", "decoder", "cross")
    for layer in range(2)
    for head in range(4)
]


def _loss(network: Network, gates: torch.Tensor | None, recorder: Recorder | None = None):
    batch = tiny_batch()
    logits = network.project(network(batch, gates, recorder))
    return token_cross_entropy(logits, batch.labels.ids, batch.labels.real).sum()


@torch.no_grad()
def test_open_gates_are_no_gates_bit_for_bit():
    network, batch = tiny_network(), tiny_batch()
    for recorder in (None, Recorder()):
        plain = network(batch, None, recorder)
        assert torch.equal(plain, network(batch, network.layout.ones(), recorder))
        assert torch.equal(plain, network(batch, network.layout.ones(3), recorder))


def test_gate_gradient_four_ways():
    """Autograd = context . dL/dcontext = W_O . dL/dW_O by head = central difference."""
    network = tiny_network()
    gates = network.layout.ones(dtype=torch.double).requires_grad_()
    recorder = Recorder(context=True)
    loss = _loss(network, gates, recorder)
    contexts = list(recorder.context_of.items())
    outputs = {
        attention.name: attention.output.weight
        for attention in network.modules()
        if hasattr(attention, "by_head")
    }
    wanted = [gates, *(context for _, context in contexts), *outputs.values()]
    autograd, *others = torch.autograd.grad(loss, wanted, retain_graph=True)
    d_context = dict(zip((name for name, _ in contexts), others, strict=False))
    d_output = dict(zip(outputs, others[len(contexts) :], strict=True))
    for name, columns in network.layout.slices.items():
        # With open gates dL/d(gated context) is dL/d(context).
        by_context = (dict(contexts)[name] * d_context[name]).sum((0, 1, 3))
        by_weight = (outputs[name] * d_output[name]).unflatten(1, (4, 4)).sum((0, 2))
        torch.testing.assert_close(autograd[0, columns], by_context)
        torch.testing.assert_close(autograd[0, columns], by_weight)
    with torch.no_grad():
        for column in range(0, len(network.layout), 5):
            step = torch.zeros_like(gates)
            step[0, column] = 1e-6
            difference = (_loss(network, gates + step) - _loss(network, gates - step)) / 2e-6
            assert difference.item() == pytest.approx(autograd[0, column].item(), abs=1e-6)


@torch.no_grad()
def test_each_sentence_follows_its_own_gate_row():
    network, batch = tiny_network(), tiny_batch()
    rows = torch.cat([network.layout.closing([head]) for head in SOME[:3]]).double()
    mixed = network(batch, rows)
    for sentence in range(3):
        alone = network(batch, rows[sentence : sentence + 1])
        torch.testing.assert_close(mixed[sentence], alone[sentence])


@PLACES
@pytest.mark.parametrize("heads", [SOME, LAYER, ALL], ids=["some", "a layer", "all"])
@torch.no_grad()
def test_closed_gates_are_removed_heads(place: str, heads: list[Head]):
    network, batch = tiny_network(SHAPE.with_changes(norm_place=place)), tiny_batch()
    smaller = without_heads(network, heads)
    masked = network(batch, network.layout.closing(heads).double())
    torch.testing.assert_close(smaller(batch), masked)
    real = batch.target.real
    torch.testing.assert_close(smaller(batch, None, Recorder())[real], masked[real])
    size = sum(weight.numel() for weight in network.parameters())
    cut = len(heads) * (3 * (16 + 1) * 4 + 4 * 16)
    assert sum(weight.numel() for weight in smaller.parameters()) == size - cut


@torch.no_grad()
def test_a_layer_without_heads_is_residual_plus_bias():
    network, batch = tiny_network(SHAPE.with_changes(norm_place="pre")), tiny_batch()
    smaller = without_heads(network, [Head("encoder", 0, head) for head in range(4)])
    layer = smaller.encoder[0]
    states = smaller.embed_source(batch.source.ids)
    after = states + layer.attention.output.bias
    expected = after + layer.feed_forward(layer.feed_forward_residual.norm(after))
    torch.testing.assert_close(layer(states, batch.source.visible, {}, None), expected)


@torch.no_grad()
def test_removing_twice_is_removing_at_once():
    network, batch = tiny_network(), tiny_batch()
    stepwise = without_heads(without_heads(network, SOME[:2]), SOME[2:])
    assert stepwise.layout == network.layout.without(SOME)
    assert torch.equal(stepwise(batch), without_heads(network, SOME)(batch))


def test_the_scale_of_scores_survives_removal():
    smaller = without_heads(tiny_network(), SOME)
    assert smaller.encoder[0].attention.head_width == 4


def test_surgery_leaves_the_patient_alone():
    network = tiny_network()
    before = {name: weight.clone() for name, weight in network.state_dict().items()}
    without_heads(network, ALL)
    assert all(torch.equal(before[name], it) for name, it in network.state_dict().items())
    assert len(network.layout) == 24


def test_a_cut_network_can_be_trained_on():
    smaller = without_heads(tiny_network(), SOME + LAYER)
    _loss(smaller, None).backward()
    trained = [weight for weight in smaller.parameters() if weight.requires_grad]
    assert all(weight.grad is not None for weight in trained)
    assert sum(weight.numel() for weight in smaller.parameters() if not weight.requires_grad) == 0
