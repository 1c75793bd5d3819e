"""Linear CKA: how alike two layers are, whatever their rotation and scale.

    CKA(X, Y) = |Y'X|_F^2 / (|X'X|_F |Y'Y|_F),   columns centred

(Kornblith et al. 2019). 1 means equal up to rotation and scale; no labels are involved. All
products X'Y are sums over words and are streamed, so only layers x layers matrices of
width x width are held, never the states.

Pitfall: with fewer words than dimensions CKA is near 1 for anything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from ...models.errors import DataError
from .features import Features


def linear_cka(layers: Sequence[Features]) -> NDArray[np.float64]:
    """Return the likeness of all pairs of layers, 0 to 1  # [layer, layer].

    Args:
        layers: the same examples on every layer, not standardised.

    Raises:
        DataError: no layers, or no more examples than features.
    """
    if not layers or len(layers[0]) <= max(it.width for it in layers):
        raise DataError("CKA needs more words than dimensions; give more sentences")
    size = len(layers)
    count = len(layers[0])
    sums = [torch.zeros(it.width, dtype=torch.float64) for it in layers]
    products = {
        (a, b): torch.zeros(layers[a].width, layers[b].width, dtype=torch.float64)
        for a in range(size)
        for b in range(a, size)
    }
    for together in zip(*[it.blocks() for it in layers], strict=True):
        # In float32 the means of large states would drown their deviations.
        exact = [block.double() for block in together]
        for a, block in enumerate(exact):
            sums[a] += block.sum(0)
        for a, b in products:
            products[a, b] += exact[a].T @ exact[b]
    likeness = np.zeros((size, size))
    for (a, b), product in products.items():
        centred = product - torch.outer(sums[a], sums[b]) / count
        likeness[a, b] = likeness[b, a] = float((centred**2).sum())
    norms = np.sqrt(np.diag(likeness))
    return likeness / np.outer(norms, norms)
