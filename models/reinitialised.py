"""The same network with random weights: what a measure says where nothing was learnt.

Whatever an analysis finds in a trained network may come from its shape and its text alone
(Zhang & Bowman 2018; Michel et al. 2019 do not ask this, and most measures of importance
are uneven in any network). So the same shape, vocabulary and heads are filled with weights
as they are before training, and the analysis is done again.

Kinds of translators join `with_random_weights` with `.register`, as ours does here.
"""

from __future__ import annotations

import copy
from functools import singledispatch

import torch

from .errors import UsageError
from .transformer import TransformerTranslator
from .translator import Translator


@singledispatch
def with_random_weights(translator: Translator, generator: torch.Generator) -> Translator:
    """Return a frozen copy whose weights are drawn anew; `translator` stays as it is.

    Args:
        translator: says the shape, the heads, the vocabularies, the device and the precision.
        generator: on the CPU, so that one seed gives one network on every device.

    Raises:
        UsageError: it is not known how this kind of translator starts.
    """
    kind = type(translator).__name__
    raise UsageError(f"there is no random start for a {kind}: leave out what is compared with it")


@with_random_weights.register
def _(translator: TransformerTranslator, generator: torch.Generator) -> Translator:
    own = translator.network.output_table
    network = copy.deepcopy(translator.network).to("cpu", torch.float32).initialise(generator)
    network = network.to(own.device, own.dtype).requires_grad_(False).eval()
    return TransformerTranslator(network, *translator.vocabularies.values())
