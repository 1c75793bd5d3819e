"""Relevance between keys and queries, against the relevance of whole heads, and spread."""

import pytest
import torch
from made_translators import copies

from headcount.models.gates import Attention
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of
from headcount.probe.relevance import RelevanceSettings, head_relevance, relevance_maps
from headcount.probe.roles import joined
from headcount.probe.roles.spread import spread_by_layer


@pytest.mark.parametrize("rule", ["attnlrp", "cp"])
def test_maps_sum_to_the_relevance_of_their_heads(nano, pairs, rule):
    settings = RelevanceSettings(rule=rule)
    batch = next(nano.batches(pairs.source, pairs.target))
    maps = relevance_maps(nano, batch, settings)
    heads = head_relevance(nano, batch, settings)
    for name, columns in nano.layout.slices.items():
        assert torch.allclose(maps[name].sum((2, 3)), heads[:, columns], atol=1e-9)


def test_what_cannot_be_seen_has_no_relevance(nano, pairs):
    batch = next(nano.batches(pairs.source, pairs.target))
    maps = relevance_maps(nano, batch)
    assert not maps[Attention("decoder", 0)].triu(1).any()
    padded = ~batch.source.real[:, None, None].expand_as(maps[Attention("cross", 0)])
    assert not maps[Attention("cross", 0)][padded].any()


def test_the_gradient_of_a_layer_is_the_slope_of_the_loss_by_its_outputs(nano):
    text = copies("made", seed=0, sentences=6)
    made = [AnnotatedSentence(str(i), it, words_of(it)) for i, it in enumerate(text.source)]
    sides = joined(nano, [(it, it) for it in made])
    found = spread_by_layer(nano, sides)
    assert set(found) == {at for at, _ in nano.layout.by_attention}
    at = Attention("cross", 1)
    squares = count = 0.0
    for batch in nano.batches(text.source, text.source):
        gates = nano.layout.ones(dtype=torch.float64).requires_grad_()
        seen = nano.capture(batch, gates, context=True)
        loss = torch.nn.functional.cross_entropy(
            seen.logits[batch.labels.real], batch.labels.ids[batch.labels.real], reduction="sum"
        )
        (slope,) = torch.autograd.grad(loss, [seen.context[at]])
        squares += float(slope[batch.target.real].square().sum())
        count += int(batch.target.real.sum())
    assert found[at].gradient == pytest.approx((squares / count) ** 0.5)


def test_heads_that_add_the_same_do_not_vary(nano):
    twin = nano.in_precision(torch.float64)
    attention = twin.network.attentions[Attention("encoder", 0)]
    width = attention.head_width
    with torch.no_grad():
        for part in (attention.query, attention.key, attention.value):
            part.weight.copy_(part.weight[:width].repeat(3, 1))
            part.bias.copy_(part.bias[:width].repeat(3))
        attention.output.weight.copy_(attention.output.weight[:, :width].repeat(1, 3))
    made = [AnnotatedSentence("0", "oak fir elm", words_of("oak fir elm"))]
    sides = joined(twin, [(it, it) for it in made])
    found = spread_by_layer(twin, sides)
    assert found[Attention("encoder", 0)].variance == pytest.approx(0.0, abs=1e-12)
    assert found[Attention("cross", 0)].variance > 0.1
