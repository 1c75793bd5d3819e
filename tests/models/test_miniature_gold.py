"""The gold files, read back with the `conllu` package, against the pairs they came from."""

from __future__ import annotations

from pathlib import Path

import conllu
import pytest

from headcount.models.data.miniature import MiniatureCorpus, generate, write_gold


@pytest.fixture(scope="module")
def corpus() -> MiniatureCorpus:
    return generate(seed=2, sentences=300, valid=20, test=30, unseen=10)


@pytest.fixture(scope="module")
def folder(corpus: MiniatureCorpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gold")
    write_gold(corpus, folder)
    return folder


def detokenised(sentence: conllu.TokenList) -> str:
    """Join the written forms: ranges instead of the words inside them."""
    text, covered = "", 0
    for token in sentence:
        if isinstance(token["id"], tuple):
            covered = token["id"][2]
        elif token["id"] <= covered:
            continue
        space = "" if (token["misc"] or {}).get("SpaceAfter") == "No" else " "
        text += token["form"] + space
    return text.rstrip(" ")


def test_all_files_are_written(corpus: MiniatureCorpus, folder: Path) -> None:
    expected = {f"{p}.{s}" for p in corpus.splits for s in ("en.conllu", "de.conllu", "align")}
    assert {path.name for path in folder.iterdir()} == expected


@pytest.mark.parametrize("part", ["train", "valid", "test", "unseen"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_conllu_says_what_the_pairs_say(
    corpus: MiniatureCorpus, folder: Path, part: str, language: str
) -> None:
    read = conllu.parse((folder / f"{part}.{language}.conllu").read_text(encoding="utf-8"))
    pairs = corpus.splits[part]
    assert len(read) == len(pairs)
    for pair, sentence in zip(pairs, read, strict=True):
        own, other = (pair.source, pair.target) if language == "en" else (pair.target, pair.source)
        words = [token for token in sentence if isinstance(token["id"], int)]
        assert sentence.metadata["text"] == own.text == detokenised(sentence)
        assert sentence.metadata["text_de" if language == "en" else "text_en"] == other.text
        assert sentence.metadata["phenomenon"] == pair.phenomenon
        assert int(sentence.metadata["distance"]) == pair.distance
        assert [token["id"] for token in words] == list(range(1, len(own.words) + 1))
        for token, word in zip(words, own.words, strict=True):
            assert (token["form"], token["lemma"]) == (word.form, word.lemma)
            assert (token["upos"], token["deprel"]) == (word.upos, word.relation)
            assert token["head"] == word.head + 1
            assert tuple((token["feats"] or {}).items()) == word.feats
            misc = token["misc"] or {}
            assert misc.get("Supersense", "") == word.supersense
            assert misc.get("Animacy", "") == word.animacy
            assert misc.get("Entity", "") == word.entity
            assert misc.get("Sense", "") == word.sense
            assert int(misc["Depth"]) == word.depth
            roles = ",".join(f"{role}:{predicate + 1}" for role, predicate in word.roles)
            assert misc.get("Role", "") == roles


def test_contractions_are_ranges(folder: Path) -> None:
    read = conllu.parse((folder / "train.de.conllu").read_text(encoding="utf-8"))
    ranges = {
        (token["form"].lower(), *(sentence[index + step]["form"].lower() for step in (1, 2)))
        for sentence in read
        for index, token in enumerate(sentence)
        if isinstance(token["id"], tuple)
    }
    known = {("im", "in", "dem"), ("am", "an", "dem"), ("ins", "in", "das"), ("ans", "an", "das")}
    known |= {("zum", "zu", "dem"), ("zur", "zu", "der"), ("vom", "von", "dem")}
    assert ("im", "in", "dem") in ranges and len(ranges) >= 3
    assert ranges <= known


def test_alignments_point_at_words(corpus: MiniatureCorpus, folder: Path) -> None:
    for part, pairs in corpus.splits.items():
        lines = (folder / f"{part}.align").read_text(encoding="utf-8").splitlines()
        assert len(lines) == len(pairs)
        for pair, line in zip(pairs, lines, strict=True):
            links = [tuple(map(int, link.split("-"))) for link in line.split()]
            assert tuple(links) == pair.alignment
            assert all(0 <= i < len(pair.source.words) for i, _ in links)
            assert all(0 <= j < len(pair.target.words) for _, j in links)
