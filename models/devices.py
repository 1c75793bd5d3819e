"""Where to compute, by name."""

from __future__ import annotations

import torch

from .errors import UsageError


def has_tiles() -> bool:
    """Say whether the processor multiplies tiles of bfloat16 (Intel's AMX)."""
    return _processor_has("amx_tile")


def has_bfloat16() -> bool:
    """Say whether the processor has instructions for bfloat16, tiles or not."""
    return has_tiles() or _processor_has("avx512_bf16")


def _processor_has(what: str) -> bool:
    """Ask torch, whose checks are not there in every version and on every system."""
    check = getattr(torch.cpu, f"_is_{what}_supported", None)
    return bool(check and check())


def wait_for(device: torch.device) -> None:
    """Wait until a GPU has done what it was given: its calls return before their work is done."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


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
