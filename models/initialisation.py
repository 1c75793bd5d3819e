"""How weights start: the `initialisation` family.

A member fills every parameter of a network in place from a passed generator, so that one
seed gives one network whatever else was drawn before.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import nn

from .attention import MultiHeadAttention
from .registry import Registry

initialisation: Registry[Callable[[nn.Module, torch.Generator], None]] = Registry("initialisation")


@initialisation("xavier")
def xavier(network: nn.Module, generator: torch.Generator) -> None:
    """Glorot & Bengio 2010 for matrices, N(0, 1/width) for tables, 0 for biases, 1 for norms.

    Queries, keys and values take gain 1/sqrt(2): together they are one matrix of three
    times the height, for which Glorot's bound is smaller by about that factor.
    """
    gains = {
        id(projection.weight): 1 / math.sqrt(2)
        for module in network.modules()
        if isinstance(module, MultiHeadAttention)
        for projection in (module.query, module.key, module.value)
    }
    for name, parameter in network.named_parameters():
        if parameter.numel() == 0:
            continue
        if name.endswith("table"):
            nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5, generator=generator)
        elif parameter.dim() >= 2:
            nn.init.xavier_uniform_(parameter, gains.get(id(parameter), 1.0), generator=generator)
        elif name.endswith("norm.weight"):
            nn.init.ones_(parameter)
        else:
            nn.init.zeros_(parameter)
