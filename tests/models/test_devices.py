"""Devices by name."""

import pytest
import torch

from headcount.models.devices import resolve_device
from headcount.models.errors import UsageError


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
