"""The real data, where they are: counts as they are documented with the data."""

import os
from functools import cache
from pathlib import Path

import pytest

from headcount.probe.annotations import (
    AlibiReader,
    ConllulexReader,
    ConlluReader,
    ConstituentLayer,
    EntityLayer,
    GumEntityLayer,
    JudgementLayer,
    SupersenseLayer,
    Treebank,
    XlwaReader,
    paired,
)

BESIDE = Path(__file__).resolve().parents[2].parent / "shared"
DATA = Path(os.environ.get("HEADCOUNT_SHARED") or BESIDE) / "data"
pytestmark = pytest.mark.skipif(
    not (DATA / "ud").is_dir(), reason="needs the data in HEADCOUNT_SHARED or ../shared"
)
DEV, PUD = "UD_English-EWT/en_ewt-ud-dev", "UD_{}-PUD/{}_pud-ud-test"


@cache
def treebank(name: str) -> Treebank:
    return ConlluReader(path=DATA / "ud" / f"{name}.conllu").read()


@pytest.fixture(scope="module")
def ewt() -> Treebank:
    return treebank(DEV)


@pytest.fixture(scope="module")
def english() -> Treebank:
    return treebank(PUD.format("English", "en"))


# Ranges and empty nodes are what `grep -cP '^\d+-'` and `grep -cP '^\d+\.'` count.
@pytest.mark.parametrize(
    ("name", "sentences", "ranges", "empty"),
    [
        (PUD.format("English", "en"), 1000, 129, 7),
        pytest.param(PUD.format("German", "de"), 1000, 331, 0, marks=pytest.mark.slow),
        pytest.param(PUD.format("French", "fr"), 1000, 595, 0, marks=pytest.mark.slow),
        pytest.param(DEV, 2001, 359, 4, marks=pytest.mark.slow),
        pytest.param("UD_English-GUM/en_gum-ud-dev", 1575, 517, 12, marks=pytest.mark.slow),
        ("UD_German-GSD/de_gsd-ud-dev", 799, 164, 0),
    ],
)
def test_treebanks(name: str, sentences: int, ranges: int, empty: int):
    found = treebank(name)
    assert len(found) == found.counts["sentences"] == sentences
    assert found.counts["ranges"] == sum(len(sentence.surface) for sentence in found) == ranges
    assert found.counts["empty nodes"] == empty
    assert found.counts["texts that differ"] == found.counts["words not located"] == 0
    assert found.counts["texts built"] == 0
    assert all(sentence.has_tree and sentence.document for sentence in found) or "GSD" in name


def test_streusle_dev():
    counts = ConllulexReader(path=DATA / "streusle/dev/streusle.ud_dev.conllulex").read().counts
    assert counts["sentences"] == 554
    # The data's README counts every filled SS field here: 2,171.
    assert counts["supersenses"] + counts["unclear supersenses"] == 2171


def test_streusle_is_on_the_words_of_ewt(ewt: Treebank):
    path = DATA / "streusle/dev/streusle.ud_dev.conllulex"
    alone = ConllulexReader(path=path).read().by_id
    layered = SupersenseLayer(path=path).add_to(ewt)
    assert layered.counts["sentences with supersenses"] == 554
    for sentence in layered:
        if sentence.supersenses is not None:
            other = alone[sentence.id]
            assert sentence.supersenses == other.supersenses
            heads = [(word.head, word.relation) for word in sentence.words]
            assert heads == [(word.head, word.relation) for word in other.words]


@pytest.mark.slow
def test_ewt_train_with_streusle_and_uds():
    path = DATA / "ud/UD_English-EWT/en_ewt-ud-train.from-sources.conllu.gz"
    found = ConlluReader(path=path).read()
    assert len(found) == 12544
    layered = SupersenseLayer(path=DATA / "streusle/train/streusle.ud_train.derived.tsv").add_to(
        found
    )
    assert layered.counts["sentences with supersenses"] == 2725
    assert layered.counts["supersenses"] == 18148
    words = [len(s) for s in layered if s.supersenses is not None]
    assert sum(words) == 44811
    judged = judgements(found, "protoroles").counts
    assert judged["judged words"] == 5669


