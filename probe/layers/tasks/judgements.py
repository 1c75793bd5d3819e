"""Semantics as people judge it: the properties of Universal Decompositional Semantics.

A judgement is a number; its sign is the label, so that each property is one task with two
classes. Judgements nearer to 0 than 0.5 are left out: there people did not agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...annotations.sentence import AnnotatedSentence
from ..examples import Unit
from .task import Labelled, Read, probe_task

UNCERTAIN = 0.5
PROTO_ROLES = ("volition", "sentient", "awareness", "instigation", "change_of_state")
OF_WORDS = {"factual": "The event of the predicate happened."}


def _sign_of(name: str, summary: str) -> Read:
    def read(sentence: AnnotatedSentence) -> Iterator[Labelled]:
        for each in sentence.judgements or ():
            if each.name == name and abs(each.value) >= UNCERTAIN:
                label = "yes" if each.value > 0 else "no"
                if len(each.words) == 2:
                    yield Labelled(each.words[1], label, each.words[0])
                else:
                    yield Labelled(each.words[0], label)

    read.__doc__ = summary
    return read


def _join(name: str, unit: Unit, summary: str) -> None:
    join: Callable[[Read], Read] = probe_task(name, "semantics", unit)
    join(_sign_of(name, summary))


for _name in PROTO_ROLES:
    _join(_name, "pair", f"Whether the argument has the proto-role property {_name}.")
for _name, _summary in OF_WORDS.items():
    _join(_name, "word", _summary)
