"""Cutting heads, and feed-forward units, out of the weights.

A head owns a block of head_width rows in each of W_Q, W_K and W_V (with their biases) and
the same block of columns in W_O. Removing the head removes these blocks and nothing else:
the kept rows and columns stay in their order, and the bias of W_O stays even where no head
is left (such a sublayer adds its bias to the residual). The smaller network computes what
the whole one computes with the head's gate at 0. Feed-forward units are removed likewise.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from .attention import MultiHeadAttention
from .gates import Head
from .network import Network
from .units import Block


def without_heads(network: Network, heads: Iterable[Head]) -> Network:
    """Return a smaller copy of `network` without `heads`; the network itself stays as it is.

    Args:
        heads: original ids; they must be there (removing twice is an error).

    Raises:
        UsageError: the network has no such head (any more).
    """
    layout = network.layout.without(heads)
    sizes = (network.source_embedding.table.shape[0], network.target_embedding.table.shape[0])
    table = network.output_table
    smaller = Network(network.settings, layout, *sizes, network.units)
    smaller = smaller.to(device=table.device, dtype=table.dtype)
    whole = network.attentions
    weights = network.state_dict()
    for path, attention in smaller.named_modules():
        if isinstance(attention, MultiHeadAttention):
            kept = _kept_features(whole[attention.name], attention.ids).to(table.device)
            for part in ("query", "key", "value"):
                for kind in ("weight", "bias"):
                    name = f"{path}.{part}.{kind}"
                    weights[name] = weights[name].index_select(0, kept)
            name = f"{path}.output.weight"
            weights[name] = weights[name].index_select(1, kept)
    smaller.load_state_dict(weights)
    return smaller.train(network.training)


def without_units(network: Network, blocks: Iterable[Block]) -> Network:
    """Return a smaller copy of `network` without blocks of feed-forward units.

    A unit owns a row of W_1, its bias, and a column of W_2; b_2 stays.

    Args:
        blocks: by original numbers; they must be there.

    Raises:
        UsageError: the network has no such unit (any more), or a layer would have none.
    """
    units = network.units.without(blocks)
    sizes = (network.source_embedding.table.shape[0], network.target_embedding.table.shape[0])
    table = network.output_table
    smaller = Network(network.settings, network.layout, *sizes, units)
    smaller = smaller.to(device=table.device, dtype=table.dtype)
    weights = network.state_dict()
    for name, left in units.by_layer:
        place = {unit: at for at, unit in enumerate(network.units[name])}
        kept = torch.tensor([place[unit] for unit in left], device=table.device)
        path = f"{name}.feed_forward"
        for part in ("inner.weight", "inner.bias"):
            weights[f"{path}.{part}"] = weights[f"{path}.{part}"].index_select(0, kept)
        weights[f"{path}.outer.weight"] = weights[f"{path}.outer.weight"].index_select(1, kept)
    smaller.load_state_dict(weights)
    return smaller.train(network.training)


def _kept_features(attention: MultiHeadAttention, ids: tuple[int, ...]) -> Tensor:
    """Return the positions of the kept heads' features in the whole attention  # [feature]."""
    width = attention.head_width
    blocks = [torch.arange(width) + attention.ids.index(head) * width for head in ids]
    return torch.cat(blocks) if blocks else torch.empty(0, dtype=torch.long)
