"""Devices by name."""

import pytest
import torch

from headcount.models.data.batching import collate
from headcount.models.devices import resolve_device
from headcount.models.errors import UsageError
from headcount.models.network import Network, NetworkSettings
from headcount.models.training.order import on_device
from headcount.models.training.processes import own_device


def test_auto_takes_a_gpu_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto") == torch.device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert resolve_device("auto") == torch.device("cpu")


@pytest.mark.parametrize("name", ["gpu", "cuda:77", "", "cpu:x"])
def test_what_is_not_here_is_refused_in_one_line(name):
    with pytest.raises(UsageError, match=f"device '{name}' cannot be used") as caught:
        resolve_device(name)
    assert "\n" not in str(caught.value)


def test_every_process_takes_the_gpu_of_its_own_and_no_other(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert own_device("cuda") == "cuda"  # not started by torchrun
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert [own_device(name) for name in ("auto", "cuda", "cpu")] == ["cuda:1", "cuda:1", "cpu"]
    monkeypatch.setenv("LOCAL_RANK", "2")
    with pytest.raises(UsageError, match="more processes than GPUs: start --nproc-per-node 2"):
        own_device("cuda")


def test_batches_go_to_every_kind_of_device():
    batch = collate([[4, 5]], [[6]], [0])
    [(epoch, [moved])] = on_device(iter([(3, [batch])]), torch.device("meta"))
    sides = (moved.source, moved.target, moved.labels)
    assert epoch == 3 and {side.ids.device.type for side in sides} == {"meta"}


def test_a_network_with_the_same_weights_shares_every_one_of_them():
    settings = NetworkSettings(width=4, feed_forward_width=4, heads=2)
    network = Network(settings, settings.full_layout(), 6, 6)
    other = network.with_same_weights()
    assert other.encoder[0] is not network.encoder[0]
    assert all(a is b for a, b in zip(network.parameters(), other.parameters(), strict=True))
    assert other.target_embedding is other.source_embedding
