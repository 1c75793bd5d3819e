"""GUM's entities: brackets in MISC, nested and with rich labels.

    1  Research   Entity=(2-abstract-new-...      entity 2, of type abstract, begins
    7  language   Entity=3)                       entity 3 ends
    9  L2         Entity=(3-abstract-giv-...)     begins and ends
    26 grammar    Entity=7)6)5)4)                 four end here

Fields are joined by hyphens: first the number of the discourse entity (the same for all its
mentions), then its type: person, place, organization, object, event, time, substance,
animal, plant or abstract. The brackets of one number are closed by that number, so spans may
cross, and a mention in several parts carries `[1/2]` after its number (Zeldes 2017, LRE 51).

Unlike in other corpora of named entities, every noun phrase that refers is an entity here.
Mentions in several parts have no span and are counted as `entities in parts`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from ...models.errors import DataError
from .reader import LayerReader, reader
from .sentence import AnnotatedSentence, Span
from .treebank import Treebank

_BRACKET = re.compile(r"\(([^()\s]+?)-([^()\s-]+)[^()\s]*(\)?)|([^()\s]+)\)")


@reader("gum-entities")
class GumEntityLayer(LayerReader):
    """Entity types from the MISC column (GUM); needs no further file."""

    def add_to(self, treebank: Treebank) -> Treebank:
        """Put the entities on; see `LayerReader.add_to`."""
        return add_gum_entities(treebank)


def add_gum_entities(treebank: Treebank) -> Treebank:
    """Turn `Entity` of MISC into the layer of entities, on every sentence.

    Raises:
        DataError: brackets that do not match, or no entity in the whole treebank.
    """
    counts: Counter[str] = Counter({"entities": 0, "entities in parts": 0})
    annotated = {}
    for sentence in treebank:
        entities = _entities(treebank.name, sentence, counts)
        annotated[sentence.id] = replace(sentence, entities=tuple(entities))
        counts["entities"] += len(entities)
    if not counts["entities"]:
        raise DataError(f"{treebank.name}: no Entity= in MISC; give a treebank that has it (GUM)")
    return treebank.with_layer(annotated, counts)


def _entities(name: str, sentence: AnnotatedSentence, counts: Counter[str]) -> list[Span]:
    """Return a sentence's entities, the outer before the inner."""
    opened: dict[str, list[tuple[str, int]]] = {}
    spans = []
    for index, word in enumerate(sentence.words):
        brackets = word.remark("Entity")
        end = 0
        for match in _BRACKET.finditer(brackets):
            if match.start() != end:
                break
            end = match.end()
            number, label, closed = match[1] or match[4], match[2], match[3]
            if label:
                opened.setdefault(number, []).append((label, index))
            if closed or not label:
                if not opened.get(number):
                    raise _wrong(name, sentence, index, f"entity {number} ends before it begins")
                label, start = opened[number].pop()
                if "[" in number:
                    counts["entities in parts"] += 1
                else:
                    spans.append(Span(label, start, index + 1))
        if end != len(brackets):
            raise _wrong(name, sentence, index, f"'{brackets[end:]}' is no bracket of an entity")
    for number, rest in opened.items():
        if rest:
            raise _wrong(name, sentence, rest[0][1], f"entity {number} begins but never ends")
    return sorted(spans, key=lambda span: (span.start, -span.end, span.label))


def _wrong(name: str, sentence: AnnotatedSentence, index: int, reason: str) -> DataError:
    return DataError(
        f"{name}, sentence '{sentence.id}', word {index + 1}: {reason}; correct MISC, or fetch "
        "the treebank again"
    )
