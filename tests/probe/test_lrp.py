"""LRP of whole networks: what is conserved, an oracle written by hand, and the edges."""

import copy
import itertools

import pytest
import torch
from made_translators import CARRIER, COPIER
from torch.nn import functional as F

from headcount.models.data.parallel_text import ParallelText
from headcount.models.errors import DataError, UsageError
from headcount.models.gates import Attention, Head, HeadLayout
from headcount.models.network import Network, NetworkSettings
from headcount.models.transformer import TransformerTranslator
from headcount.probe.importance import metric
from headcount.probe.lrp import Lrp, balance_error, share_of_layer
from headcount.probe.relevance import (
    RelevanceSettings,
    backward,
    head_relevance,
    head_relevance_by_token,
    token_relevance,
)
from headcount.probe.relevance.tracing import starting_logits

GENERATOR = torch.Generator()
CP = RelevanceSettings(rule="cp")
EVERY = [
    RelevanceSettings(rule=rule, epsilon=epsilon, start=start)
    for rule, epsilon, start in itertools.product(
        ("attnlrp", "cp"), (0.0, 0.05), ("top", "reference", "contrast")
    )
]


def made(vocabulary, *, biases: float, place: str = "post", seed: int = 1) -> TransformerTranslator:
    """Two layers on both sides, float64, with random biases of a given size."""
    settings = NetworkSettings(
        width=12, feed_forward_width=16, encoder_layers=2, decoder_layers=2, heads=3,
        norm_place=place,
    )  # fmt: skip
    network = Network(settings, settings.full_layout(), len(vocabulary), len(vocabulary))
    generator = torch.Generator().manual_seed(seed)
    network.initialise(generator).double().eval().requires_grad_(False)
    for name, parameter in network.named_parameters():
        if name.endswith("bias"):
            parameter.normal_(generator=generator).mul_(biases)
    return TransformerTranslator(network, vocabulary, vocabulary)


def batch_of(translator, pairs, sentences=range(1, 7)):
    some = pairs.select(sentences)
    return next(iter(translator.batches(some.source, some.target)))


@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize("start", ["top", "reference", "contrast"])
def test_without_biases_and_with_constant_attention_the_inputs_get_all(
    vocabulary, pairs, place, start
):
    translator = made(vocabulary, biases=0, place=place)
    found = token_relevance(
        translator, batch_of(translator, pairs), RelevanceSettings(rule="cp", start=start)
    )
    assert float(found.start.abs().max()) > 0.5
    torch.testing.assert_close(found.received, found.start, atol=1e-12, rtol=0)
    assert float(found.withheld.abs().max()) < 1e-12


@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize("settings", EVERY, ids=str)
def test_the_balance_closes_with_biases(vocabulary, pairs, place, settings):
    translator = made(vocabulary, biases=0.3, place=place)
    found = token_relevance(translator, batch_of(translator, pairs), settings)
    torch.testing.assert_close(found.received + found.withheld, found.start, atol=1e-12, rtol=0)
    assert float(balance_error(found, absorbed=True).max()) < 1e-12
    assert float(balance_error(found, absorbed=False).max()) > 1e-2
    kinds = {kind for (_, kind), amount in found.absorbed.items() if bool(amount.any())}
    expected = {"bias"} | ({"softmax"} if settings.rule == "attnlrp" else set())
    assert kinds == expected | ({"epsilon"} if settings.epsilon else set())


def test_what_is_absorbed_is_booked_where_it_is(vocabulary, pairs):
    translator = made(vocabulary, biases=0)
    with torch.no_grad():
        translator.network.decoder[1].cross_attention.output.bias.fill_(0.7)
        translator.network.encoder[0].feed_forward_residual.norm.bias.fill_(-0.4)
    # A norm removes the mean, so the even bias of the attention absorbs nothing under post-norm.
    assert booked_places(translator, pairs) == {("encoder", 0)}
    with torch.no_grad():
        translator.network.decoder[1].cross_attention.output.bias[:3] = 0.2
    assert booked_places(translator, pairs) == {("encoder", 0), ("decoder", 1)}


def booked_places(translator, pairs) -> set:
    absorbed = token_relevance(translator, batch_of(translator, pairs), CP).absorbed
    return {place for (place, _), amount in absorbed.items() if float(amount.abs().max()) > 1e-9}


