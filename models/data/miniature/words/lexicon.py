"""The words of the grammar: read from the TSV files beside this module, in order of frequency.

The files list words from frequent to rare; within a class the word of rank r is drawn with a
weight of 1/(r + shift)^exponent (Zipf's law, with Mandelbrot's shift), so most sentences are
made of few words and a long tail is seen now and then: what a study of rare words needs.

Meaning is carried by tags. A noun has tags (`person`, `pet`, `openable`), and verbs and
adjectives say by a tag expression what they go with, so that dogs bark and doors are opened.
An expression joins terms by `,` (or); a term joins tags by `&` (and), `!` negates. A noun's
English word counts as one of its tags.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

SHIFT, EXPONENT = 2.0, 1.25

GROUPS = {
    "goods": "movable,furniture,vehicle,music,device",
    "visible": "person,animal,building,vehicle,plant,sky,movable,furniture,place",
    "related": "friend,teacher,mother,father,brother,sister,doctor,neighbour,daughter,son,"
    "grandmother,grandfather,aunt,uncle,colleague,guest,lawyer,customer",
    "dwelling": "house,city,village,hotel,castle,tower,farm,island,monastery,palace,room&!bathroom,"
    "forest,cave,lighthouse,valley,mountain",
    "cuttable": "bread,cake,cheese,meat,sausage,fruit&!cherry&!strawberry,rope,onion,carrot,"
    "cucumber,potato,pumpkin",
}
SUPERSENSES = {
    **dict.fromkeys(("readable", "sound"), "noun.communication"),
    **dict.fromkeys(("vehicle", "building", "room", "furniture", "opening"), "noun.artifact"),
    **dict.fromkeys(("container", "tool", "object", "device", "clothing"), "noun.artifact"),
    **dict.fromkeys(("drink", "food"), "noun.food"),
    **dict.fromkeys(("place",), "noun.location"),
    **dict.fromkeys(("sky",), "noun.object"),
    **dict.fromkeys(("air", "force"), "noun.phenomenon"),
    "music": "noun.artifact",
    "person": "noun.person",
    "group": "noun.group",
    "animal": "noun.animal",
    "plant": "noun.plant",
    "abstract": "noun.cognition",
    "event": "noun.event",
    "time": "noun.time",
    "body": "noun.body",
    "shape": "noun.shape",
}


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A noun or a name on both sides; `english_plural` is empty where it is regular."""

    english: str
    english_plural: str
    german: str
    gender: str
    german_plural: str
    tags: frozenset[str]
    supersense: str
    mass: bool = False
    weak: bool = False
    name: bool = False
    entity: str = ""
    place: tuple[str, str] = ("in", "in")
    sense: str = ""
    animacy: str = field(init=False)

    def __post_init__(self) -> None:
        """Work out animacy from the tags: human, animal or inanimate."""
        living = "animal" if "animal" in self.tags else "inanimate"
        human = {"person", "group"} & self.tags
        object.__setattr__(self, "animacy", "human" if human else living)


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb on both sides by its principal parts.

    Args:
        prefix, stem: German infinitive, split where the prefix separates (an + rufen)
        auxiliary: `haben` or `sein` in the perfect
        frame: i intransitive, t transitive, d dative object, dt dative and accusative
            (dto: English `to`), p prepositional object, loc with a place, dir and city with
            a direction, put with an object and a direction
        subject, object: tag expressions of what they may be
        extras: further options by name: preposition, particle, adverbials that go with it
        stative: no progressive and no imperative ("loves", not "is loving")
    """

    english: str
    english_past: str
    english_participle: str
    english_ing: str
    prefix: str
    stem: str
    german_present: str
    german_preterite: str
    german_participle: str
    auxiliary: str
    frame: str
    subject: str
    object: str
    supersense: str
    extras: dict[str, str]
    stative: bool = False

    @property
    def lemma(self) -> str:
        """Return the German infinitive."""
        return self.prefix + self.stem

    @property
    def same_past(self) -> bool:
        """Tell whether `they read` could be present or past."""
        return self.english_past == self.english


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective on both sides; `stem` is the German form before endings."""

    english: str
    german: str
    stem: str
    goes_with: str = ""
    sense: str = ""


Item = TypeVar("Item")


class Weighted(Generic[Item]):
    """Items to draw from by weight."""

    __slots__ = ("cumulated", "items", "last")

    def __init__(self, items: Sequence[Item], weights: Iterable[float]) -> None:
        self.items = items
        self.cumulated = list(accumulate(weights))
        self.last = len(items) - 1

    def draw(self, rng: Random) -> Item:
        """Draw one item."""
        return self.items[bisect(self.cumulated, rng.random() * self.cumulated[-1], 0, self.last)]

    def __len__(self) -> int:
        return len(self.items)


def zipf(rank: int, shift: float = SHIFT, exponent: float = EXPONENT) -> float:
    """Return the weight of the word of a rank (0 = most frequent)."""
    return (rank + shift) ** -exponent


