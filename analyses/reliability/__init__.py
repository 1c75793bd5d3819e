"""Which importance metric can be believed? One question, one file for each part of the answer."""

from .question import reliability
from .settings import Other, ReliabilitySettings

__all__ = ["Other", "ReliabilitySettings", "reliability"]
