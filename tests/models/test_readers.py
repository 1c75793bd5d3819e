"""Readers: what is read, and what is refused by file, line and remedy."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.models.data.readers import (
    Skipped,
    open_pairs,
    read_lines,
    read_pairs,
    read_tsv,
)
from headcount.models.errors import DataError, UsageError


def put(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(generator: object) -> str:
    with pytest.raises(DataError) as caught:
        list(generator)  # type: ignore[call-overload]
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e", "\r"])
def test_only_newlines_separate_lines(tmp_path: Path, odd: str) -> None:
    path = put(tmp_path, "a", f"one{odd}two\nthree\n")
    assert list(read_lines(path)) == [f"one{odd}two", "three"]


def test_line_ends_and_byte_order_mark(tmp_path: Path) -> None:
    path = put(tmp_path, "a", b"\xef\xbb\xbfeins\r\n zwei \t\ndrei")
    assert list(read_lines(path)) == ["eins", " zwei \t", "drei"]


def test_byte_order_mark_inside_the_file_is_text(tmp_path: Path) -> None:
    assert list(read_lines(put(tmp_path, "a", "x\n\ufeffy\n"))) == ["x", "\ufeffy"]


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
@settings(max_examples=60, deadline=None)
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    # A carriage return before the line end, and a byte order mark at the start, are no text.
    lines = [line.rstrip("\r").removeprefix("\ufeff") for line in lines]
    path = tmp_path_factory.getbasetemp() / "any.gz"
    path.write_bytes(gzip.compress("".join(line + "\n" for line in lines).encode()))
    assert list(read_lines(path)) == lines


def test_aligned_files_and_gzip_and_tsv_agree(tmp_path: Path) -> None:
    pairs = [("A dog.", "Ein Hund."), ("Two\u2028cats", "Zwei Katzen")]
    sides = ["".join(pair[side] + "\n" for pair in pairs) for side in (0, 1)]
    plain = tuple(put(tmp_path, name, text) for name, text in zip("ab", sides, strict=True))
    packed = tuple(
        put(tmp_path, f"{name}.gz", gzip.compress(text.encode()))
        for name, text in zip("ab", sides, strict=True)
    )
    tsv = put(tmp_path, "c.tsv", "".join(f"{s}\t{t}\n" for s, t in pairs))
    for paths in (plain, packed, (tsv,)):
        assert list(open_pairs(paths)) == pairs
    with pytest.raises(UsageError, match="give SRC and TGT, or one TSV"):
        open_pairs((tsv, tsv, tsv))


def test_different_lengths_are_named(tmp_path: Path) -> None:
    five, three = put(tmp_path, "a", "x\n" * 5), put(tmp_path, "b", "y\n" * 3)
    assert f"{five} has 5 lines but {three} has 3" in refused(read_pairs(five, three))
    assert f"{three} has 3 lines but {five} has 5" in refused(read_pairs(three, five))
    four = put(tmp_path, "c", "y\n" * 4)
    assert "has 5 lines" in refused(read_pairs(five, four))


def test_empty_lines_are_counted_and_dropped_only_on_request(tmp_path: Path) -> None:
    source = put(tmp_path, "a", "one\n\nthree\n  \u2028\n\u200b\ufeff\nfive\n")
    target = put(tmp_path, "b", "eins\nzwei\n\t\nvier\nund\nfünf\n")
    message = refused(read_pairs(source, target))
    assert f"4 empty lines (the first: {source}, line 2)" in message
    assert "--drop-empty" in message
    skipped = Skipped()
    kept = list(read_pairs(source, target, drop_empty=True, skipped=skipped))
    assert kept == [("one", "eins"), ("five", "fünf")]
    assert skipped.pairs == 4


def test_empty_tsv_sides_are_counted_too(tmp_path: Path) -> None:
    path = put(tmp_path, "a.tsv", "one\teins\n\ntwo\t\n")
    assert f"2 empty lines (the first: {path}, line 2)" in refused(read_tsv(path))
    assert list(read_tsv(path, drop_empty=True)) == [("one", "eins")]


@pytest.mark.parametrize("content", ["one\n", "one\ttwo\tthree\n"])
def test_tsv_needs_two_columns(tmp_path: Path, content: str) -> None:
    path = put(tmp_path, "a.tsv", "x\ty\n" + content)
    assert f"{path}, line 2: {content.count(chr(9)) + 1} columns" in refused(read_tsv(path))


def test_invalid_utf8_is_named_by_line_and_byte(tmp_path: Path) -> None:
    path = put(tmp_path, "a", "gut\nschön ".encode() + "für\n".encode("latin-1"))
    message = refused(read_lines(path))
    assert f"{path}, line 2: byte 9 (0xFC) is not UTF-8" in message
    assert "iconv" in message


def test_encoded_surrogates_are_no_utf8(tmp_path: Path) -> None:
    assert "line 1" in refused(read_lines(put(tmp_path, "a", b"\xed\xa0\x80\n")))


def test_missing_file_folder_and_empty_corpus(tmp_path: Path) -> None:
    missing, empty = tmp_path / "missing", put(tmp_path, "empty", "")
    assert f"{missing}: no such file" in refused(read_lines(missing))
    assert f"{tmp_path}: cannot be read" in refused(read_lines(tmp_path))
    assert "no sentence pairs" in refused(read_pairs(empty, empty))
    assert "no sentence pairs" in refused(read_tsv(empty))
    blank = put(tmp_path, "blank", "\n\n")
    assert "no sentence pairs" in refused(read_pairs(blank, blank, drop_empty=True))


@pytest.mark.parametrize("letter", ["a", "ü", "漢", "😀"])
def test_the_longest_line_is_counted_in_characters(tmp_path: Path, letter: str) -> None:
    fits = put(tmp_path, "a", b"\xef\xbb\xbf" + (letter * 7 + "\r\n").encode() * 2)
    assert list(read_lines(fits, longest=7)) == [letter * 7] * 2
    too_long = put(tmp_path, "b", "x\n" + letter * 8 + "\n")
    message = refused(read_lines(too_long, longest=7))
    assert f"{too_long}, line 2: more than 7 characters" in message
    assert "--longest-line" in message


def test_a_line_without_end_is_never_read_whole(tmp_path: Path) -> None:
    packed = put(tmp_path, "a.gz", gzip.compress(b"x" * 50_000_000, compresslevel=1))
    assert "line 1: more than 2000 characters" in refused(read_lines(packed))


def test_tsv_length_holds_for_each_side(tmp_path: Path) -> None:
    path = put(tmp_path, "a.tsv", "aaaa\tbbbb\naaaaa\tb\n")
    assert "line 2: more than 4 characters" in refused(read_tsv(path, longest=4))


def test_damaged_gzip(tmp_path: Path) -> None:
    text = "".join(f"line {number}\n" for number in range(20_000)).encode()
    packed = gzip.compress(text)
    cut = put(tmp_path, "cut.gz", packed[: len(packed) // 2])
    message = refused(read_lines(cut))
    assert f"{cut}: damaged gzip after line" in message
    assert "fetch or pack it again" in message
    plain = put(tmp_path, "plain.gz", "not packed\n")
    assert "damaged gzip after line 0" in refused(read_lines(plain))
    flipped = bytearray(packed)
    flipped[-6] ^= 0xFF  # in the checksum at the end of the file
    assert "damaged gzip" in refused(read_lines(put(tmp_path, "flip.gz", bytes(flipped))))


def test_garbage_out_of_gzip_points_at_gzip(tmp_path: Path) -> None:
    packed = put(tmp_path, "a.gz", gzip.compress(b"\xff\n"))
    assert f"gzip -t {packed}" in refused(read_lines(packed))
    assert "gzip -t" not in refused(read_lines(put(tmp_path, "a", b"\xff\n")))
