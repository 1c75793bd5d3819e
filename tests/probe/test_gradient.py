"""The gate's gradient against three other ways to the same number."""

import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.models.attention import MultiHeadAttention
from headcount.models.data.parallel_text import ParallelText
from headcount.models.errors import DataError
from headcount.probe.gradient import Gradient
from headcount.probe.slopes import loss_slopes, open_gates

GENERATOR = torch.Generator()


@pytest.fixture
def batch(nano, pairs):
    return next(iter(nano.batches(pairs.source[:6], pairs.target[:6])))


def test_gradient_equals_the_central_difference(nano, batch):
    (slopes,) = loss_slopes(nano, batch)  # [batch, head]
    step = 1e-5
    for column in range(len(nano.layout)):
        shift = torch.zeros(1, len(nano.layout), dtype=torch.float64)
        shift[0, column] = step
        with torch.no_grad():
            above = nano.token_losses(batch, open_gates(nano.layout, 1) + shift).sum(1)
            below = nano.token_losses(batch, open_gates(nano.layout, 1) - shift).sum(1)
        torch.testing.assert_close(
            slopes[:, column], (above - below) / (2 * step), atol=1e-6, rtol=1e-6
        )


def test_gradient_equals_output_weights_times_their_gradient(nano, batch):
    slopes = next(loss_slopes(nano, batch)).sum(0)  # [head]
    attentions = [m for m in nano.network.modules() if isinstance(m, MultiHeadAttention)]
    weights = [attention.output.weight for attention in attentions]
    gradients = torch.autograd.grad(nano.token_losses(batch).sum(), weights)
    for attention, weight, gradient in zip(attentions, weights, gradients, strict=True):
        products = (weight * gradient).unflatten(1, (-1, attention.head_width)).sum((0, 2))
        expected = slopes[nano.layout.slices[attention.name]]
        torch.testing.assert_close(products, expected, atol=1e-9, rtol=1e-9)


def test_gradient_equals_context_times_its_gradient(nano, batch, monkeypatch):
    contexts = {}
    merged = MultiHeadAttention.merged

    def keep(self, context, gates):
        contexts[self.name] = context
        return merged(self, context, gates)

    monkeypatch.setattr(MultiHeadAttention, "merged", keep)
    losses = nano.token_losses(batch)
    gradients = torch.autograd.grad(losses.sum(), list(contexts.values()))
    found = [
        (context * gradient).sum((1, 3))  # [batch, head]
        for context, gradient in zip(contexts.values(), gradients, strict=True)
    ]
    by_name = dict(zip(contexts, found, strict=True))
    (slopes,) = loss_slopes(nano, batch)
    for name, columns in nano.layout.slices.items():
        torch.testing.assert_close(by_name[name], slopes[:, columns], atol=1e-9, rtol=1e-9)


def test_tokens_sum_to_the_sentence_before_the_absolute_value(nano, batch):
    by_token = torch.stack(list(loss_slopes(nano, batch, by_token=True)))
    assert len(by_token) == batch.labels.ids.shape[1]
    torch.testing.assert_close(by_token.sum(0), next(loss_slopes(nano, batch)))


def test_the_place_of_the_absolute_value(nano, pairs):
    found = {
        place: Gradient(absolute=place).scores(nano, pairs, GENERATOR)
        for place in ("token", "sentence", "batch")
    }
    slopes = [next(loss_slopes(nano, batch)) for batch in nano.batches(*sides(pairs))]
    mean = torch.cat(slopes).abs().mean(0)
    torch.testing.assert_close(found["sentence"].mean, mean)
    summed = torch.stack([one.sum(0).abs() for one in slopes]).sum(0) / len(pairs.source)
    torch.testing.assert_close(found["batch"].mean, summed)
    # What is summed before the absolute value can cancel, so the means are ordered.
    assert bool((found["token"].mean >= found["sentence"].mean - 1e-12).all())
    assert bool((found["sentence"].mean > found["batch"].mean).any())


def test_the_planted_carrier_comes_first_and_idle_heads_get_nothing(planted, pairs):
    found = Gradient().scores(planted, pairs, GENERATOR)
    assert found.removal_order()[-2:] == [COPIER, CARRIER]
    assert sorted(found.mean.tolist())[:16] == [0] * 16


def test_weights_keep_their_gradients_untouched(nano, pairs):
    before = [parameter.grad for parameter in nano.network.parameters()]
    Gradient().scores(nano, pairs, GENERATOR)
    assert (
        [parameter.grad for parameter in nano.network.parameters()]
        == before
        == [None] * len(before)
    )


def test_no_sentences_are_an_error(nano, pairs):
    with pytest.raises(DataError, match="at least one"):
        Gradient().scores(nano, ParallelText("none", [], []), GENERATOR)


def sides(pairs):
    return pairs.source, pairs.target
