"""The network against torch's own layers, and the masks that it must keep."""

import pytest
import torch
from tiny import BOS, EOS, PAD, SHAPE, tiny_batch, tiny_network
from torch import nn
from torch.nn import functional as F

from headcount.models.attention import MultiHeadAttention, masked_softmax
from headcount.models.batch import Batch, Tokens
from headcount.models.errors import DataError, UsageError
from headcount.models.gates import Attention, HeadLayout
from headcount.models.network import Network, NetworkSettings
from headcount.models.recorder import Recorder

PLACES = pytest.mark.parametrize("place", ["post", "pre"])


def test_attention_equals_torch_multi_head_attention():
    generator = torch.Generator().manual_seed(0)
    ours = MultiHeadAttention(Attention("cross", 0), 16, (0, 1, 2, 3), 4, "scaled_dot").double()
    theirs = nn.MultiheadAttention(16, 4, batch_first=True).double()
    _copy_attention(ours, theirs)
    queries = torch.randn(3, 5, 16, generator=generator, dtype=torch.double)
    memory = torch.randn(3, 7, 16, generator=generator, dtype=torch.double)
    visible = torch.arange(7) < torch.tensor([7, 4, 1])[:, None]
    recorder = Recorder(attention=True)
    explicit = ours(queries, memory, visible, recorder=recorder)
    expected, weights = theirs(
        queries, memory, memory, key_padding_mask=~visible, average_attn_weights=False
    )
    torch.testing.assert_close(explicit, expected)
    torch.testing.assert_close(recorder.weights_of[ours.name], weights)
    torch.testing.assert_close(ours(queries, memory, visible), expected)


@PLACES
@torch.no_grad()
def test_the_whole_network_equals_torch_transformer(place: str):
    network = tiny_network(SHAPE.with_changes(norm_place=place))
    reference = _torch_transformer(network, place)
    batch = tiny_batch()
    causal = nn.Transformer.generate_square_subsequent_mask(
        batch.target.ids.shape[1], dtype=torch.double
    )
    expected = reference(
        _embedded(network, batch.source.ids),
        _embedded(network, batch.target.ids),
        tgt_mask=causal,
        src_key_padding_mask=~batch.source.real,
        memory_key_padding_mask=~batch.source.real,
        tgt_is_causal=True,
    )
    expected = expected @ network.target_embedding.table.T
    real = batch.target.real
    torch.testing.assert_close(network.project(network(batch))[real], expected[real])


@PLACES
@torch.no_grad()
def test_the_explicit_path_equals_the_fused_one(place: str):
    network = tiny_network(SHAPE.with_changes(norm_place=place))
    batch = tiny_batch()
    gates = torch.rand(3, len(network.layout), generator=torch.Generator().manual_seed(3))
    for chosen in (None, gates.double()):
        fused = network(batch, chosen)
        explicit = network(batch, chosen, Recorder(True, True, True))
        real = batch.target.real
        torch.testing.assert_close(fused[real], explicit[real], atol=1e-10, rtol=1e-10)


def test_hand_computed_attention_weights():
    scores = torch.tensor([[[[0.0, 1.0], [2.0, 0.0]]]])
    e = torch.e
    causal = masked_softmax(scores, None, causal=True)
    torch.testing.assert_close(
        causal[0, 0], torch.tensor([[1.0, 0.0], [e**2 / (e**2 + 1), 1 / (e**2 + 1)]])
    )
    masked = masked_softmax(scores, torch.tensor([[True, False]]), causal=False)
    assert masked[0, 0].tolist() == [[1.0, 0.0], [1.0, 0.0]]


def test_what_is_padded_changes_nothing():
    network, batch = tiny_network(), tiny_batch()
    with torch.no_grad():
        before = network(batch)
        source = batch.source.ids.masked_fill(~batch.source.real, 9)
        target = batch.target.ids.masked_fill(~batch.target.real, 9)
        changed = Batch(
            Tokens(source, batch.source.real, batch.source.ordinary),
            Tokens(target, batch.target.real, batch.target.ordinary),
            batch.labels,
            batch.indices,
        )
        after = network(changed)
    assert torch.equal(before[batch.target.real], after[batch.target.real])


def test_no_logit_depends_on_later_target_tokens():
    network, batch = tiny_network(), tiny_batch()
    states = network.embed_target(batch.target.ids).detach().requires_grad_()
    memory = network.encode(batch.source)
    out = states
    for layer in network.decoder:
        out = layer(out, memory, batch.target.visible, batch.source.visible, None, None, None)
    for position in range(4):
        [gradient] = torch.autograd.grad(out[:, position].sum(), states, retain_graph=True)
        size = gradient.abs().sum((0, 2))
        assert size[position] > 0
        assert torch.all(size[position + 1 :] == 0)


@torch.no_grad()
def test_a_sentence_is_computed_alike_alone_and_among_others():
    network, batch = tiny_network(), tiny_batch()
    together = network(batch)
    for row in range(3):
        source = batch.source.ids[row][batch.source.real[row]].tolist()
        target = batch.target.ids[row][batch.target.real[row]].tolist()
        alone = Batch(
            Tokens.padded([source], PAD, {BOS, EOS}),
            Tokens.padded([target], PAD, {BOS, EOS}),
            batch.labels,
            batch.indices[:1],
        )
        torch.testing.assert_close(network(alone)[0], together[row, : len(target)])


