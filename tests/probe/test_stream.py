"""Metrics that share a pass give what each gives alone."""

import pytest
import torch

from headcount.models.data.parallel_text import ParallelText
from headcount.models.errors import DataError
from headcount.probe.attention_norm import AttentionNorm
from headcount.probe.confidence import Confidence
from headcount.probe.entropy import Entropy
from headcount.probe.fisher import Fisher
from headcount.probe.gradient import Gradient
from headcount.probe.stream import stream

GENERATOR = torch.Generator()
MEMBERS = {
    "confidence": Confidence(),
    "sure": Confidence(keep_special=True),
    "entropy": Entropy(),
    "even": Entropy(normalised=True),
    "attention_norm": AttentionNorm(),
    "gradient": Gradient(),
    "by token": Gradient(absolute="token"),
    "fisher": Fisher(),
    "small": Confidence(tokens=30),
}


@pytest.fixture(scope="module")
def together(nano, pairs):
    return stream(MEMBERS, nano, pairs)


@pytest.mark.parametrize("name", list(MEMBERS))
def test_together_and_alone_are_the_same(nano, pairs, together, name):
    alone = MEMBERS[name].scores(nano, pairs, GENERATOR)
    assert torch.equal(alone.values, together[name].scores.values)
    assert torch.equal(alone.weights, together[name].scores.weights)
    assert alone.unit == together[name].scores.unit
    assert together[name].seconds > 0


@pytest.mark.parametrize("name", list(MEMBERS))
def test_neither_batches_nor_padding_change_the_values(nano, pairs, together, name):
    some = pairs.select(range(0, 24, 3))
    for tokens in (1, 25):
        other = MEMBERS[name].with_changes(tokens=tokens).scores(nano, some, GENERATOR)
        torch.testing.assert_close(other.values, together[name].scores.values[::3])
        torch.testing.assert_close(other.weights, together[name].scores.weights[::3])


def test_what_is_read_alike_is_read_once(nano, pairs, monkeypatch):
    calls = {"capture": 0, "token_losses": 0}
    for name in calls:
        whole = getattr(nano, name)

        def counted(*arguments, name=name, whole=whole, **named):
            calls[name] += 1
            return whole(*arguments, **named)

        monkeypatch.setattr(nano, name, counted)
    stream(
        {name: MEMBERS[name] for name in ("confidence", "even", "gradient", "fisher")}, nano, pairs
    )
    batches = len(list(nano.batches(pairs.source, pairs.target)))
    assert calls == {"capture": batches, "token_losses": batches}


def test_a_captured_map_does_not_outlive_its_batch(nano, pairs, monkeypatch):
    import weakref

    maps = []
    capture = nano.capture

    def watched(*arguments, **named):
        assert not any(kept() is not None for kept in maps)
        seen = capture(*arguments, **named)
        maps.extend(weakref.ref(weights) for weights in seen.attention.values())
        return seen

    monkeypatch.setattr(nano, "capture", watched)
    stream({"confidence": Confidence(tokens=30), "entropy": Entropy(tokens=30)}, nano, pairs)
    assert len(maps) > 2 * len(nano.layout.slices)


def test_no_sentences_are_an_error(nano):
    with pytest.raises(DataError, match="at least one"):
        stream({"entropy": Entropy()}, nano, ParallelText("none", [], []))
