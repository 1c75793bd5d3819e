"""Universal Decompositional Semantics: what people said of predicates and arguments in EWT.

Instead of one role label an argument gets answers to simple questions, each a number: did it
act on purpose (volition), was it aware of being in the event (sentient), did it change?
These are Dowty's (1991) proto-agent and proto-patient properties (Reisinger et al. 2015;
White et al. 2020, LREC). A predicate has factuality (did it happen?), predicates and arguments
have genericity (particular or kind, dynamic, hypothetical, abstract).

The data are JSON, at times zipped, in their normalised form with one value for all annotators:

    {"metadata": ..., "data": {"ewt-dev-7": {
        "ewt-dev-7-semantics-pred-3%%ewt-dev-7-semantics-arg-1":
            {"protoroles": {"volition": {"value": 1.36, "confidence": 1.0}, ...}},
        "ewt-dev-7-semantics-pred-3": {"factuality": {"factual": {...}}}}}}

A node's last number is the word, from 1, that heads the phrase; `%%` joins a predicate with
its argument. A second JSON file maps `ewt-dev-7` to the treebank's `sent_id`.

The annotators saw an early release of EWT. Words were cut differently in a few sentences
since, so indices can be beyond the sentence (counted and left out) or, unnoticed, off by
one; the data hold no word to check against. `predicates that are punctuation` shows how rare
that is. Values differ in meaning between properties, so they are never averaged over them.

Counts: `judgements`, `judged words`, `nodes beyond the sentence`, `nodes of other kinds`
(speaker, addressee, and spans of names), `sentences elsewhere` (of other treebanks or of the
test part, which is not used), `sentences with judgements`, `predicates that are punctuation`.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...models.data.readers import no_such_file
from ...models.errors import DataError
from .blocks import annotation_lines, damaged
from .reader import LayerReader, reader
from .sentence import AnnotatedSentence, Judgement
from .treebank import Treebank

PARTS = ("protoroles", "genericity", "factuality")
TEST = "ewt-test-"
LONGEST_LINE = 100_000_000
"""Characters of the longest line: JSON is often one line as a whole."""
_NODE = re.compile(r"(.+)-semantics-(pred|arg|subpred)-([1-9][0-9]*)")
_KEY = re.compile(r"ewt-(train|dev|test)-[1-9][0-9]*")


@reader("uds")
class JudgementLayer(LayerReader):
    """UDS proto-roles, genericity and factuality on EWT.

    Args:
        paths: the JSON files, each plain, gzipped or alone in a zip.
        ids: JSON that maps the keys of the data to `sent_id`, also gzipped.
    """

    paths: tuple[Path, ...]
    ids: Path

    def add_to(self, treebank: Treebank) -> Treebank:
        """Put the judgements on; see `LayerReader.add_to`."""
        return add_judgements(treebank, self.paths, self.ids)


def add_judgements(treebank: Treebank, paths: Sequence[Path], ids: Path) -> Treebank:
    """Put judgements on a treebank's sentences.

    Args:
        treebank: a part of EWT.
        paths: the data, each file once.
        ids: the map from keys to `sent_id`.

    Raises:
        DataError: a damaged file, a key that the map lacks, a value that is no number, or
            nothing at all for this treebank.
    """
    names = _identities(ids)
    known = treebank.by_id
    found: dict[str, list[Judgement]] = {}
    counts: Counter[str] = Counter(
        {
            "judgements": 0,
            "judged words": 0,
            "nodes beyond the sentence": 0,
            "nodes of other kinds": 0,
            "sentences elsewhere": 0,
        }
    )
    for path in paths:
        for key, nodes in _data(path).items():
            if key not in names:
                raise damaged(
                    path, 1, f"sentence '{key}' is not in {ids}", "give the map that fits"
                )
            sentence = known.get(names[key])
            if sentence is None or key.startswith(TEST):
                counts["sentences elsewhere"] += 1
                continue
            judgements = found.setdefault(sentence.id, [])
            for node, annotation in nodes.items():
                judgements += _judgements(path, node, annotation, len(sentence), counts)
    if not found:
        raise DataError(
            f"{', '.join(map(str, paths))}: no sentence is in {treebank.name}; give the training "
            "or development part of EWT"
        )
    annotated = {
        identity: replace(known[identity], judgements=tuple(judgements))
        for identity, judgements in found.items()
    }
    counts["sentences with judgements"] = len(annotated)
    counts["predicates that are punctuation"] = _on_punctuation(annotated)
    return treebank.with_layer(annotated, counts)


def _judgements(
    path: Path, node: str, annotation: Any, length: int, counts: Counter[str]
) -> Iterator[Judgement]:
    """Yield what was said of one node, if it is a word or a pair of words of the sentence."""
    matches = [_NODE.fullmatch(part) for part in node.split("%%")]
    parts = {part: annotation[part] for part in PARTS if part in _object(path, node, annotation)}
    if not all(matches) or not parts:
        counts["nodes of other kinds"] += 1
        return
    words = tuple([int(match[3]) - 1 for match in matches if match])
    if max(words) >= length:
        counts["nodes beyond the sentence"] += 1
        return
    counts["judged words"] += 1
    for properties in parts.values():
        for name, judged in _object(path, node, properties).items():
            value, confidence = (
                _number(path, node, name, judged, key) for key in ("value", "confidence")
            )
            counts["judgements"] += 1
            yield Judgement(words, name, value, confidence)


def _object(path: Path, node: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise damaged(path, 1, f"{node}: a value where an object is expected")
    return value


def _number(path: Path, node: str, name: str, judged: Any, key: str) -> float:
    number = _object(path, node, judged).get(key)
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise damaged(path, 1, f"{node}: {key} of {name} is {number!r}, not a number")
    return float(number)


def _on_punctuation(annotated: Mapping[str, AnnotatedSentence]) -> int:
    """Count predicates on punctuation marks, which tells how well old indices fit."""
    predicates = {
        (identity, judgement.words[0])
        for identity, sentence in annotated.items()
        for judgement in sentence.judgements or ()
        if len(judgement.words) == 2 or judgement.name.startswith(("pred-", "factual"))
    }
    return sum(annotated[identity].words[word].upos == "PUNCT" for identity, word in predicates)


def _data(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the annotation by sentence key."""
    content = _json(path)
    data = content.get("data") if isinstance(content, dict) else None
    if not isinstance(data, dict) or not data:
        raise damaged(path, 1, "no sentences under the key 'data'", "give a UDS annotation file")
    for key, nodes in data.items():
        if not _KEY.fullmatch(key):
            raise damaged(path, 1, f"'{key}' is no sentence key such as ewt-dev-7")
        _object(path, key, nodes)
    return data