def by_hand(network: Network, batch, gates, source, target):
    """The network's logits written out, with attention and deviations held constant.

    Args:
        source, target: what enters the first layers  # [batch, token, width]
    """

    def norm(module, x):
        centred = x - x.mean(-1, keepdim=True)
        deviation = (centred.square().mean(-1, keepdim=True) + module.eps).sqrt().detach()
        return centred / deviation * module.weight + module.bias

    def attend(module, x, memory, hidden):
        columns = network.layout.slices[module.name]
        total = module.output.bias
        for head in range(len(module.ids)):
            rows = slice(head * module.head_width, (head + 1) * module.head_width)
            q, k, v = (
                it @ part.weight[rows].T + part.bias[rows]
                for it, part in ((x, module.query), (memory, module.key), (memory, module.value))
            )
            scores = torch.einsum("bqd,bkd->bqk", q, k) / module.head_width**0.5
            weights = scores.masked_fill(hidden, -1e30).softmax(-1).detach()
            gate = gates[:, columns][:, head, None, None]
            total = total + gate * (weights @ v) @ module.output.weight[:, rows].T
        return total

    def transform(module, x):
        inner = (x @ module.inner.weight.T + module.inner.bias).clamp(min=0)
        return inner @ module.outer.weight.T + module.outer.bias

    padded, length = ~batch.source.real[:, None], batch.target.ids.shape[1]
    later = torch.ones(1, length, length, dtype=torch.bool).triu(1)
    x = source
    for layer in network.encoder:
        x = norm(layer.attention_residual.norm, x + attend(layer.attention, x, x, padded))
        x = norm(layer.feed_forward_residual.norm, x + transform(layer.feed_forward, x))
    y = target
    for layer in network.decoder:
        y = norm(layer.self_residual.norm, y + attend(layer.self_attention, y, y, later))
        y = norm(layer.cross_residual.norm, y + attend(layer.cross_attention, y, x, padded))
        y = norm(layer.feed_forward_residual.norm, y + transform(layer.feed_forward, y))
    return y @ network.output_table.T


def test_cp_is_gradient_x_input_of_a_network_with_constant_attention(vocabulary, pairs):
    translator = made(vocabulary, biases=0.3)
    batch, network = batch_of(translator, pairs), translator.network
    gates = translator.layout.ones(len(batch), dtype=torch.float64).requires_grad_()
    source = network.embed_source(batch.source.ids).requires_grad_()
    target = network.embed_target(batch.target.ids).requires_grad_()
    logits = by_hand(network, batch, gates, source, target)
    real = batch.labels.real
    torch.testing.assert_close(logits[real], translator.logits(batch)[real])
    found = token_relevance(translator, batch, CP)
    for position in range(logits.shape[1]):
        top = (logits.amax(-1) * real)[:, position].sum()
        slopes = torch.autograd.grad(top, [source, target, gates], retain_graph=True)
        of_source, of_target = (
            (it * slope).sum(2) for it, slope in zip((source, target), slopes[:2], strict=True)
        )
        torch.testing.assert_close(found.source[:, position], of_source)
        torch.testing.assert_close(found.prefix[:, position], of_target)
        torch.testing.assert_close(found.heads[:, position], slopes[2])


@pytest.mark.parametrize("settings", EVERY[:3], ids=str)
def test_positions_sum_to_the_sentence(vocabulary, pairs, settings):
    translator = made(vocabulary, biases=0.3)
    batch = batch_of(translator, pairs)
    whole = head_relevance(translator, batch, settings)
    by_token = head_relevance_by_token(translator, batch, settings)
    assert by_token.shape == (*batch.target.ids.shape, len(translator.layout))
    torch.testing.assert_close(by_token.sum(1), whole)
    torch.testing.assert_close(token_relevance(translator, batch, settings).heads, by_token)
    assert float(by_token[~batch.labels.real].abs().sum()) == 0


def test_padding_and_company_change_nothing(vocabulary, pairs):
    translator = made(vocabulary, biases=0.3)
    batch = batch_of(translator, pairs)
    assert not batch.source.full
    together = token_relevance(translator, batch)
    for row, sentence in enumerate(batch.indices.tolist()):
        alone = token_relevance(translator, batch_of(translator, pairs, [1 + sentence]))
        source, target = alone.source.shape[2], alone.prefix.shape[2]
        torch.testing.assert_close(together.source[row, :target, :source], alone.source[0])
        torch.testing.assert_close(together.prefix[row, :target, :target], alone.prefix[0])
        torch.testing.assert_close(together.heads[row, :target], alone.heads[0])
        torch.testing.assert_close(together.withheld[row, :target], alone.withheld[0])
        assert float(together.source[row, :, source:].abs().sum()) == 0
        assert float(together.prefix[row, :, target:].abs().sum()) == 0


def test_later_tokens_get_exactly_nothing(nano, pairs):
    found = token_relevance(nano, batch_of(nano, pairs))
    assert float(found.prefix.triu(1).abs().max()) == 0
    assert float(found.prefix.tril().abs().max()) > 0


