"""A training run on disk, so that it can go on after a kill as if nothing had happened.

    <folder>/state.safetensors     weights, companion, Adam's moments, random state; JSON
    <folder>/<update>.safetensors  the weights of the last few validations, for averaging

The state is written whole and then renamed, so a kill at any moment leaves the last one.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..checkpoints import fill_network, load_with_metadata, save_weights, unique_weights
from ..errors import CheckpointError
from ..network import Network
from .companion import Companion


@dataclass
class Progress:
    """How far training has come.

    Args:
        update: optimiser steps made.
        seconds: training time so far, validations included.
        history: one record a validation.
        best_nll: the lowest validation NLL, nats a token.
        best_update: when it was reached.
        without_gain: validations since then.
        checkpoints: updates whose weights are kept, oldest first.
    """

    update: int = 0
    seconds: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)
    best_nll: float = float("inf")
    best_update: int = 0
    without_gain: int = 0
    checkpoints: list[int] = field(default_factory=list)


def checkpoint_path(folder: Path, update: int) -> Path:
    """Return where the weights after `update` are kept."""
    return folder / f"{update}.safetensors"


def save_state(
    folder: Path,
    network: Network,
    companion: Companion,
    optimiser: torch.optim.Optimizer,
    progress: Progress,
    inputs: str,
) -> None:
    """Write everything that the next update depends on.

    Args:
        inputs: a hash of settings and data; a state is only resumed under the same ones.
    """
    tensors = {f"weight.{name}": weight for name, weight in unique_weights(network).items()}
    tensors |= {f"companion.{name}": it for name, it in companion.state_dict().items()}
    for name, moments in _moments(network, companion, optimiser).items():
        tensors |= {f"{key}.{name}": value for key, value in moments.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if network.output_table.is_cuda:
        tensors["random.cuda"] = torch.cuda.get_rng_state(network.output_table.device)
    about = {
        "progress": json.dumps(asdict(progress)),
        "history": json.dumps(companion.history),
        "inputs": inputs,
    }
    save_weights(folder / "state.safetensors", tensors, about)


def load_state(
    folder: Path,
    network: Network,
    companion: Companion,
    optimiser: torch.optim.Optimizer,
    inputs: str,
) -> Progress | None:
    """Put a saved state back; None where there is none.

    Raises:
        CheckpointError: the state is damaged, or was made from other settings or data.
    """
    path = folder / "state.safetensors"
    if not path.exists():
        return None
    tensors, about = load_with_metadata(path)
    if about.get("inputs") != inputs:
        raise CheckpointError(
            f"{path} was made with other settings or data: restore them, or delete {folder}"
        )
    fill_network(network, _with_prefix(tensors, "weight."))
    companion.load_state_dict(_with_prefix(tensors, "companion."))
    companion.history = json.loads(about.get("history", "[]"))
    _fill_moments(network, companion, optimiser, tensors)
    torch.set_rng_state(tensors["random.cpu"])
    if network.output_table.is_cuda and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"], network.output_table.device)
    return Progress(**json.loads(about["progress"]))


def _with_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name[len(prefix) :]: it for name, it in tensors.items() if name.startswith(prefix)}


def _trained(network: Network, companion: Companion) -> dict[str, Tensor]:
    """Return everything that can have moments, by name."""
    own = {f"companion/{name}": it for name, it in companion.named_parameters()}
    return unique_weights(network) | own


def _moments(
    network: Network, companion: Companion, optimiser: torch.optim.Optimizer
) -> dict[str, dict[str, Any]]:
    """Return Adam's state by parameter name."""
    own = _trained(network, companion).items()
    return {name: optimiser.state[weight] for name, weight in own if weight in optimiser.state}


def _fill_moments(
    network: Network,
    companion: Companion,
    optimiser: torch.optim.Optimizer,
    tensors: dict[str, Tensor],
) -> None:
    trained = _trained(network, companion)
    for key in ("step", "exp_avg", "exp_avg_sq"):
        for name, value in _with_prefix(tensors, f"{key}.").items():
            weight = trained[name]
            optimiser.state[weight][key] = value.to(weight.device)