def _identities(path: Path) -> dict[str, str]:
    """Return the `sent_id` of every key."""
    content = _json(path)
    if not isinstance(content, dict) or not content:
        raise damaged(path, 1, "no map from keys to sentence ids")
    names = {}
    for key, entry in content.items():
        name = entry.get("sentence_id") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            raise damaged(path, 1, f"'{key}' has no sentence_id")
        names[key] = name
    return names


def _json(path: Path) -> Any:
    """Read a JSON file, also gzipped or alone in a zip."""
    if path.suffix == ".zip":
        text = _unzipped(path)
    else:
        text = "\n".join(line for _, line in annotation_lines(path, LONGEST_LINE))
    if not text.strip():
        raise DataError(f"{path}: the file is empty; fetch it again")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise damaged(
            path, error.lineno, f"no JSON at column {error.colno} ({error.msg})", "fetch it again"
        ) from None


def _unzipped(path: Path) -> str:
    """Return the text of the only file in a zip."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(names) != 1:
                raise DataError(f"{path}: {len(names)} files in the zip where one is expected")
            return archive.read(names[0]).decode("utf-8")
    except FileNotFoundError:
        raise no_such_file(path) from None
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: byte {error.start + 1} of {names[0]} is not UTF-8; fetch it again"
        ) from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise DataError(f"{path}: damaged zip ({error}); fetch it again") from None