def test_shares_of_source_and_prefix(nano, pairs):
    batch = batch_of(nano, pairs)
    found = token_relevance(nano, batch)
    share = found.source_share
    assert bool(((share > 0) & (share < 1))[batch.labels.real].all())
    assert float(share[~batch.labels.real].abs().sum()) == 0
    one = found.source[0, 1].abs().sum() / (
        found.source[0, 1].abs().sum() + found.prefix[0, 1].abs().sum()
    )
    assert float(share[0, 1]) == pytest.approx(float(one))


def test_where_relevance_starts():
    logits = torch.tensor([[[1.0, 5, 3], [4, 2, 0], [0, 1, 2]]])
    labels = torch.tensor([[1, 2, 0]])
    value, chosen, rival = starting_logits(logits, labels, "top")
    assert (value.tolist(), chosen.tolist()) == ([[5, 4, 2]], [[1, 0, 2]])
    assert rival.tolist() == [[-1, -1, -1]]
    value, chosen, _ = starting_logits(logits, labels, "reference")
    assert (value.tolist(), chosen.tolist()) == ([[5, 0, 0]], [[1, 2, 0]])
    value, chosen, rival = starting_logits(logits, labels, "contrast")
    # Where the top token is the reference, the rival is the runner-up.
    assert (value.tolist(), rival.tolist()) == ([[2, 4, 2]], [[2, 2, 0]])
    value, chosen, rival = starting_logits(logits, labels, "pair", (2, 0))
    assert (value.tolist(), chosen.tolist()) == ([[2, -4, 2]], [[2, 2, 2]])
    assert rival.tolist() == [[0, 0, 0]]
    with pytest.raises(UsageError, match="token 3 is outside the target vocabulary of 3"):
        starting_logits(logits, labels, "pair", (0, 3))


def test_a_pair_the_other_way_round_is_the_same_with_its_sign_changed(vocabulary, pairs):
    translator = made(vocabulary, biases=0.3)
    batch = batch_of(translator, pairs)
    one, other = (
        token_relevance(translator, batch, RelevanceSettings(start="pair", pair=pair))
        for pair in ((5, 7), (7, 5))
    )
    torch.testing.assert_close(one.source, -other.source)
    torch.testing.assert_close(one.received + one.withheld, one.start, atol=1e-12, rtol=0)
    assert float(one.source.abs().max()) > 1e-3


def test_a_constant_in_all_logits_moves_the_top_logit_and_no_contrast(vocabulary, pairs):
    translator = made(vocabulary, biases=0.3)
    shifted = copy.deepcopy(translator)
    with torch.no_grad():
        # One table serves all; the shift goes to the projection alone.
        table = shifted.network.output_table.clone()
    direction = torch.randn(12, generator=torch.Generator().manual_seed(3)).double()
    shifted.network.project = lambda states: F.linear(states, table + direction)
    batch = batch_of(translator, pairs)
    contrast = RelevanceSettings(start="contrast")
    torch.testing.assert_close(
        head_relevance(translator, batch, contrast), head_relevance(shifted, batch, contrast)
    )
    top = head_relevance(translator, batch) - head_relevance(shifted, batch)
    assert float(top.abs().max()) > 1e-3


@pytest.mark.parametrize("rule", ["attnlrp", "cp"])
def test_the_planted_carrier_comes_first_and_idle_heads_get_nothing(planted, pairs, rule):
    found = Lrp(rule=rule).scores(planted, pairs, GENERATOR)
    assert found.removal_order()[-1] == CARRIER
    assert float(found.mean[found.layout.column_of(CARRIER)]) == pytest.approx(1)
    idle = [column for column, it in enumerate(found.layout) if it not in (CARRIER, COPIER)]
    assert found.values[:, idle].count_nonzero() == 0
    assert bool(found.values.isfinite().all())


def test_the_planted_copy_rests_on_its_own_source_word(planted, pairs):
    batch = batch_of(planted, pairs, range(4, 8))
    found = token_relevance(planted, batch, CP)
    for row in range(len(batch)):
        words = int(batch.source.ordinary[row].sum())
        largest = found.source[row, :words].argmax(-1)
        assert largest.tolist() == list(range(words))


def test_scores_are_shares_of_the_layer_averaged_over_sentences(nano, pairs):
    found = Lrp(tokens=30).scores(nano, pairs, GENERATOR)
    alone = [
        share_of_layer(head_relevance(nano, batch_of(nano, pairs, [at])), nano.layout)
        for at in range(len(pairs))
    ]
    torch.testing.assert_close(found.values, torch.cat(alone))
    torch.testing.assert_close(found.mean, torch.cat(alone).mean(0))
    for columns in nano.layout.slices.values():
        ones = torch.ones(len(pairs), dtype=torch.float64)
        torch.testing.assert_close(found.values[:, columns].abs().sum(1), ones)


