"""States on disk: pooled to words, standardised, and never from another model."""

import copy
import dataclasses

import numpy as np
import pytest
import torch

from headcount.models.errors import DataError
from headcount.models.gates import Attention, Head
from headcount.models.network import Network
from headcount.models.transformer import TransformerTranslator
from headcount.probe.layers.features import Features
from headcount.probe.layers.store import StateStore, StoreSettings, capture

EXACT = StoreSettings(dtype="float32")


def spans_of(text):
    """Words between spaces."""
    spans, start = [], 0
    for form in text.split():
        start = text.index(form, start)
        spans.append((start, start + len(form)))
        start += len(form)
    return spans


@pytest.fixture
def words(pairs):
    return [spans_of(text) for text in pairs.source]


def test_every_word_has_the_mean_of_its_pieces_on_every_layer(nano, pairs, words, tmp_path):
    # Two neighbouring words are made one, so that it has several pieces.
    merged = [[(it[0][0], it[1][1]), *it[2:]] if len(it) > 1 else it for it in words]
    store = capture(nano, pairs.source, pairs.target, merged, "decoder", tmp_path, EXACT)
    assert store.layers == 3 and store.unaligned == 0
    index = next(i for i, it in enumerate(words) if len(it) > 2)
    for batch in nano.batches([pairs.source[index]], [pairs.target[index]]):
        states = nano.capture(batch, states=True).states["decoder"]
    first = store.starts[index]
    for layer, values in enumerate(states):
        at = [place for place in range(values.shape[1]) if batch.target.ordinary[0, place]]
        pieces = values[0, at].detach().numpy()  # every word of this vocabulary is one piece
        assert store.layer(layer)[first] == pytest.approx(pieces[:2].mean(0), abs=1e-6)
        assert store.layer(layer)[first + 1] == pytest.approx(pieces[2], abs=1e-6)


def test_a_pre_norm_network_gives_its_last_layer_and_its_norm(nano, pairs, words, tmp_path):
    settings = nano.network.settings.with_changes(norm_place="pre")
    sizes = [len(it) for it in nano.vocabularies.values()]
    network = Network(settings, settings.full_layout(), *sizes)
    network.initialise(torch.Generator().manual_seed(0)).requires_grad_(False).eval()
    made = TransformerTranslator(network, *nano.vocabularies.values())
    store = capture(made, pairs.source, None, words, "encoder", tmp_path, EXACT)
    assert store.units == ("0", "1", "norm") and store.layers == 2
    normed = network.encoder_norm(torch.from_numpy(store.layer(1).copy()))
    assert store.layer(2) == pytest.approx(normed.numpy(), abs=1e-5)  # a word is one piece here
    assert store.layer(1) != pytest.approx(store.layer(2), abs=0.1)


def test_the_outputs_of_single_heads(nano, pairs, words, tmp_path):
    index = next(i for i, it in enumerate(words) if len(it) > 1)
    texts = ([pairs.source[index]], [pairs.target[index]], [words[index]])
    store = capture(nano, *texts, "decoder", tmp_path, EXACT, "heads")
    batch = next(nano.batches(*texts[:2]))
    context = nano.capture(batch, context=True).context
    assert len(store.units) == sum(it.site != "encoder" for it in nano.layout.heads)
    for unit, name in enumerate(store.units):
        head = Head.parse(name)
        output = context[Attention(head.site, head.layer)][0, 1, head.head]  # behind BOS
        assert store.layer(unit)[0] == pytest.approx(output.detach().numpy(), abs=1e-6)
    with pytest.raises(DataError, match="another what"):
        capture(nano, *texts, "decoder", tmp_path, EXACT)


@pytest.mark.parametrize(("pooling", "piece"), [("first", 0), ("last", 1)])
def test_first_and_last_piece(nano, pairs, words, tmp_path, pooling, piece):
    index = next(i for i, it in enumerate(words) if len(it) > 1)
    text, spans = pairs.source[index], words[index]
    whole = capture(nano, [text], None, [spans], "encoder", tmp_path / "words", EXACT)
    settings = EXACT.with_changes(pooling=pooling)
    merged = [[(spans[0][0], spans[1][1])]]
    store = capture(nano, [text], None, merged, "encoder", tmp_path / "merged", settings)
    assert store.states[:, 0] == pytest.approx(whole.states[:, piece])


