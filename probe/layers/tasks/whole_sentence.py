"""Whole sentences: what the mean of a sentence's words tells (Conneau et al. 2018).

Length is in classes of about equal size for short sentences (1-4, 5-7, 8-11, 12-17, 18 and
more words); the depth of the tree is 0 to 6 and more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from ...annotations.sentence import ROOT, AnnotatedSentence
from .altered import ALTERED
from .task import Labelled, probe_task

LENGTHS = (5, 8, 12, 18)
DEEPEST = 6


@probe_task("sentence_length", "sentence", "sentence")
def sentence_length(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """How many words the sentence has, in five classes."""
    if not sentence.comment(ALTERED):
        yield Labelled(0, str(bisect_right(LENGTHS, len(sentence))))


@probe_task("tree_depth", "sentence", "sentence")
def tree_depth(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """How deep the dependency tree is."""
    if sentence.has_tree and len(sentence):
        yield Labelled(0, str(min(max(sentence.depths), DEEPEST)))


@probe_task("main_tense", "sentence", "sentence")
def main_tense(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Tense of the main clause: of its finite verb or auxiliary."""
    if not sentence.has_tree:
        return
    for index, word in enumerate(sentence.words):
        if word.head == ROOT:
            own = [word, *[it for it in sentence.words if it.head == index and it.upos == "AUX"]]
            for candidate in own:
                if candidate.feature("VerbForm") == "Fin" and candidate.feature("Tense"):
                    yield Labelled(0, candidate.feature("Tense"))
                    return


@probe_task("subject_number", "sentence", "sentence")
def subject_number(sentence: AnnotatedSentence) -> Iterator[Labelled]:
    """Number of the subject of the main clause."""
    if not sentence.has_tree:
        return
    for word in sentence.words:
        main = word.head != ROOT and sentence.words[word.head].head == ROOT
        if main and word.relation.partition(":")[0] == "nsubj" and word.feature("Number"):
            yield Labelled(0, word.feature("Number"))
            return