def rows(name: str) -> list[dict[str, str]]:
    """Read a TSV file of the package; `-` stands for empty."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    cells = ([cell if cell != "-" else "" for cell in line.split("\t")] for line in lines[1:])
    return [dict(zip(header, line, strict=True)) for line in cells]


def read_noun(row: dict[str, str]) -> Noun:
    """Build a noun from a row of `nouns.tsv` or of another table with its columns."""
    tags = row["tags"].split(",")
    english_place, _, german_place = (row.get("place") or "in:in").partition(":")
    return Noun(
        row["english"],
        row["plural"].replace("0", ""),
        row["german"],
        row["gender"][0],
        row["german_plural"].replace("0", ""),
        frozenset([*tags, row["english"]]),
        SUPERSENSES[tags[0]],
        mass=row["plural"] == "0",
        weak=row["gender"].endswith("*"),
        place=(english_place, german_place),
        sense=row.get("sense", ""),
    )


def read_verb(row: dict[str, str]) -> Verb:
    """Build a verb from a row of `verbs.tsv`."""
    prefix, _, stem = row["german"].rpartition("|")
    extras = dict(part.partition("=")[::2] for part in row["extras"].split(",") if part)
    return Verb(
        row["english"],
        row["past"],
        row["participle"],
        row["ing"],
        prefix,
        stem,
        row["present"],
        row["preterite"],
        row["german_participle"],
        {"h": "haben", "s": "sein"}[row["aux"]],
        row["frame"].rstrip("!"),
        row["subject"],
        row["object"],
        row["supersense"],
        extras,
        stative=row["frame"].endswith("!") or row["supersense"] == "verb.stative",
    )


class Lexicon:
    """All words, and weighted draws by tag expression."""

    def __init__(self) -> None:
        self.nouns = [read_noun(row) for row in rows("nouns.tsv")]
        self.verbs = [read_verb(row) for row in rows("verbs.tsv")]
        self.adjectives = [
            Adjective(row["english"], row["german"], row["stem"] or row["german"], row["tags"])
            for row in rows("adjectives.tsv")
        ]
        self.names = {
            entity: Weighted(names, (zipf(rank) for rank in range(len(names))))
            for entity, names in _names().items()
        }
        self.tags = set(GROUPS).union(*(noun.tags for noun in self.nouns))
        self._weights: dict[Noun, float] = {}
        seen: dict[str, int] = {}
        for noun in self.nouns:
            rank = seen[noun.supersense] = seen.get(noun.supersense, -1) + 1
            self._weights[noun] = zipf(rank)
        names = [name for choice in self.names.values() for name in choice.items]
        self._everything = frozenset([*self.nouns, *names])
        self._fits: dict[str, frozenset[Noun]] = {}
        self._matching: dict[str, Weighted[Noun]] = {}
        self._adjectives: dict[Noun, Weighted[Adjective]] = {}

    def matches(self, noun: Noun, expression: str) -> bool:
        """Tell whether a noun or name of the lexicon fits a tag expression."""
        return noun in self._fitting(expression)

    def _fitting(self, expression: str) -> frozenset[Noun]:
        """Return all nouns and names that fit a tag expression."""
        found = self._fits.get(expression)
        if found is None:
            terms = (
                frozenset.intersection(*(self._tagged(tag) for tag in term.split("&")))
                for term in expression.split(",")
            )
            found = self._fits[expression] = frozenset().union(*terms)
        return found

    def _tagged(self, tag: str) -> frozenset[Noun]:
        if tag.startswith("!"):
            return self._everything - self._tagged(tag[1:])
        if tag in GROUPS:
            return self._fitting(GROUPS[tag])
        return frozenset(noun for noun in self._everything if tag in noun.tags)

    def matching(self, expression: str) -> Weighted[Noun]:
        """Return the nouns that fit a tag expression, to draw from."""
        found = self._matching.get(expression)
        if found is None:
            nouns = [noun for noun in self.nouns if self.matches(noun, expression)]
            found = Weighted(nouns, (self._weights[noun] for noun in nouns))
            self._matching[expression] = found
        return found

    def adjectives_of(self, noun: Noun) -> Weighted[Adjective]:
        """Return the adjectives that go with a noun, to draw from."""
        found = self._adjectives.get(noun)
        if found is None:
            pairs = [
                (adjective, zipf(rank, 6.0))
                for rank, adjective in enumerate(self.adjectives)
                if self.matches(noun, adjective.goes_with)
            ]
            found = Weighted([pair[0] for pair in pairs], (pair[1] for pair in pairs))
            self._adjectives[noun] = found
        return found


def _names() -> dict[str, list[Noun]]:
    found: dict[str, list[Noun]] = {}
    tag = {"PERSON": "person", "LOCATION": "place", "ORGANIZATION": "group"}
    for row in rows("names.tsv"):
        entity = row["entity"]
        name = Noun(
            row["english"],
            "",
            row["german"],
            row["gender"],
            "",
            frozenset([tag[entity], {"m": "male", "f": "female", "n": ""}[row["gender"]]]),
            SUPERSENSES[tag[entity]],
            name=True,
            entity=entity,
        )
        found.setdefault(entity, []).append(name)
    return found


@cache
def lexicon() -> Lexicon:
    """Return the lexicon, read once."""
    return Lexicon()
