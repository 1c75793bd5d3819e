"""UDS judgements: JSON, plain, gzipped and zipped, on words that are counted from 1."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from headcount.models.errors import DataError
from headcount.probe.annotations import Judgement, JudgementLayer, Treebank
from headcount.probe.annotations.sentence import AnnotatedSentence, Word

BANK = Treebank(
    "xx",
    (
        AnnotatedSentence(
            "a-1",
            "Ada sings .",
            (
                Word("Ada", 0, 3, upos="PROPN"),
                Word("sings", 4, 9, upos="VERB"),
                Word(".", 10, 11, upos="PUNCT"),
            ),
        ),
        AnnotatedSentence("a-2", "Hm", (Word("Hm", 0, 2),)),
    ),
)
IDS = {
    "ewt-dev-1": {"document_id": "a", "sentence_id": "a-1"},
    "ewt-dev-9": {"document_id": "b", "sentence_id": "b-1"},
    "ewt-test-1": {"document_id": "a", "sentence_id": "a-2"},
}


def said(value: float, confidence: float = 1.0) -> dict[str, float]:
    return {"value": value, "confidence": confidence}


def node(kind: str, word: int, key: str = "ewt-dev-1") -> str:
    return f"{key}-semantics-{kind}-{word}"


ROLE = f"{node('pred', 2)}%%{node('arg', 1)}"
NODES: dict[str, Any] = {
    ROLE: {"protoroles": {"volition": said(1.5), "sentient": said(2.0, 0.5)}},
    node("pred", 2): {"factuality": {"factual": said(-1.0)}},
    node("arg", 1): {"genericity": {"arg-kind": said(0.25)}},
    node("pred", 3): {"factuality": {"factual": said(1.0)}},
    node("pred", 4): {"factuality": {"factual": said(1.0)}},
    "ewt-dev-1-semantics-pred-root": {"factuality": {"factual": said(1.0)}},
    node("subpred", 1): {"subpredof": "x"},
}
TEST = {node("pred", 1, "ewt-test-1"): {"factuality": {"factual": said(1.0)}}}
DATA = {"metadata": {}, "data": {"ewt-dev-1": NODES, "ewt-dev-9": {}, "ewt-test-1": TEST}}


def layer(tmp_path: Path, data: object = DATA, ids: object = IDS, name: str = "d.json"):
    path, id_path = tmp_path / name, tmp_path / "ids.json.gz"
    text = data if isinstance(data, str) else json.dumps(data)
    if name.endswith("zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("d.json", text)
    else:
        path.write_text(text)
    with gzip.open(id_path, "wt") as file:
        file.write(json.dumps(ids))
    return JudgementLayer(paths=(path,), ids=id_path)


@pytest.mark.parametrize("name", ["d.json", "d.zip"])
def test_words_count_from_one_and_pairs_are_predicate_and_argument(tmp_path: Path, name: str):
    found = layer(tmp_path, name=name).add_to(BANK)
    first, second = found
    assert first.judgements == (
        Judgement((1, 0), "volition", 1.5, 1.0),
        Judgement((1, 0), "sentient", 2.0, 0.5),
        Judgement((1,), "factual", -1.0, 1.0),
        Judgement((0,), "arg-kind", 0.25, 1.0),
        Judgement((2,), "factual", 1.0, 1.0),
    )
    assert second.judgements is None
    assert found.counts == {
        "judgements": 5,
        "judged words": 4,
        "nodes beyond the sentence": 1,
        "nodes of other kinds": 2,
        "sentences elsewhere": 2,
        "sentences with judgements": 1,
        "predicates that are punctuation": 1,
    }


def changed(nodes: object) -> dict[str, object]:
    return {"data": {"ewt-dev-1": nodes}}


@pytest.mark.parametrize(
    ("data", "ids", "reason"),
    [
        (json.dumps(DATA)[:-40], IDS, "d.json, line 1: no JSON at column"),
        ('{"data":\n{"ewt-dev-1"', IDS, "d.json, line 2: no JSON at column 13"),
        ("", IDS, "d.json: the file is empty"),
        ({}, IDS, "d.json, line 1: no sentences under the key 'data'"),
        ({"data": {"dev-1": {}}}, IDS, "'dev-1' is no sentence key"),
        (changed([]), IDS, "ewt-dev-1: a value where an object is expected"),
        (changed({ROLE: 3}), IDS, "a value where an object is expected"),
        (changed({ROLE: {"protoroles": {"volition": 1}}}), IDS, "a value where an object"),
        (changed({ROLE: {"protoroles": {"volition": said(float("nan"))}}}), IDS, "is nan, not a"),
        (changed({ROLE: {"protoroles": {"volition": {"value": 1}}}}), IDS, "confidence .* is None"),
        ({"data": {"ewt-dev-2": {}}}, IDS, "sentence 'ewt-dev-2' is not in .*ids.json.gz"),
        ({"data": {"ewt-dev-9": {}}}, IDS, "d.json: no sentence is in xx"),
        (DATA, {}, "ids.json.gz, line 1: no map from keys"),
        (DATA, {"ewt-dev-1": "a-1"}, "ids.json.gz, line 1: 'ewt-dev-1' has no sentence_id"),
    ],
)
def test_damaged_data_are_refused(tmp_path: Path, data: object, ids: object, reason: str):
    with pytest.raises(DataError, match=reason):
        layer(tmp_path, data, ids).add_to(BANK)


def test_a_damaged_zip_is_refused(tmp_path: Path):
    good = layer(tmp_path, name="d.zip")
    content = good.paths[0].read_bytes()
    good.paths[0].write_bytes(content[:-30])
    with pytest.raises(DataError, match=r"d.zip: damaged zip"):
        good.add_to(BANK)
    with zipfile.ZipFile(good.paths[0], "w") as archive:
        archive.writestr("a.json", b"\xff{}")
    with pytest.raises(DataError, match=r"d.zip: byte 1 of a.json is not UTF-8"):
        good.add_to(BANK)
    with zipfile.ZipFile(good.paths[0], "a") as archive:
        archive.writestr("b.json", "{}")
    with pytest.raises(DataError, match=r"2 files in the zip"):
        good.add_to(BANK)
    good.paths[0].unlink()
    with pytest.raises(DataError, match=r"no such file"):
        good.add_to(BANK)
