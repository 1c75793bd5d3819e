"""What the Translator shows of its heads fits together."""

import torch


def batch_of(translator, pairs):
    return next(iter(translator.batches(pairs.source[:6], pairs.target[:6])))


def test_attention_times_values_is_the_heads_output(nano, pairs):
    seen = nano.capture(batch_of(nano, pairs), attention=True, context=True, values=True)
    for name, weights in seen.attention.items():
        context = (weights @ seen.values[name]).transpose(1, 2)  # [batch, query, head, head_width]
        torch.testing.assert_close(context, seen.context[name])


def test_head_weights_read_and_write_as_the_attention_does(nano):
    states = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(1)).double()
    for name, attention in nano.network.attentions.items():
        weights = nano.head_weights(name)
        read = torch.einsum("btw,hwd->bthd", states, weights.value).flatten(2)
        torch.testing.assert_close(read + attention.value.bias, attention.value(states))
        context = torch.randn(
            2, 5, 3, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64
        )
        written = torch.einsum("bthd,hdw->btw", context, weights.output)
        expected = attention.output(context.flatten(2))
        torch.testing.assert_close(written + attention.output.bias, expected)


def test_another_precision_is_a_copy_of_the_same_weights(nano, pairs):
    batch = batch_of(nano, pairs)
    single = nano.in_precision(torch.float32)
    assert single.logits(batch).dtype == torch.float32
    assert nano.logits(batch).dtype == torch.float64
    torch.testing.assert_close(single.logits(batch).double(), nano.logits(batch), atol=1e-5, rtol=0)
