"""Vocabularies: round trips, offsets, specials, determinism, files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from headcount.models.data.corpora import Corpus, ParallelText
from headcount.models.data.vocabulary import (
    Vocabulary,
    VocabularySettings,
    train_vocabularies,
)
from headcount.models.data.vocabulary_kinds import SPECIAL_NAMES, vocabulary_kind
from headcount.models.errors import CheckpointError, DataError, UsageError

ENGLISH = [
    "A brown dog runs over the green grass .",
    "The dog and the cat sleep in the house.",
    "Two young women are running; the older one isn't smiling.",
    "dog Dog dogs running runner runs",
] * 3
GERMAN = [
    "Ein brauner Hund läuft über das grüne Gras .",
    "Der Hund und die Katze schlafen im Haus.",
    "Zwei junge Frauen laufen; die ältere lächelt nicht.",
    "Straße Straßen größer süß Mädchen",
] * 3
TEXTS = ENGLISH + GERMAN
KINDS = ["bpe", "unigram", "wordpiece", "word", "character"]
NEVER_UNKNOWN = ["bpe", "unigram", "wordpiece"]
ODD = [
    "",
    " ",
    "   ",
    " a",
    "a ",
    "  two  spaces  inside   ",
    "\t tab\t\ttab \t",
    "e\u0301 o\u0308\u0323 is two or three code points",
    "é is one",
    "👩‍👩‍👧‍👦 and 🏳️‍🌈 and 👍🏽",
    "\u200fשלום\u200e abc \u202eabc\u202c",
    "नमस्ते क्षत्रिय",
    "ไม่มีช่องว่าง",
    "漢字かな交じり文 。",
    "\x00 NUL \x00\x00",
    "\x01\x1b[0m\x7f",
    "a\u2028b\u2029c\x85d\x0be\x0cf\rg\nh\r\n",
    "\xa0non\xa0breaking\u202fspaces\u3000wide\u200bzero\ufeff",
    "<s> </s> <pad> <unk> [UNK] [CLS] <0x41> <|endoftext|>",
    *SPECIAL_NAMES,
    " ".join(SPECIAL_NAMES),
    "##ing un##seen ‿‿x Ġdog ▁dog ▁▁ Ċ",
    "\ufffd replacement \ufffd",
    "\ufffe\uffff noncharacters \U0010ffff",
    "\ue000 private \U000f0000",
    "ﬁ ligature İ ı ẞ ß ſ Å Å",
    "x" * 300,
    "🎉" * 50,
]


@cache
def trained(kind: str) -> Vocabulary:
    return Vocabulary.train(TEXTS, kind, 700)


def any_text() -> st.SearchStrategy[str]:
    """Text from all of Unicode, and text that looks like the training text or like specials."""
    parts = ["dog", " the", "ß", "ä", "\u0301", "👩‍👧", "\t", " ", "<s>", "[UNK]", "##", "‿"]
    return st.text(st.characters(exclude_categories=["Cs"])) | st.lists(
        st.sampled_from([*parts, *SPECIAL_NAMES]) | st.characters(exclude_categories=["Cs"])
    ).map("".join)


def check_offsets(text: str, vocabulary: Vocabulary) -> None:
    ids, offsets = vocabulary.encode([text])[0]
    assert len(ids) == len(offsets)
    covered = set()
    before = (0, 0)
    for start, end in offsets:
        assert 0 <= start <= end <= len(text)
        assert start >= before[0] and end >= before[1], "from left to right"
        assert start >= before[1] or (start, end) == before, "apart, or bytes of one character"
        before = (start, end)
        covered.update(range(start, end))
    assert {i for i, character in enumerate(text) if character != " "} <= covered


@pytest.mark.parametrize("kind", NEVER_UNKNOWN)
@pytest.mark.parametrize("text", ODD)
def test_oddities_come_back(kind: str, text: str) -> None:
    vocabulary = trained(kind)
    pieces = vocabulary.encode([text])[0]
    assert vocabulary.decode(pieces.ids) == text
    assert not set(pieces.ids) & {0, 1, 2, 3}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ODD)
def test_offsets_of_oddities(kind: str, text: str) -> None:
    check_offsets(text, trained(kind))


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@given(text=any_text())
@settings(max_examples=150, deadline=None)
def test_any_text_comes_back(kind: str, text: str) -> None:
    vocabulary = trained(kind)
    ids = vocabulary.encode_ids([text])[0]
    assert vocabulary.decode(ids) == text
    assert min(ids, default=4) > 3
    check_offsets(text, vocabulary)


@pytest.mark.parametrize("kind", ["wordpiece", "word", "character"])
@given(text=any_text())
@example(text="  \ufffd")
@settings(max_examples=100, deadline=None)
def test_what_is_known_comes_back_and_the_rest_is_one_unknown(kind: str, text: str) -> None:
    vocabulary = trained(kind)
    ids, offsets = vocabulary.encode([text])[0]
    if vocabulary.unk not in ids:
        assert vocabulary.decode(ids) == text
    assert not set(ids) & {vocabulary.pad, vocabulary.bos, vocabulary.eos}
    assert vocabulary.decode(ids).count("\ufffd") >= ids.count(vocabulary.unk)
    check_offsets(text, vocabulary)
    if kind == "character":
        assert offsets == tuple((i, i + 1) for i in range(len(text)))


@pytest.mark.parametrize("kind", KINDS)
def test_training_text_comes_back(kind: str) -> None:
    vocabulary = trained(kind)
    for text, pieces in zip(TEXTS, vocabulary.encode(TEXTS), strict=True):
        assert vocabulary.unk not in pieces.ids
        assert vocabulary.decode(pieces.ids) == text


@pytest.mark.parametrize("kind", KINDS)
def test_offsets_are_the_words(kind: str) -> None:
    text = "Der Hund läuft."
    vocabulary = trained(kind)
    pieces = vocabulary.encode([text])[0]
    shown = [text[start:end] for start, end in pieces.offsets]
    if kind == "word":
        assert shown == ["Der", "Hund", "läuft", "."]
    assert "".join(shown).replace(" ", "") == text.replace(" ", "")
    for piece, part in zip(vocabulary.pieces(pieces.ids), shown, strict=True):
        if kind != "character" and "<0x" not in piece:
            assert piece.lstrip("▁").removeprefix("##") == part.strip(" ")


def test_bytes_of_one_character_share_its_span() -> None:
    # No emoji was trained on, so this one is four bytes.
    pieces = trained("bpe").encode(["a😀b"])[0]
    assert pieces.offsets == ((0, 1), (1, 2), (1, 2), (1, 2), (1, 2), (2, 3))
    assert trained("bpe").pieces(pieces.ids)[1:5] == ["<0xF0>", "<0x9F>", "<0x98>", "<0x80>"]


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece", "word"])
def test_a_word_is_the_same_at_the_start_and_inside(kind: str) -> None:
    vocabulary = trained(kind)
    start, inside = vocabulary.encode(["dog", "the dog"])
    assert inside.ids[-len(start.ids) :] == start.ids
    assert start.offsets == tuple((s - 4, e - 4) for s, e in inside.offsets[-len(start.ids) :])


def test_unknown_words_and_characters_as_documented() -> None:
    word, character = trained("word"), trained("character")
    pieces = word.encode(["The zebra sleeps, dog"])[0]
    assert word.pieces(pieces.ids) == ["▁The", "<unk>", "<unk>", "<unk>", "▁dog"]
    assert pieces.offsets == ((0, 3), (4, 9), (10, 16), (16, 17), (18, 21))
    assert word.decode(pieces.ids) == "The \ufffd \ufffd \ufffd dog"
    assert character.decode(character.encode(["dog 漢字!"])[0].ids) == "dog \ufffd\ufffd\ufffd"
    wordpiece = trained("wordpiece")
    long = wordpiece.encode([f"dog {'x' * 399} {'x' * 400}"])[0]
    assert long.ids.count(wordpiece.unk) == 1
    assert long.offsets[-1] == (404, 804)


@pytest.mark.parametrize("kind", NEVER_UNKNOWN)
@pytest.mark.parametrize("special", ["<s>", "< bos >", "[UNK]"])
def test_special_names_in_the_training_text_stay_text(kind: str, special: str) -> None:
    vocabulary = Vocabulary.train([f"{special} x {special}"] * 20, kind, 600)
    ids = vocabulary.encode_ids([f"{special} x"])[0]
    assert min(ids) > 3
    assert vocabulary.decode(ids) == f"{special} x"


def test_special_ids() -> None:
    for kind in KINDS:
        vocabulary = trained(kind)
        assert (vocabulary.pad, vocabulary.unk, vocabulary.bos, vocabulary.eos) == (0, 1, 2, 3)
        assert vocabulary.pieces([0, 1, 2, 3]) == ["<pad>", "<unk>", "<s>", "</s>"]
        dog = vocabulary.encode_ids(["dog"])[0]
        assert vocabulary.decode([2, *dog, 3, 0, 0]) == "dog"


def test_ids_outside_the_vocabulary_are_refused() -> None:
    vocabulary = trained("bpe")
    for call in (vocabulary.decode, vocabulary.pieces):
        with pytest.raises(DataError, match=f"token id {len(vocabulary)} is outside"):
            call([5, len(vocabulary)])
        with pytest.raises(DataError, match="token id -1 is outside"):
            call([5, -1])


def test_a_broken_byte_sequence_is_shown_not_raised() -> None:
    vocabulary = trained("bpe")
    first = vocabulary.encode_ids(["😀"])[0][1]
    assert vocabulary.decode([first]) == "\ufffd"


@pytest.mark.parametrize("kind", KINDS)
def test_decode_equals_the_decoder_of_the_library(kind: str) -> None:
    vocabulary = trained(kind)
    library = vocabulary._tokenizer
    for text in ["Der Hund läuft.", "  größer  ", "dog"]:
        ids = vocabulary.encode_ids([text])[0]
        if kind != "wordpiece" and vocabulary.unk not in ids:
            assert library.decode(ids) == vocabulary.decode(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_fast_encoding_gives_the_same_ids(kind: str) -> None:
    vocabulary = trained(kind)
    slow = [list(pieces.ids) for pieces in vocabulary.encode(TEXTS + ODD)]
    assert vocabulary.encode_ids(TEXTS + ODD) == slow


@pytest.mark.parametrize("kind", KINDS)
def test_training_is_deterministic(kind: str, tmp_path: Path) -> None:
    files = [tmp_path / str(number) for number in range(3)]
    for path in files:
        Vocabulary.train(iter(TEXTS), kind, 700).save(path)
    assert len({path.read_bytes() for path in files}) == 1
    other = Vocabulary.train(ENGLISH, kind, 700)
    assert other.fingerprint != trained(kind).fingerprint


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded_is_the_same(kind: str, tmp_path: Path) -> None:
    vocabulary = trained(kind)
    vocabulary.save(tmp_path / "v.json")
    loaded = Vocabulary.load(tmp_path / "v.json")
    assert loaded.fingerprint == vocabulary.fingerprint
    assert loaded.kind == vocabulary.kind == kind
    assert len(loaded) == len(vocabulary)
    assert loaded.encode(ODD) == vocabulary.encode(ODD)
    assert Tokenizer.from_file(str(tmp_path / "v.json")).get_vocab_size() == len(vocabulary)


def test_every_kind_is_tested() -> None:
    assert list(vocabulary_kind) == KINDS


def test_bad_files_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such vocabulary"):
        Vocabulary.load(tmp_path / "missing")
    path = tmp_path / "v.json"
    trained("bpe").save(path)
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    with pytest.raises(CheckpointError, match="not a readable vocabulary"):
        Vocabulary.load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CheckpointError, match="not a readable vocabulary"):
        Vocabulary.load(path)
    foreign = json.loads(text)
    foreign["model"]["vocab"] = {name: i + 9 for name, i in foreign["model"]["vocab"].items()}
    path.write_text(json.dumps(foreign))
    with pytest.raises(CheckpointError, match="another program"):
        Vocabulary.load(path)


def test_sizes() -> None:
    with pytest.raises(UsageError, match="give at least 260"):
        Vocabulary.train(TEXTS, "bpe", 259)
    with pytest.raises(UsageError, match="give at least 516"):
        Vocabulary.train(TEXTS, "wordpiece", 300)
    with pytest.raises(UsageError, match="did you mean 'unigram'"):
        Vocabulary.train(TEXTS, "unigramm", 300)
    assert len(Vocabulary.train(TEXTS, "bpe", 300)) == 300
    assert len(Vocabulary.train(TEXTS, "word", 10)) == 10
    small = Vocabulary.train(["aaaa bbb"], "character", 7)
    assert small.pieces(range(4, 7)) == ["a", "b", "▁"]


def test_no_text_and_no_unicode_are_refused() -> None:
    for kind in KINDS:
        with pytest.raises(DataError, match="no text"):
            Vocabulary.train([], kind, 700)
    with pytest.raises(DataError, match="lone surrogate U\\+D800"):
        Vocabulary.train(["a\ud800"], "bpe", 700)
    with pytest.raises(DataError, match="sentence 2: lone surrogate U\\+DFFF at character 3"):
        trained("bpe").encode(["fine", "ab\udfff"])
    with pytest.raises(DataError, match="sentence 1 is NoneType"):
        trained("bpe").encode_ids([None])  # type: ignore[list-item]
    with pytest.raises(DataError, match="sentence 1001: lone surrogate"):  # of several blocks
        trained("bpe").encode_ids([*["fine"] * 1000, "ab\udfff"])


def corpus() -> Corpus:
    text = ParallelText("train", ENGLISH, GERMAN)
    return Corpus("c", "en", "de", text, text.head(1), {"test": text.head(1)}, "none")


def test_joint_is_one_object_and_separate_are_two() -> None:
    joint = train_vocabularies(corpus(), VocabularySettings(size=400))
    assert joint[0] is joint[1]
    source, target = train_vocabularies(corpus(), VocabularySettings(size=400, joint=False))
    assert source is not target
    assert "▁über" not in source.pieces(range(len(source)))
    assert source.fingerprint == Vocabulary.train(ENGLISH, "bpe", 400).fingerprint
    assert target.fingerprint == Vocabulary.train(GERMAN, "bpe", 400).fingerprint


FORKING = """
import os, sys
from headcount.models.data.vocabulary import Vocabulary
vocabulary = Vocabulary.train(["a b c d"] * 50, "bpe", 270)
texts = ["a b c d"] * 500
expected = vocabulary.encode_ids(texts)
child = os.fork()
if child == 0:
    os._exit(0 if vocabulary.encode_ids(texts) == expected else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("choice", [{}, {"TOKENIZERS_PARALLELISM": "true"}])
def test_forked_processes_encode_without_threads_and_warnings(choice: dict[str, str]) -> None:
    # In a process of its own: a hanging child must not take the tests with it.
    environment = {k: v for k, v in os.environ.items() if k != "TOKENIZERS_PARALLELISM"} | choice
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING],
        env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout.strip(), done.stderr) == ("0", "")