def judgements(base: Treebank, *names: str) -> Treebank:
    folder = DATA / "semantics/uds"
    paths = tuple(folder / f"{name}.zip" for name in names)
    return JudgementLayer(paths=paths, ids=folder / "ud_ids.json.gz").add_to(base)


def test_uds_on_ewt_dev(ewt: Treebank):
    found = judgements(ewt, "protoroles", "factuality")
    # 751 nodes of ewt-dev in protoroles.json, 2,641 pred and 5 subpred in factuality.json.
    assert found.counts["judged words"] == 751 + 2641 + 5
    assert found.counts["nodes beyond the sentence"] == 0
    names = {j.name for sentence in found for j in sentence.judgements or ()}
    assert {"volition", "sentient", "factual"} <= names
    upos = [
        sentence.words[judgement.words[0]].upos
        for sentence in found
        for judgement in sentence.judgements or ()
        if judgement.name == "factual"
    ]
    assert upos.count("VERB") / len(upos) > 0.99  # so the indices fit today's words


@pytest.mark.parametrize(
    ("base", "folder", "sentences", "begins", "other_words"),
    [
        (DEV, "UNER_English-EWT", 2000, 966, 2),
        (PUD.format("English", "en"), "UNER_English-PUD", 1000, 1075, 4),
        pytest.param(
            *(PUD.format("German", "de"), "UNER_German-PUD", 1000, 1039, 4), marks=pytest.mark.slow
        ),
    ],
)
def test_uner(base: str, folder: str, sentences: int, begins: int, other_words: int):
    uner = DATA / "semantics/uner"
    path = next((uner / folder).glob("*.iob2"))
    layer = EntityLayer(path=path, sentence_map=uner / "sent_id_map.tsv")
    counts = layer.add_to(treebank(base)).counts
    assert counts["sentences with entities"] == sentences
    assert counts["entities"] + counts["entities lost"] == begins  # as many as B- tags
    assert counts["entities lost"] <= 1
    assert counts["sentences with other words"] == other_words


@pytest.mark.slow
def test_gum_phrases_and_entities():
    gum = DATA / "ud/UD_English-GUM"
    base = treebank("UD_English-GUM/en_gum-ud-dev")
    counts = ConstituentLayer(path=gum / "const/en_gum-dev.ptb").add_to(base).counts
    assert counts["sentences with constituents"] == 1575
    assert GumEntityLayer().add_to(base).counts["entities in parts"] == 0


def test_pud_is_parallel(english: Treebank):
    found = paired(english, treebank(PUD.format("German", "de")))
    assert (len(found.pairs), found.unpaired) == (1000, 0)
    assert all(english.id == german.id for english, german in found.pairs)


def test_xl_wa():
    pairs = {
        path.name[3:5]: len(XlwaReader(path=path).read())
        for path in (DATA / "alignments/xl-wa").glob("*.tsv")
    }
    assert pairs == {"da": 105, "es": 105, "it": 103, "nl": 105, "pt": 105, "ru": 90}


@pytest.mark.parametrize(
    ("source", "target", "pairs"),
    [
        ("ChatBotte", "MasterCat", 52),
        ("LaBarbeBleue", "BlueBeard", 68),
        ("LaDerniereClasse", "TheLastLesson", 92),
    ],
)
def test_alibi(source: str, target: str, pairs: int):
    folder = DATA / "alignments/alibi-fr-en" / f"{source}_{target}"
    found = AlibiReader(
        source=folder / f"{source}_sents.txt",
        target=folder / f"{target}_sents.txt",
        alignments=folder / f"ali_w2w_{source}_{target}.txt",
    ).read()
    assert len(found) == pairs
    text = (folder / f"ali_w2w_{source}_{target}.txt").read_text()
    links = [link for line in text.splitlines() for link in line.split("\t")[1].split()]
    assert found.counts["sure links"] == sum("-" in link for link in links)
    assert found.counts["possible links"] == sum("p" in link for link in links)
