"""What gradient and Fisher share: the slopes of the loss by the gates."""

from __future__ import annotations

from .stream import Pass, StreamedMetric


class SlopeMetric(StreamedMetric):
    """A metric that is a function of dL/dg, sentence by sentence."""

    @property
    def reads(self) -> Pass:
        """One backward pass a batch."""
        return "slopes"
