"""Models on disk."""

import json
from pathlib import Path

import pytest
import torch
from tiny import SHAPE, tiny_batch, tiny_network

from headcount.models.checkpoints import (
    fingerprint_of,
    load_network,
    save_network,
    unique_weights,
)
from headcount.models.errors import CheckpointError
from headcount.models.gates import Head
from headcount.models.network import Network
from headcount.models.surgery import without_heads


def _network() -> Network:
    removed = [Head("encoder", 0, head) for head in range(4)] + [Head("cross", 1, 2)]
    return without_heads(tiny_network(), removed).float()


def test_a_cut_model_comes_back_as_it_was(tmp_path: Path):
    network = _network()
    save_network(tmp_path, network, {"note": "kept"})
    loaded, described = load_network(tmp_path)
    assert described["note"] == "kept"
    assert loaded.layout == network.layout
    assert fingerprint_of(loaded) == fingerprint_of(network)
    with torch.no_grad():
        assert torch.equal(loaded(tiny_batch()), network(tiny_batch()))


def test_the_same_weights_make_the_same_file(tmp_path: Path):
    """Entries of a header come in an order of the moment, so that one save says nothing."""
    network, files = _network(), set()
    for _ in range(8):
        save_network(tmp_path, network, {})
        files.add((tmp_path / "weights.safetensors").read_bytes())
    assert len(files) == 1


def test_tied_tables_are_stored_once():
    names = unique_weights(_network())
    assert sum("table" in name for name in names) == 1
    untied = SHAPE.with_changes(tie="none")
    assert sum("table" in name for name in unique_weights(tiny_network(untied))) == 3


def test_the_fingerprint_knows_weights_shape_and_vocabulary():
    network = tiny_network()
    first = fingerprint_of(network, "v1")
    assert fingerprint_of(network, "v2") != first
    with torch.no_grad():
        network.output_table[3, 3] += 1e-6
    assert fingerprint_of(network, "v1") != first


def test_nothing_saved_is_said(tmp_path: Path):
    with pytest.raises(CheckpointError, match="holds no finished model"):
        load_network(tmp_path)


def test_damaged_weights_are_refused(tmp_path: Path):
    save_network(tmp_path, _network(), {})
    weights = tmp_path / "weights.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="not a whole safetensors file"):
        load_network(tmp_path)
    weights.write_bytes(whole[:-4] + b"\0\0\0\1")
    with pytest.raises(CheckpointError, match="was changed"):
        load_network(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other 7"}, "not a model of format"),
        ({"network": {"widht": 16}}, "did you mean 'width'"),
        ({"target_vocabulary": 18, "source_vocabulary": 18}, "has shape"),
        ({"heads": {"encoder": [[0]], "decoder": [[0]], "cross": [[0]]}}, "usable model"),
    ],
)
def test_a_foreign_description_is_refused(tmp_path: Path, change: dict, message: str):
    save_network(tmp_path, _network(), {})
    path = tmp_path / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(CheckpointError, match=message):
        load_network(tmp_path)


def test_a_failed_save_leaves_no_part(tmp_path: Path, monkeypatch):
    save_network(tmp_path, _network(), {})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr("headcount.models.checkpoints.save_file", _full_disk)
    with pytest.raises(OSError, match="full"):
        save_network(tmp_path, tiny_network(), {})
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def _full_disk(tensors, path, metadata):
    path.write_bytes(b"half")
    raise OSError("disk full")
