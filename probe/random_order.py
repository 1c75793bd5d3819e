"""Random order: the null that every importance metric has to beat.

Removing heads in an order that knows nothing of them shows how much of the model is spare
at all. One draw says little, since the first heads to go may be the ones that carry the
answer; the analyses draw ten and show the band they make.
"""

from __future__ import annotations

import numpy as np

from ..models.gates import Head, HeadLayout


def random_orders(
    layout: HeadLayout, draws: int, generator: np.random.Generator
) -> list[list[Head]]:
    """Return `draws` orders of all heads, uniform and independent.

    Args:
        layout: the heads.
        draws: how many orders.
        generator: the only source of chance.
    """
    heads = layout.heads
    return [[heads[at] for at in generator.permutation(len(heads))] for _ in range(draws)]
