"""miniature: a synchronous grammar of English and German with complete gold annotation.

A synchronous grammar (Lewis and Stearns 1968; in translation, Wu 1997) derives a sentence and its
translation at once from one description, so that everything about both is known for certain:
words, lemmas, parts of speech, Universal Dependencies, constituents, features, supersenses,
semantic roles, entities, word senses, animacy, word alignments, and what each sentence is about.
An analysis that claims to find syntax or meaning inside a model can be checked against the truth,
offline and with as many sentences as it needs.

A sentence comes to be in four steps, each a room of its own:

1. `words`: tables of words in order of frequency, what goes with what, and inflection.
2. `sentences`: a phenomenon (a question, a relative clause, an ambiguous noun with its cue) draws
   a description from the tables: who does what to whom, when and where.
3. `grammar`: the description is said in both languages; word order is the last step.
4. `annotation`, `corpus`, `gold`: the pair is frozen, kept if new, and written as CoNLL-U.

    corpus = generate(seed=0)                     # 20,000 + 500 + 1,000 + 500 pairs
    pair = corpus.test[0]
    pair.source.text, pair.target.text, pair.alignment, pair.phenomenon, pair.contrasts
    pairs(seed=0, phenomenon="agreement", distance=3)   # without end, three modifiers between

The same English sentence never has two translations: synonyms are left out, and where English is
ambiguous (bank, it, its, eat), a cue in the same sentence decides. The cue is annotated.

Pitfalls. Words are syntactic words: `im` is in + dem, which share its characters. Lengths count
punctuation and are 3 to 25 on both sides. The meaning of a sentence is plausible, not profound:
selection is by class (dogs bark, people read), nothing knows why a man paints a goose.
"""

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
