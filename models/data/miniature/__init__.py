"""miniature: a synchronous grammar of English and German."""

from .annotation import AnnotatedPair, AnnotatedSentence, Constituent, Focus, Word
from .corpus import MiniatureCorpus, generate, held_out, pairs

__all__ = [
    "AnnotatedPair",
    "AnnotatedSentence",
    "Constituent",
    "Focus",
    "MiniatureCorpus",
    "Word",
    "generate",
    "held_out",
    "pairs",
]
