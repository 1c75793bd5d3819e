"""What people know of sentences: readers of annotated text, and words joined to a model's pieces.

    treebank = read_annotations(
        ConlluReader(path="en_ewt-ud-dev.conllu"),
        [EntityLayer(path="en_ewt-ud-dev.iob2", sentence_map="sent_id_map.tsv")],
    )
    sentence = treebank.sentences[0]
    sentence.words[3].relation, sentence.entities, treebank.counts
    aligned = pieces_of(sentence, translator.offsets(sentence.text, "source"))
    aligned.pieces[3], aligned.coverage.remark()

| format | reader | what it gives |
| --- | --- | --- |
| `conllu` | `ConlluReader` | words, features, dependency trees |
| `conllulex` | `ConllulexReader` | the same with supersenses and multiword expressions |
| `supersenses` | `SupersenseLayer` | these two on another treebank's words |
| `uner` | `EntityLayer` | named entities |
| `gum-entities` | `GumEntityLayer` | entities of GUM, from MISC |
| `constituents` | `ConstituentLayer` | phrases |
| `uds` | `JudgementLayer` | proto-roles, genericity, factuality |
| `pharaoh`, `xl-wa`, `alibi` | ... | sentence pairs with word alignments |
| `miniature`, `miniature-gold` | ... | the built-in corpus, and its exported form |

Every format gives the same immutable `AnnotatedSentence` (`sentence.py`), so an analysis
never asks where annotation is from, only whether a sentence has the layer that it needs.
"""

from .alignments import AlibiReader, PharaohReader, XlwaReader
from .conllu_files import ConlluReader, read_conllu
from .constituents import ConstituentLayer, add_constituents
from .gum_entities import GumEntityLayer, add_gum_entities
from .miniature import MiniatureGoldLayer, MiniatureReader, add_gold, aligned_text, focus_of
from .pieces import Coverage, WordPieces, pieces_of, word_pieces
from .pooling import attention_over_words, pooled_states, pooling_matrix
from .reader import LayerReader, PairReader, Reader, TreebankReader, read_annotations, reader
from .sentence import (
    AnnotatedSentence,
    Expression,
    Judgement,
    Role,
    Span,
    Supersense,
    SurfaceToken,
    Word,
)
from .streusle import ConllulexReader, SupersenseLayer, add_supersenses, read_conllulex
from .treebank import AlignedPair, AlignedText, ParallelTreebank, Treebank, paired
from .uds import JudgementLayer, add_judgements
from .uner import EntityLayer, add_entities

__all__ = [
    "AlibiReader",
    "AlignedPair",
    "AlignedText",
    "AnnotatedSentence",
    "ConlluReader",
    "ConllulexReader",
    "ConstituentLayer",
    "Coverage",
    "EntityLayer",
    "Expression",
    "GumEntityLayer",
    "Judgement",
    "JudgementLayer",
    "LayerReader",
    "MiniatureGoldLayer",
    "MiniatureReader",
    "PairReader",
    "ParallelTreebank",
    "PharaohReader",
    "Reader",
    "Role",
    "Span",
    "Supersense",
    "SupersenseLayer",
    "SurfaceToken",
    "Treebank",
    "TreebankReader",
    "Word",
    "WordPieces",
    "XlwaReader",
    "add_constituents",
    "add_entities",
    "add_gold",
    "add_gum_entities",
    "add_judgements",
    "add_supersenses",
    "aligned_text",
    "attention_over_words",
    "focus_of",
    "paired",
    "pieces_of",
    "pooled_states",
    "pooling_matrix",
    "read_annotations",
    "read_conllu",
    "read_conllulex",
    "reader",
    "word_pieces",
]
