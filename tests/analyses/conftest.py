"""The made translators and a corpus of copying, for all tests of this folder."""

from made_translators import copying, nano, pairs, planted, vocabulary

__all__ = ["copying", "nano", "pairs", "planted", "vocabulary"]
