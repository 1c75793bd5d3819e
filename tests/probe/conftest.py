"""The made translators and their text, for all tests of this folder."""

from made_translators import nano, pairs, planted, vocabulary

__all__ = ["nano", "pairs", "planted", "vocabulary"]
