"""Word alignments in Pharaoh format, XL-WA's and Alibi's."""

from pathlib import Path

import pytest

from headcount.models.errors import DataError
from headcount.probe.annotations import AlibiReader, AlignedText, PharaohReader, XlwaReader

SOURCE, TARGET = "the small cat\nsleeps now\n", "die kleine Katze\nsie schläft\n"
LINKS = "0-0 2-2 1-1 1p2 2p2\n\n"


def written(tmp_path: Path, **files: str) -> dict[str, Path]:
    paths = {}
    for name, text in files.items():
        paths[name] = tmp_path / f"{name}.txt"
        paths[name].write_text(text, encoding="utf-8")
    return paths


def pharaoh(tmp_path: Path, source: str = SOURCE, target: str = TARGET, links: str = LINKS):
    return PharaohReader(**written(tmp_path, source=source, target=target, alignments=links)).read()


def numbered(text: str) -> str:
    return "".join(f"{number}\t{line}\n" for number, line in enumerate(text.splitlines()))


def alibi(tmp_path: Path, source: str = SOURCE, links: str = numbered(LINKS)) -> AlignedText:
    paths = written(tmp_path, source=numbered(source), target=numbered(TARGET), alignments=links)
    return AlibiReader(**paths).read()


def xlwa(tmp_path: Path, text: str) -> AlignedText:
    path = tmp_path / "en-de.dev.tsv"
    path.write_text(text, encoding="utf-8")
    return XlwaReader(path=path).read()


TABLE = "".join(
    f"{source}\t{target}\t{links}\n"
    for source, target, links in zip(
        SOURCE.splitlines(), TARGET.splitlines(), LINKS.splitlines(), strict=True
    )
)


@pytest.mark.parametrize("form", ["pharaoh", "alibi", "xl-wa"])
def test_all_formats_give_the_same_pairs(tmp_path: Path, form: str):
    read = {
        "pharaoh": lambda: pharaoh(tmp_path),
        "alibi": lambda: alibi(tmp_path),
        "xl-wa": lambda: xlwa(tmp_path, TABLE),
    }
    first, second = found = read[form]()
    assert first.source.forms == ("the", "small", "cat")
    assert first.target.spans == ((0, 3), (4, 10), (11, 16))
    assert first.sure == ((0, 0), (1, 1), (2, 2))
    assert first.possible == ((0, 0), (1, 1), (1, 2), (2, 2))
    assert (second.sure, second.possible) == ((), ())
    assert found.counts == {
        "pairs": 2,
        "sure links": 3,
        "possible links": 1,
        "pairs without links": 1,
        "source words without a link": 2,
        "target words without a link": 2,
    }
    assert found.side("target").sentences == (first.target, second.target)


def test_a_question_mark_is_a_possible_link_too(tmp_path: Path):
    pair = pharaoh(tmp_path, "a\n", "b\n", "0?0\n").pairs[0]
    assert (pair.sure, pair.possible) == ((), ((0, 0),))


def test_double_spaces_make_no_words(tmp_path: Path):
    pair = pharaoh(tmp_path, "a  b \n", "c\n", "1-0\n").pairs[0]
    assert pair.source.spans == ((0, 1), (3, 4))


def test_sides_may_be_treebanks_whose_words_then_count(tmp_path: Path):
    side = tmp_path / "s.conllu"
    word = "{0}\t{1}\t_\tX\t_\t_\t{2}\tdep\t_\t_\n"
    lines = (
        "1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n" + word.format(1, "zu", 0) + word.format(2, "dem", 1)
    )
    side.write_text(lines + "\n")
    other = written(tmp_path, target="to the\n", alignments="0-0 1-1\n")
    pair = PharaohReader(source=side, **other).read().pairs[0]
    assert pair.source.forms == ("zu", "dem")
    assert pair.sure == ((0, 0), (1, 1))


@pytest.mark.parametrize(
    ("links", "line", "reason"),
    [
        ("0-0\n0-2\n", 2, "link 0-2: the target has words 0 to 1 only"),
        ("3-0\n\n", 1, "link 3-0: the source has words 0 to 2 only"),
        ("0-0 1-\n\n", 1, "'1-' is no link"),
        ("0-0 1--1\n\n", 1, "'1--1' is no link"),
        ("0-0 a-1\n\n", 1, "'a-1' is no link"),
        ("0-0\n", 2, "1 lines of links but 2 sentences in .*source"),
        ("0-0\n\n\n", 3, "3 lines of links but 2 sentences in .*source"),
    ],
)
def test_damaged_links_are_refused(tmp_path: Path, links: str, line: int, reason: str):
    with pytest.raises(DataError, match=f"alignments.txt, line {line}: {reason}"):
        pharaoh(tmp_path, links=links)


def test_an_empty_sentence_and_empty_files_are_refused(tmp_path: Path):
    with pytest.raises(DataError, match="line 2: a sentence of this pair is empty"):
        pharaoh(tmp_path, source="a b c\n\n")
    with pytest.raises(DataError, match="no sentence pairs in the file"):
        pharaoh(tmp_path, "", "", "")
    with pytest.raises(DataError, match=r"en-de.dev.tsv: no sentence pairs"):
        xlwa(tmp_path, "")


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        ("0\t0-0\n2\t\n", "line 2: number '2' where 1 is expected"),
        ("0\t0-0\nx\t\n", "line 2: number 'x' where 1 is expected"),
        ("0\t0-0\n1\n", "line 2: 1 columns where 2 are expected"),
        ("0\t0-0\n1\t0-0\t\n", "line 2: 3 columns where 2 are expected"),
    ],
)
def test_numbers_of_lines_must_count_up(tmp_path: Path, links: str, reason: str):
    with pytest.raises(DataError, match=reason):
        alibi(tmp_path, links=links)


def test_a_table_has_three_columns(tmp_path: Path):
    with pytest.raises(DataError, match=r"en-de.dev.tsv, line 2: 2 columns where 3"):
        xlwa(tmp_path, "a\tb\t0-0\na\tb\n")
