"""Where to compute, by name."""

from __future__ import annotations

import torch

from .errors import UsageError


def has_tiles() -> bool:
    """Say whether the processor multiplies tiles of bfloat16 (Intel's AMX)."""
    check = getattr(torch.cpu, "_is_amx_tile_supported", None)
    return bool(check and check())


def resolve_device(name: str) -> torch.device:
    """Return the device that `name` means; `auto` is the first CUDA GPU, else the CPU.

    Args:
        name: auto, cpu, cuda, cuda:1, mps.

    Raises:
        UsageError: not the name of a device, or of one that is not here.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UsageError(
            f"device '{name}' cannot be used ({reason}); choose auto, cpu, cuda or cuda:N"
        ) from None
    return device
