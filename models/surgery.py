"""Cutting heads out of the weights.

A head owns a block of head_width rows in each of W_Q, W_K and W_V (with their biases) and
the same block of columns in W_O. Removing the head removes these blocks and nothing else:
the kept rows and columns stay in their order, and the bias of W_O stays even where no head
is left (such a sublayer adds its bias to the residual). The smaller network computes what
the whole one computes with the head's gate at 0.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from .attention import MultiHeadAttention
from .gates import Head
from .network import Network


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
    smaller = Network(network.settings, layout, *sizes).to(device=table.device, dtype=table.dtype)
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


def _kept_features(attention: MultiHeadAttention, ids: tuple[int, ...]) -> Tensor:
    """Return the positions of the kept heads' features in the whole attention  # [feature]."""
    width = attention.head_width
    blocks = [torch.arange(width) + attention.ids.index(head) * width for head in ids]
    return torch.cat(blocks) if blocks else torch.empty(0, dtype=torch.long)