def test_shares_by_hand():
    layout = HeadLayout.from_dict({"encoder": [[0, 1]], "cross": [[0, 3]]})
    relevance = torch.tensor([[3.0, -1.0, 0.0, 0.0]])
    assert share_of_layer(relevance, layout).tolist() == [[0.75, -0.25, 0, 0]]


@pytest.mark.parametrize("emptied", [("decoder", 0), ("encoder", 0), ("cross", 1)])
def test_removed_heads_and_a_layer_without_any(vocabulary, pairs, emptied):
    translator = made(vocabulary, biases=0.3)
    gone = [Head(*emptied, head) for head in range(3)] + [Head("cross", 0, 1)]
    smaller = translator.without(gone)
    batch = batch_of(smaller, pairs)
    found = token_relevance(smaller, batch)
    torch.testing.assert_close(found.received + found.withheld, found.start, atol=1e-12, rtol=0)
    scores = Lrp().scores(smaller, pairs, GENERATOR)
    assert scores.values.shape == (len(pairs), len(translator.layout) - 4)
    assert all(it.holds for it in Lrp().prove(smaller, pairs, GENERATOR))


def test_a_head_without_output_has_no_relevance(vocabulary, pairs):
    translator = made(vocabulary, biases=0.3)
    value = translator.network.attentions[Attention("decoder", 1)].value
    with torch.no_grad():
        value.weight[4:8], value.bias[4:8] = 0, 0
    found = Lrp().scores(translator, pairs, GENERATOR)
    assert found.values[:, found.layout.column_of(Head("decoder", 1, 1))].count_nonzero() == 0
    assert found.values[:, found.layout.column_of(Head("decoder", 1, 0))].count_nonzero() > 0


def test_learning_weights_give_the_same_and_keep_their_gradients(vocabulary, pairs):
    frozen = made(vocabulary, biases=0.3, place="pre")
    learning = copy.deepcopy(frozen)
    learning.network.requires_grad_(True)
    batch = batch_of(frozen, pairs)
    one, other = token_relevance(frozen, batch), token_relevance(learning, batch)
    torch.testing.assert_close(one.source, other.source)
    torch.testing.assert_close(one.heads, other.heads)
    torch.testing.assert_close(one.withheld, other.withheld)
    assert all(it.grad is None for it in learning.network.parameters())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single(vocabulary, pairs, dtype):
    half = made(vocabulary, biases=0.3).in_precision(dtype)
    batch = batch_of(half, pairs)
    torch.testing.assert_close(
        head_relevance(half, batch), head_relevance(half.in_precision(torch.float32), batch)
    )
    assert all(it.holds for it in Lrp().prove(half, pairs, GENERATOR))
    assert "half precision" in " ".join(Lrp().remarks())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        within = head_relevance(half, batch)
    torch.testing.assert_close(within, head_relevance(half, batch))


@pytest.mark.parametrize("settings", [{}, {"rule": "cp"}, {"epsilon": 0.01}, {"start": "contrast"}])
def test_proofs_hold(nano, planted, pairs, settings):
    for translator in (nano, planted):
        proofs = Lrp(**settings).prove(translator, pairs, GENERATOR)
        assert len(proofs) == 3
        assert [it for it in proofs if not it.holds] == []


def test_a_wrong_rule_opens_the_balance(nano, pairs, monkeypatch):
    right = backward.FrozenDeviationNorm.backward

    def not_centred(ctx, gradient):
        rate, weight = ctx.saved_tensors
        return gradient * rate * weight, None, None, None, None

    monkeypatch.setattr(backward.FrozenDeviationNorm, "backward", staticmethod(not_centred))
    (balance, *_) = Lrp().prove(nano, pairs, GENERATOR)
    assert not balance.holds
    monkeypatch.setattr(backward.FrozenDeviationNorm, "backward", staticmethod(right))
    (balance, *_) = Lrp().prove(nano, pairs, GENERATOR)
    assert balance.holds and "inputs alone are" in balance.claim


def test_bad_input(nano):
    with pytest.raises(DataError, match="at least one"):
        Lrp().scores(nano, ParallelText("none", [], []), GENERATOR)
    with pytest.raises(UsageError, match="did you mean 'epsilon'"):
        metric["lrp"].from_dict({"epsilom": 1})
    no_pair, no_start = {"start": "pair"}, {"pair": (1, 2)}
    twice = {"start": "pair", "pair": (4, 4)}
    wrongs = ({"epsilon": -1.0}, {"rule": "alpha"}, {"start": "bottom"}, no_pair, no_start, twice)
    for wrong in wrongs:
        with pytest.raises(UsageError):
            metric["lrp"].from_dict(wrong)


def test_one_sentence_is_enough(nano):
    found = Lrp().scores(nano, ParallelText("one", ["oak"], ["fir"]), GENERATOR)
    assert found.values.shape == (1, len(nano.layout))
