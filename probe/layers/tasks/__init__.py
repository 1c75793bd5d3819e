"""Probing tasks: what each asks of a state, by name in one registry, one file a family.

| file | family | what is asked |
| --- | --- | --- |
| `syntax.py` | syntax | part of speech, relation, where the head stands, depth, phrase |
| `morphology.py` | morphology | number, tense, gender, case |
| `semantics.py` | semantics | supersense, prepositions, role, entity, sense, animacy |
| `judgements.py` | semantics | proto-roles and factuality |
| `whole_sentence.py` | sentence | length, depth, tense, number of the subject |
| `altered.py` | sentence | whether words or clauses have changed places |

A task joins the family when its file is imported here.
"""

from . import altered, judgements, morphology, semantics, syntax, whole_sentence
from .task import (
    Labelled,
    ProbeTask,
    Words,
    aligned_examples,
    examples_of,
    probe_task,
    task,
    translation_examples,
)

__all__ = [
    "Labelled",
    "ProbeTask",
    "Words",
    "aligned_examples",
    "altered",
    "examples_of",
    "judgements",
    "morphology",
    "probe_task",
    "semantics",
    "syntax",
    "task",
    "translation_examples",
    "whole_sentence",
]
