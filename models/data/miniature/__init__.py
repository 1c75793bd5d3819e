"""miniature: a synchronous grammar of English and German."""

from .annotation import AnnotatedPair, AnnotatedSentence, Constituent, Focus, Word
from .corpus import MiniatureCorpus, generate, held_out, pairs
from .gold import alignment_lines, conllu_lines, write_gold

__all__ = [
    "AnnotatedPair",
    "AnnotatedSentence",
    "Constituent",
    "Focus",
    "MiniatureCorpus",
    "Word",
    "alignment_lines",
    "conllu_lines",
    "generate",
    "held_out",
    "pairs",
    "write_gold",
]
