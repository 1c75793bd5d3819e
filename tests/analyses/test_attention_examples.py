"""Attention on example sentences: the weights themselves, one byte each."""

import base64
from dataclasses import replace

import numpy as np
import pytest
import torch
from made_translators import copying, nano, pairs, planted, vocabulary

from headcount.analyses.attention_examples import (
    AttentionExampleSettings,
    attention_examples,
    packed,
)

__all__ = ["copying", "nano", "pairs", "planted", "vocabulary"]
SIDES = ("source", "target")
SETTINGS = AttentionExampleSettings(sentences=4, text="reference")


@pytest.fixture(scope="module")
def tables(nano, copying):
    found = attention_examples(nano, copying, SETTINGS, seed=0).tables
    return {name: table.rows for name, table in found.items()}


def read(row):
    bytes_ = np.frombuffer(base64.b64decode(row["weights"]), np.uint8)
    return bytes_.reshape(row["queries"], row["keys"]) / 255


def test_weights_are_rounded_to_the_nearest_step_row_by_row():
    weights = torch.tensor([[0.0, 1.0], [0.5, 1.4 / 255]])
    assert base64.b64decode(packed(weights)) == bytes([0, 255, 128, 1])


def test_every_head_is_there_as_the_model_computes_it_one_sentence_at_a_time(tables, nano, copying):
    attention = tables["attention"]
    assert len(attention) == len(nano.layout) * len(tables["sentences"]) == len(nano.layout) * 4
    for number, own in attention.groupby("sentence"):
        pair = [copying.valid.source[number]], [copying.valid.target[number]]
        (batch,) = nano.batches(*pair)
        expected = nano.capture(batch, attention=True).attention
        heads = [tuple(row) for row in own[["site", "layer", "head"]].to_numpy()]
        assert heads == list(nano.layout)
        for row in own.to_dict("records"):
            weights = expected[row["site"], row["layer"]][0]  # [head, query, key]
            column = nano.layout.ids_at(row["site"], row["layer"]).index(row["head"])
            assert np.abs(read(row) - weights[column].detach().numpy()).max() <= 0.5 / 255 + 1e-6


def test_queries_and_keys_are_the_tokens_that_are_listed(tables):
    counts = tables["tokens"].groupby(["sentence", "side"]).size()
    sides = {"encoder": "source source", "decoder": "target target", "cross": "target source"}
    for row in tables["attention"].to_dict("records"):
        queries, keys = sides[row["site"]].split()
        assert (row["queries"], row["keys"]) == (
            counts[row["sentence"], queries],
            counts[row["sentence"], keys],
        )
    first = tables["tokens"][tables["tokens"]["place"] == 0]
    assert set(first[first["side"] == "target"]["piece"]) == {"<s>"}


def test_what_is_shown_is_what_the_model_says(nano, copying):
    found = attention_examples(nano, copying, SETTINGS.with_changes(text="translation"), seed=0)
    sentences = found.tables["sentences"].rows
    said = [it.text for it in nano.translate(list(sentences["source"]))]
    assert list(sentences["target"]) == said


def test_long_sentences_are_left_out(nano, copying):
    lengths = [len(nano.offsets(it, "source")) for it in copying.valid.source]
    limit = sorted(lengths)[len(lengths) // 2]
    settings = SETTINGS.with_changes(longest=limit, sentences=50)
    found = attention_examples(nano, copying, settings, seed=0).tables["sentences"].rows
    assert len(found) == sum(length <= limit for length in lengths)


@pytest.mark.parametrize("text", ["reference", "translation"])
def test_where_none_is_short_the_shortest_is_shown(nano, copying, text):
    """As with a vocabulary of characters, or a model that has learnt next to nothing."""
    lengths = [len(nano.offsets(it, "source")) for it in copying.valid.source]
    long = replace(
        copying,
        valid=copying.valid.select([at for at, it in enumerate(lengths) if it > min(lengths)]),
    )
    settings = SETTINGS.with_changes(longest=1, text=text)
    found = attention_examples(nano, long, settings, seed=0)
    rows = found.tables["sentences"].rows
    source, target = ([len(nano.offsets(it, side)) for it in rows[side]] for side in SIDES)
    assert set(source) == {min(it for it in lengths if it > min(lengths))}
    assert len(set(target)) == 1
    assert f"at most {max(source[0], target[0])} tokens" in found.remarks[1]
