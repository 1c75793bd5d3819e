"""The planted network does what its docstring says, head by head."""

import math

import pytest
import torch

from headcount.models.gates import Attention, Head
from headcount.models.planted import (
    CARRIER,
    COPIER,
    planted_corpus,
    planted_text,
    planted_translator,
)

PLANTED = planted_translator()
TEXT = planted_text("some", seed=5, sentences=24)


@torch.no_grad()
def token_nll(translator, gates=None) -> float:
    (batch,) = translator.batches(TEXT.source, TEXT.target, tokens=4096)
    return float(translator.token_losses(batch, gates).sum() / batch.labels.real.sum())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_it_copies_its_source(dtype):
    planted = planted_translator(dtype=dtype)
    assert planted.network.output_table.dtype == dtype
    assert [it.text for it in planted.translate(TEXT.source)] == list(TEXT.target)


def test_it_is_the_same_whenever_it_is_made_and_its_splits_differ():
    assert planted_translator().fingerprint == PLANTED.fingerprint
    splits = planted_corpus().splits
    assert len({text.fingerprint for text in splits.values()}) == len(splits) == 3


def test_without_the_carrier_it_knows_nothing_of_the_source():
    closed = PLANTED.layout.closing([CARRIER])
    assert token_nll(PLANTED) < 0.05
    # It says the word that came in: worse than a guess among the twelve entries.
    assert token_nll(PLANTED, closed) > math.log(12)
    assert set(PLANTED.without([CARRIER]).translate(["oak", "elm"])) != {"oak", "elm"}


def test_the_carrier_alone_translates():
    others = [head for head in PLANTED.layout if head != CARRIER]
    assert [it.text for it in PLANTED.without(others).translate(TEXT.source)] == list(TEXT.target)


def test_idle_heads_are_flat_and_say_exactly_nothing():
    idle = [head for head in PLANTED.layout if head not in (CARRIER, COPIER)]
    assert len(idle) == 16
    assert token_nll(PLANTED, PLANTED.layout.closing(idle)) == token_nll(PLANTED)
    for head in idle:
        weights = PLANTED.head_weights(Attention(head.site, head.layer))
        assert weights.output[head.head].abs().max() == 0
        assert weights.value[head.head].abs().max() == 1
    (batch,) = PLANTED.batches(["oak elm fir"], ["oak elm fir"])
    seen = PLANTED.capture(batch, attention=True).attention
    assert seen[Attention("encoder", 0)].eq(0.25).all()
    assert seen[Attention("cross", 1)][0, 0].eq(0.25).all()


def test_both_heads_look_where_they_should():
    (batch,) = PLANTED.batches(["oak elm fir larch"], ["oak elm fir larch"])
    seen = PLANTED.capture(batch, attention=True).attention
    carrier = seen[Attention(*CARRIER[:2])][0, CARRIER.head]  # [query, key]
    assert carrier.argmax(1).tolist() == [0, 1, 2, 3, 4]
    assert carrier.diagonal().min() > 0.9999
    copier = seen[Attention(*COPIER[:2])][0, COPIER.head]  # [query, key]
    assert copier.argmax(1).tolist() == [0, 0, 1, 2, 3]
    assert 0.5 < float(copier[4].max()) < 0.9


def test_the_answer_is_three_times_as_strong_as_the_word_that_came_in():
    (batch,) = PLANTED.batches(["oak elm"], ["oak elm"])
    gates = PLANTED.layout.closing([COPIER])
    state = PLANTED.capture(batch, gates, states=True).states["decoder"][-1][0, 1]  # [width]
    oak, elm = PLANTED.vocabularies["source"].encode_ids(["oak elm"])[0]
    other = state[0]
    assert float((state[elm] - other) / (state[oak] - other)) == pytest.approx(3, rel=1e-4)


def test_ties_do_not_favour_the_carrier():
    assert PLANTED.layout.column_of(CARRIER) > 12
    assert Head(*CARRIER[:2], 0) in PLANTED.layout