@PLACES
def test_recorded_states_start_at_the_embedding_and_end_at_the_output(place: str):
    network, batch = tiny_network(SHAPE.with_changes(norm_place=place)), tiny_batch()
    recorder = Recorder(states=True)
    out = network(batch, None, recorder)
    final = network.encoder_norm
    count = 3 if isinstance(final, torch.nn.Identity) else 4
    assert count == (4 if place == "pre" else 3)
    assert [len(recorder.states_of[side]) for side in ("encoder", "decoder")] == [count, count]
    if place == "pre":
        raw, normed = recorder.states_of["encoder"][-2:]
        assert torch.equal(final(raw), normed) and not torch.equal(raw, normed)
    embedded = network.embed_source(batch.source.ids)
    assert torch.equal(recorder.states_of["encoder"][0], embedded)
    assert torch.equal(recorder.states_of["decoder"][-1], out)


@torch.no_grad()
def test_recorded_maps_are_never_gated():
    network, batch = tiny_network(), tiny_batch()
    first = Attention("encoder", 0)
    open_, closed = Recorder(True, True), Recorder(True, True)
    network(batch, None, open_)
    network(batch, network.layout.ones() * 0, closed)
    assert torch.equal(open_.weights_of[first], closed.weights_of[first])
    assert torch.equal(open_.context_of[first], closed.context_of[first])


@pytest.mark.parametrize("heads", [3, 5, 7, 15, 32])
def test_heads_that_do_not_divide_the_width_are_refused(heads: int):
    settings = NetworkSettings(width=16, heads=heads)
    with pytest.raises(UsageError, match="divided"):
        Network(settings, HeadLayout.full({}, 1), 9, 9)


def test_unknown_parts_are_refused_with_the_closest_name():
    settings = SHAPE.with_changes(positions="sinusodial")
    with pytest.raises(UsageError, match="did you mean 'sinusoidal'"):
        Network(settings, settings.full_layout(), 9, 9)


def test_a_sentence_longer_than_the_positions_is_refused():
    network = tiny_network(SHAPE.with_changes(max_positions=4))
    with pytest.raises(DataError, match="positions for 4"):
        network(tiny_batch())


def test_tied_tables_need_one_vocabulary():
    with pytest.raises(UsageError, match="joint"):
        Network(SHAPE, SHAPE.full_layout(), 9, 10)
    untied = SHAPE.with_changes(tie="none")
    network = Network(untied, untied.full_layout(), 9, 10)
    assert network.output_table.shape == (10, 16)
    assert network.output_table is not network.target_embedding.table


def test_one_seed_is_one_network():
    first, second = tiny_network(), tiny_network()
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)


def test_sinusoidal_positions_by_hand():
    network = tiny_network()
    table = network.source_positions(3)
    expected = torch.tensor([2 / 10_000 ** (2 / 16)], dtype=torch.double).sin()
    assert table[0, :4].tolist() == [0.0, 1.0, 0.0, 1.0]
    torch.testing.assert_close(table[2, 2:3].double(), expected, atol=1e-7, rtol=0)


def _embedded(network: Network, ids: torch.Tensor) -> torch.Tensor:
    table = network.target_embedding.table
    return F.embedding(ids, table) * 16**0.5 + network.source_positions(ids.shape[1])


def _torch_transformer(network: Network, place: str) -> nn.Transformer:
    reference = nn.Transformer(
        16, 4, 2, 2, 24, dropout=0.0, batch_first=True, norm_first=place == "pre"
    ).double()
    if place == "post":  # torch ends both stacks in one more norm, the paper does not
        reference.encoder.norm = reference.decoder.norm = None
    for ours, theirs in zip(network.encoder, reference.encoder.layers, strict=True):
        _copy_attention(theirs.self_attn, ours.attention)
        _copy_feed_forward(theirs, ours)
        theirs.norm1.load_state_dict(ours.attention_residual.norm.state_dict())
        theirs.norm2.load_state_dict(ours.feed_forward_residual.norm.state_dict())
    for ours, theirs in zip(network.decoder, reference.decoder.layers, strict=True):
        _copy_attention(theirs.self_attn, ours.self_attention)
        _copy_attention(theirs.multihead_attn, ours.cross_attention)
        _copy_feed_forward(theirs, ours)
        theirs.norm1.load_state_dict(ours.self_residual.norm.state_dict())
        theirs.norm2.load_state_dict(ours.cross_residual.norm.state_dict())
        theirs.norm3.load_state_dict(ours.feed_forward_residual.norm.state_dict())
    if place == "pre":
        reference.encoder.norm.load_state_dict(network.encoder_norm.state_dict())
        reference.decoder.norm.load_state_dict(network.decoder_norm.state_dict())
    return reference.eval()


def _copy_feed_forward(theirs: nn.Module, ours: nn.Module) -> None:
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())


@torch.no_grad()
def _copy_attention(to: nn.Module, source: nn.Module) -> None:
    """Copy weights between our attention and torch's, in either direction."""
    ours, theirs = (to, source) if isinstance(to, MultiHeadAttention) else (source, to)
    forward = isinstance(to, MultiHeadAttention)
    parts = (ours.query, ours.key, ours.value)
    pairs = [
        *zip((part.weight for part in parts), theirs.in_proj_weight.chunk(3), strict=True),
        *zip((part.bias for part in parts), theirs.in_proj_bias.chunk(3), strict=True),
        (ours.output.weight, theirs.out_proj.weight),
        (ours.output.bias, theirs.out_proj.bias),
    ]
    for own, other in pairs:
        own.copy_(other) if forward else other.copy_(own)
