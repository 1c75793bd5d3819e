"""IOB2 named entities (Universal NER), joined to a treebank by a sentence map.

    # sent_id = s-0001
    # text = Ada Lovelace wrote in London .
    1<TAB>Ada<TAB>B-PER<TAB>-<TAB>annotator      B- begins an entity,
    2<TAB>Lovelace<TAB>I-PER<TAB>-<TAB>annotator      I- continues it,
    3<TAB>wrote<TAB>O<TAB>-<TAB>-                     O is outside

In IOB2 every entity begins with B-, so two neighbours of one type stay apart; the older IOB1
writes I- there. Empty line after every sentence. Mayhew et al. 2024, NAACL: PER, ORG, LOC.

The entities were annotated on an older release of the treebank, whose sentences had other ids
and at times other words. The map says which sentence is which:

    treebank<TAB>id here<TAB>id in the treebank<TAB>yes | no      (are the words the same?)

Lines that begin with # and lines of other treebanks are skipped. Where the words are not the
same, equal words are matched in order, and an entity is taken over only if all of its words
are matched and stay neighbours; the others are counted.

Counts: `sentences with entities` (annotated, with or without one), `entities`, `entities lost`,
`sentences not mapped`, `sentences with other words`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from .blocks import Row, annotation_lines, damaged, read_blocks
from .conllu_files import treebank_name
from .reader import LayerReader, reader
from .sentence import AnnotatedSentence, Span
from .treebank import Treebank

COLUMNS = 5
MAP_COLUMNS = 4


@reader("uner")
class EntityLayer(LayerReader):
    """IOB2 named entities (Universal NER).

    Args:
        path: the `.iob2` file, also gzipped.
        sentence_map: treebank, id here, id there, yes/no a line; without it the ids are equal.
    """

    path: Path
    sentence_map: Path | None = None

    def add_to(self, treebank: Treebank) -> Treebank:
        """Put the entities on; see `LayerReader.add_to`."""
        return add_entities(treebank, self.path, self.sentence_map)


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence of an IOB2 file: line, words and entities."""

    line: int
    forms: list[str]
    entities: list[Span]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the map: the sentence's id in the treebank, and whether its words are equal."""

    path: Path
    line: int
    identity: str
    same_words: bool | None


def add_entities(treebank: Treebank, path: Path, sentence_map: Path | None = None) -> Treebank:
    """Put named entities on a treebank's sentences.

    Args:
        treebank: what the entities belong to.
        path: the IOB2 file.
        sentence_map: which sentence is which; without it the ids are equal.

    Raises:
        DataError: a damaged file, a map that names a sentence which one of the sides lacks, or
            one that calls words the same which are not.
    """
    tagged = read_iob2(path)
    places = {
        identity: Place(path, sentence.line, identity, None)
        for identity, sentence in tagged.items()
    }
    if sentence_map is not None:
        places = read_map(sentence_map, treebank_name(path))
    known = treebank.by_id
    counts = Counter({"entities": 0, "entities lost": 0, "sentences with other words": 0})
    annotated: dict[str, AnnotatedSentence] = {}
    for identity, place in places.items():
        if identity not in tagged:
            raise _unknown(place, identity, str(path))
        if place.identity not in known:
            raise _unknown(place, place.identity, treebank.name)
        sentence, found = known[place.identity], tagged[identity]
        same = found.forms == list(sentence.forms)
        if place.same_words and not same:
            raise damaged(
                place.path,
                place.line,
                f"'{identity}' has other words than '{place.identity}', against what the map says",
                "give the version of the treebank that the map was made for",
            )
        entities = found.entities if same else _moved(found, sentence)
        annotated[sentence.id] = replace(sentence, entities=tuple(entities))
        counts["sentences with other words"] += not same
        counts["entities"] += len(entities)
        counts["entities lost"] += len(found.entities) - len(entities)
    counts["sentences with entities"] = len(annotated)
    counts["sentences not mapped"] = len(tagged.keys() - places.keys())
    return treebank.with_layer(annotated, counts)


def _unknown(place: Place, identity: str, where: str) -> Exception:
    return damaged(
        place.path,
        place.line,
        f"sentence '{identity}' is not in {where}",
        "give the files that belong together",
    )


def read_iob2(path: Path) -> dict[str, Tagged]:
    """Read an IOB2 file: every sentence's entities by its id.

    Raises:
        DataError: ids that do not count up, a tag that is none, an I- without a beginning, a
            second sentence of the same id, or as `read_blocks`.
    """
    tagged: dict[str, Tagged] = {}
    for block in read_blocks(path, COLUMNS):
        identity = block.value("sent_id")
        if identity is None:
            raise damaged(path, block.line, "a sentence without sent_id")
        if identity in tagged:
            raise damaged(path, block.line, f"a second sentence '{identity}'")
        entities: list[Span] = []
        for index, row in enumerate(block.rows):
            if row.columns[0] != str(index + 1):
                raise damaged(
                    path, row.line, f"id '{row.columns[0]}' where {index + 1} is expected"
                )
            _tag(path, row, index, entities)
        tagged[identity] = Tagged(block.line, [row.columns[1] for row in block.rows], entities)
    return tagged


def _tag(path: Path, row: Row, index: int, entities: list[Span]) -> None:
    """Begin or lengthen an entity as a word's tag says."""
    tag = row.columns[2]
    begins, _, label = tag.partition("-")
    if tag == "O":
        return
    if begins == "B" and label:
        entities.append(Span(label, index, index + 1))
    elif begins == "I" and label:
        last = entities[-1] if entities else None
        if last is None or last.end != index or last.label != label:
            raise damaged(
                path, row.line, f"{tag} continues no {label} entity (IOB2 begins with B-)"
            )
        entities[-1] = Span(label, last.start, index + 1)
    else:
        raise damaged(path, row.line, f"'{tag}' is no IOB2 tag (O, B-TYPE, I-TYPE)")


def read_map(path: Path, treebank: str) -> dict[str, Place]:
    """Read a sentence map: where every annotated sentence stands in the treebank.

    Args:
        path: the map.
        treebank: which of the map's treebanks is meant.

    Raises:
        DataError: a damaged line, a sentence that is mapped twice, or nothing for this treebank.
    """
    places: dict[str, Place] = {}
    line = 1
    for line, text in annotation_lines(path):
        if text.startswith("#"):
            continue
        columns = text.split("\t")
        if len(columns) != MAP_COLUMNS or not all(columns):
            raise damaged(
                path, line, f"{len(columns)} columns where {MAP_COLUMNS} are expected, all filled"
            )
        name, here, there, same = columns
        if same not in ("yes", "no"):
            raise damaged(path, line, f"'{same}' where yes or no is expected")
        if name == treebank:
            if here in places:
                raise damaged(path, line, f"sentence '{here}' is mapped a second time")
            places[here] = Place(path, line, there, same == "yes")
    if not places:
        raise damaged(
            path,
            line,
            f"no line up to here is of treebank '{treebank}'",
            "give the map that has it",
        )
    return places


def _moved(found: Tagged, sentence: AnnotatedSentence) -> list[Span]:
    """Return the entities whose words all stand side by side in the treebank's sentence too."""
    matcher = SequenceMatcher(None, found.forms, sentence.forms, autojunk=False)
    place = {
        start + offset: there + offset
        for start, there, size in matcher.get_matching_blocks()
        for offset in range(size)
    }
    moved = []
    for entity in found.entities:
        words = [place.get(index) for index in range(entity.start, entity.end)]
        first = words[0]
        if first is not None and words == list(range(first, first + len(words))):
            moved.append(Span(entity.label, first, first + len(words)))
    return moved