def test_the_memory_setting_changes_nothing_but_the_memory(nano, pairs, words, tmp_path):
    arguments = (nano, pairs.source, pairs.target, words, "encoder")
    large = capture(*arguments, tmp_path / "large", EXACT)
    small = capture(*arguments, tmp_path / "small", EXACT.with_changes(memory=1))
    assert isinstance(large.states, np.memmap)
    assert small.states == pytest.approx(large.states, abs=1e-5)
    half = capture(*arguments, tmp_path / "half", StoreSettings())
    assert half.states.dtype == np.float16
    assert half.states == pytest.approx(large.states, abs=1e-2)


def test_words_without_pieces_are_marked_and_counted(nano, pairs, words, tmp_path):
    words[1] = [(-1, -1), *words[1]]
    store = capture(nano, pairs.source, None, words, "encoder", tmp_path)
    assert store.unaligned == 1 and not store.aligned[store.starts[1]]
    assert not store.states[:, store.starts[1]].any()


def test_the_two_words_of_one_written_form_share_their_vector(nano, pairs, words, tmp_path):
    words[0] = [words[0][0], *words[0]]
    store = capture(nano, pairs.source, None, words, "encoder", tmp_path)
    assert np.array_equal(store.states[:, 0], store.states[:, 1])


def test_a_finished_store_is_used_again_and_a_foreign_one_refused(nano, pairs, words, tmp_path):
    store = capture(nano, pairs.source, None, words, "encoder", tmp_path)
    before = (tmp_path / "states.npy").stat().st_mtime_ns
    again = capture(nano, pairs.source, None, words, "encoder", tmp_path)
    assert (tmp_path / "states.npy").stat().st_mtime_ns == before
    assert again.origin == store.origin
    other = nano.without(nano.layout.heads[:1])
    with pytest.raises(DataError, match="another model"):
        capture(other, pairs.source, None, words, "encoder", tmp_path)
    with pytest.raises(DataError, match="another text"):
        capture(nano, pairs.source[:3], None, words[:3], "encoder", tmp_path)
    with pytest.raises(DataError, match="another dtype"):
        StateStore.open(tmp_path, dataclasses.replace(store.origin, dtype="float32"))


def test_an_unfinished_or_damaged_store_is_refused(nano, pairs, words, tmp_path):
    capture(nano, pairs.source, None, words, "encoder", tmp_path)
    np.save(tmp_path / "aligned.npy", np.ones(1, bool))
    with pytest.raises(DataError, match="damaged"):
        StateStore.open(tmp_path)
    (tmp_path / "store.json").unlink()
    with pytest.raises(DataError, match="no finished states"):
        StateStore.open(tmp_path)


def test_states_that_are_no_numbers_are_refused(nano, pairs, words, tmp_path):
    network = copy.deepcopy(nano.network)
    with torch.no_grad():
        next(network.encoder[0].feed_forward.parameters()).fill_(float("nan"))
    damaged = TransformerTranslator(network, *nano.vocabularies.values())
    with pytest.raises(DataError, match=r"layer 1 are not finite"):
        capture(damaged, pairs.source, None, words, "encoder", tmp_path)


def test_states_beyond_float16_are_refused(nano, pairs, words, tmp_path):
    network = copy.deepcopy(nano.network)
    with torch.no_grad():
        network.source_embedding.table.mul_(1e7)
    large = TransformerTranslator(network, *nano.vocabularies.values())
    with pytest.raises(DataError, match="float32"):
        capture(large, pairs.source, None, words, "encoder", tmp_path / "half")
    assert capture(large, pairs.source, None, words, "encoder", tmp_path / "whole", EXACT)


def test_the_decoder_needs_both_sides_and_sides_of_one_length(nano, pairs, words, tmp_path):
    with pytest.raises(DataError, match="target sentences"):
        capture(nano, pairs.source, None, words, "decoder", tmp_path)
    with pytest.raises(DataError, match="equally many"):
        capture(nano, pairs.source, None, words[:2], "encoder", tmp_path)


def test_a_mapped_layer_is_standardised_with_training_rows(nano, pairs, words, tmp_path):
    store = capture(nano, pairs.source, None, words, "encoder", tmp_path, EXACT)
    train = np.arange(0, len(store.sentences) // 2)
    features = Features(store.layer(1), np.arange(len(store.sentences))).standardised(train)
    whole = features.whole()
    assert whole[train].mean(0) == pytest.approx(np.zeros(12), abs=1e-5)
    assert whole[train].std(0) == pytest.approx(np.ones(12), abs=1e-5)
