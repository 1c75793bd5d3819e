"""A model on disk: safetensors weights, a JSON configuration and the vocabularies.

Nothing is pickled, so opening a model never runs code. `model.json` is written last and
holds the hash of the weights: a folder without it is unfinished, and weights that do not
match it are damaged or foreign.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from .errors import CheckpointError, UsageError
from .files import replacing, sha256_of, write_json
from .gates import HeadLayout
from .network import Network, NetworkSettings
from .units import UnitLayout

FORMAT = 1
_HASH = "content_sha256"
_REMEDY = "restore it, or make it again"


def save_weights(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write named tensors as safetensors, atomically; tied tensors must appear once.

    A hash of them goes into the metadata: the format itself has none, and would read other
    numbers where a disk has lost a bit.
    """
    _write(path, tensors, {**metadata, _HASH: _content_hash(tensors)})


def _write(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write tensors and metadata as they are.

    Pitfall: the library puts entries of the metadata in any order, so a file whose own hash is
    to be the same for the same weights can have one entry only.
    """
    with replacing(path) as temporary:
        whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(whole, temporary, metadata)


def load_weights(path: Path) -> dict[str, Tensor]:
    """Read the tensors that `save_weights` wrote, see `load_with_metadata`."""
    return load_with_metadata(path)[0]


def load_with_metadata(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read the tensors and the metadata that `save_weights` wrote.

    Raises:
        CheckpointError: the file is missing, cut short, not safetensors, or was changed.
    """
    tensors, metadata = _read(path)
    if _HASH in metadata and metadata[_HASH] != _content_hash(tensors):
        raise CheckpointError(f"{path} was changed since it was written; {_REMEDY}")
    return tensors, metadata


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read tensors and metadata without asking whether they were changed."""
    try:
        with safe_open(path, framework="pt") as file:
            names = file.keys()
            return {name: file.get_tensor(name) for name in names}, file.metadata() or {}
    except FileNotFoundError:
        raise CheckpointError(f"{path} is missing: the model was never saved whole") from None
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"{path} is not a whole safetensors file ({error}); {_REMEDY}"
        ) from None


def _content_hash(tensors: dict[str, Tensor]) -> str:
    """Return SHA-256 over the names and bytes of tensors."""
    digest = hashlib.sha256()
    _hash_into(digest, tensors)
    return digest.hexdigest()


def _hash_into(digest: hashlib._Hash, tensors: dict[str, Tensor]) -> None:
    """Add names and bytes of tensors, by name, to a hash that was begun."""
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().data)


def unique_weights(network: Network) -> dict[str, Tensor]:
    """Return every parameter once, so that tied tables are not stored twice."""
    return dict(network.named_parameters())


def save_network(folder: Path, network: Network, extra: dict[str, Any]) -> None:
    """Write `weights.safetensors`, then `model.json` with shape, layout and hashes."""
    weights = folder / "weights.safetensors"
    _write(weights, unique_weights(network), {"format": f"headcount {FORMAT}"})
    described = {
        "format": f"headcount {FORMAT}",
        "network": network.settings.model_dump(),
        "heads": network.layout.to_dict(),
        "source_vocabulary": network.source_embedding.table.shape[0],
        "target_vocabulary": network.target_embedding.table.shape[0],
        "weights_sha256": sha256_of(weights),
        **_units(network),
        **extra,
    }
    write_json(folder / "model.json", described)


def load_network(folder: Path) -> tuple[Network, dict[str, Any]]:
    """Read a network and its description.

    Raises:
        CheckpointError: nothing there, unfinished, damaged, of another format, or weights
            that do not fit the description.
    """
    described = _read_description(folder / "model.json")
    weights = folder / "weights.safetensors"
    tensors, _ = _read(weights)  # the hash of the whole file says whether it was changed
    if sha256_of(weights) != described["weights_sha256"]:
        raise CheckpointError(
            f"{weights} does not match {folder / 'model.json'}: it was changed; restore it, or "
            "train again"
        )
    try:
        settings = NetworkSettings.from_dict(described["network"], str(folder / "model.json"))
        layout = HeadLayout.from_dict(described["heads"])
        sizes = (described["source_vocabulary"], described["target_vocabulary"])
        own = described.get("units")
        units = UnitLayout.from_dict(own) if own else None
        network = Network(settings, layout, *sizes, units)
        fill_network(network, tensors)
    except (KeyError, TypeError, ValueError, RuntimeError, UsageError) as error:
        raise CheckpointError(f"{folder} does not hold a usable model: {error}") from None
    return network.eval(), described


def fill_network(network: Network, tensors: dict[str, Tensor]) -> None:
    """Copy named tensors into a network, which must need all of them and no other.

    Raises:
        CheckpointError: a name is missing, unknown, or of another shape.
    """
    own = unique_weights(network)
    missing, unknown = own.keys() - tensors.keys(), tensors.keys() - own.keys()
    if missing or unknown:
        names = ", ".join(sorted(missing | unknown)[:3])
        raise CheckpointError(f"weights do not fit the network; first of the others: {names}")
    for name, parameter in own.items():
        if parameter.shape != tensors[name].shape:
            shapes = f"{list(tensors[name].shape)}, expected {list(parameter.shape)}"
            raise CheckpointError(f"weight {name} has shape {shapes}")
        with torch.no_grad():  # not through .data, which would hide that the weights changed
            parameter.copy_(tensors[name])


def fingerprint_of(network: Network, *others: str) -> str:
    """Return SHA-256 over configuration, layout, weights and other hashes."""
    digest = hashlib.sha256()
    shape = [network.settings.model_dump(), network.layout.to_dict()]
    described = [*shape, *_units(network).values(), *others]
    digest.update(json.dumps(described, sort_keys=True).encode())
    _hash_into(digest, unique_weights(network))
    return digest.hexdigest()


def _units(network: Network) -> dict[str, dict[str, str]]:
    """Return which feed-forward units are left, nothing where all are."""
    whole = network.units == network.settings.full_units()
    return {} if whole else {"units": network.units.to_dict()}


def _read_description(path: Path) -> dict[str, Any]:
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        if not path.parent.is_dir():
            raise CheckpointError(
                f"{path.parent}: no such folder; name a run, or a folder with a saved model"
            ) from None
        raise CheckpointError(
            f"{path.parent} holds no finished model: {path} is missing; train it to its end"
        ) from None
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged ({error}); restore it, or train again") from None
    wanted = f"headcount {FORMAT}"
    if not isinstance(described, dict) or described.get("format") != wanted:
        raise CheckpointError(
            f"{path} is not a model of format '{wanted}': name one that headcount has saved"
        )
    return described
