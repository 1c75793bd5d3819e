"""Which importance metric can be believed? One question, one file for each part of the answer."""

from .question import reliability
from .settings import LIGHT, Other, ReliabilitySettings

__all__ = ["LIGHT", "Other", "ReliabilitySettings", "reliability"]
