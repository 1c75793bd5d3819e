"""What a forward writes down for those who look inside."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import torch
from torch import Tensor

from .gates import Attention


@dataclass
class Recorder:
    """Collects what was asked for; an argument of the forward, so nothing stays hooked.

    Args:
        attention: whether to keep attention weights.
        context: whether to keep the heads' outputs.
        values: whether to keep the heads' value vectors.
        states: whether to keep the states between layers.
    """

    attention: bool = False
    context: bool = False
    states: bool = False
    values: bool = False
    weights_of: dict[Attention, Tensor] = field(default_factory=dict)
    context_of: dict[Attention, Tensor] = field(default_factory=dict)
    values_of: dict[Attention, Tensor] = field(default_factory=dict)
    states_of: dict[str, list[Tensor]] = field(default_factory=lambda: defaultdict(list))

    def saw_attention(
        self, name: Attention, weights: Tensor, context: Tensor, values: Tensor
    ) -> None:
        """Keep ungated weights [batch, head, query, key] and head outputs.

        Head outputs arrive as [batch, query, head, head_width], values as
        [batch, head, key, head_width].
        """
        if self.attention:
            self.weights_of[name] = weights
        if self.context:
            if torch.is_grad_enabled() and not context.requires_grad:
                # In a frozen model nothing before the first gate has a graph, and then nobody
                # could ask for the gradient by this output.
                context.requires_grad_()
            self.context_of[name] = context
        if self.values:
            self.values_of[name] = values

    def saw_state(self, side: str, states: Tensor) -> None:
        """Keep what enters or leaves a layer of `encoder` or `decoder`  # [batch, token, width]."""
        if self.states:
            self.states_of[side].append(states)
