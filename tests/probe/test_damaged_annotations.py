"""The same damage in every format: each is refused, by file and line where there are lines."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from headcount.models.errors import DataError
from headcount.probe.annotations import (
    AlibiReader,
    ConllulexReader,
    ConlluReader,
    ConstituentLayer,
    EntityLayer,
    JudgementLayer,
    PharaohReader,
    SupersenseLayer,
    Treebank,
    XlwaReader,
)
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of

BANK = Treebank("f", (AnnotatedSentence("s1", "Über uns", words_of("Über uns")),))
CONLLU = [
    "# sent_id = s1\n",
    "1\tÜber\t_\tX\t_\t_\t0\troot\t_\t_\n",
    "2\tuns\t_\tX\t_\t_\t1\tdep\t_\t_\n",
    "\n",
]
LEX = [line.replace("\t_\n", "\t_\t_\tP\t_\t_\t_\t_\t_\t_\tO\n") for line in CONLLU]
IOB2 = "# sent_id = n1\n1\tÜber\tO\t-\t-\n2\tuns\tO\t-\t-\n\n"
UDS = json.dumps(
    {
        "data": {
            "ewt-dev-1": {
                "ewt-dev-1-semantics-pred-1": {
                    "factuality": {"factual": {"value": 1, "confidence": 1}}
                }
            }
        },
        "name": "Über",
    },
    ensure_ascii=False,
    indent=0,
)


def fixed(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


# Of each format: the lines of a good file, and how it is read.
FORMATS: dict[str, tuple[list[str], Callable[[Path], object]]] = {
    "conllu": (CONLLU, lambda path: ConlluReader(path=path).read()),
    "conllulex": (LEX, lambda path: ConllulexReader(path=path).read()),
    "supersenses": (
        ["# sent_id = s1\n", "1\tÜber\tP\t_\t_\t_\n", "2\tuns\tPRON\t_\t_\t_\n", "\n"],
        lambda path: SupersenseLayer(path=path).add_to(BANK),
    ),
    "uner": (
        ["# sent_id = s1\n", "1\tÜber\tB-LOC\t-\t-\n", "2\tuns\tO\t-\t-\n", "\n"],
        lambda path: EntityLayer(path=path).add_to(BANK),
    ),
    "sentence map": (
        ["# Über\n", "f\tn1\ts1\tyes\n"],
        lambda path: EntityLayer(
            path=fixed(path.parent, "f.iob2", IOB2),
            sentence_map=path,
        ).add_to(BANK),
    ),
    "constituents": (
        ["(ROOT\n", "(PP (IN Über)\n", "(NP (PRP uns))))\n"],
        lambda path: ConstituentLayer(path=path).add_to(BANK),
    ),
    "uds": (
        UDS.splitlines(keepends=True),
        lambda path: JudgementLayer(
            paths=(path,),
            ids=fixed(path.parent, "ids.json", '{"ewt-dev-1": {"sentence_id": "s1"}}'),
        ).add_to(BANK),
    ),
    "pharaoh": (
        ["Über uns\n", "Wir\n"],
        lambda path: PharaohReader(
            source=path,
            target=fixed(path.parent, "t.txt", "About us\nWe\n"),
            alignments=fixed(path.parent, "a.txt", "0-0 1-1\n0-0\n"),
        ).read(),
    ),
    "links": (
        ["0-0 1-1\n", "0-0\n"],
        lambda path: PharaohReader(
            source=fixed(path.parent, "s.txt", "Über uns\nWir\n"),
            target=fixed(path.parent, "t.txt", "About us\nWe\n"),
            alignments=path,
        ).read(),
    ),
    "xl-wa": (["Über uns\tAbout us\t0-0 1-1\n"], lambda path: XlwaReader(path=path).read()),
    "alibi": (
        ["0\tÜber uns\n", "1\tWir\n"],
        lambda path: AlibiReader(
            source=path,
            target=fixed(path.parent, "t.txt", "0\tAbout us\n1\tWe\n"),
            alignments=fixed(path.parent, "a.txt", "0\t0-0 1p1\n1\t0-0\n"),
        ).read(),
    ),
}  # fmt: skip
EVERY = pytest.mark.parametrize("form", FORMATS)


def read(tmp_path: Path, form: str, content: bytes, ending: str = "") -> object:
    name = {"conllulex": "f.conllulex", "conllu": "f.conllu"}.get(form, "f.file")
    path = tmp_path / f"{name}{ending}"
    path.write_bytes(content)
    return FORMATS[form][1](path)


def good(form: str) -> bytes:
    return "".join(FORMATS[form][0]).encode()


@EVERY
def test_the_good_file_is_read_plain_and_packed(tmp_path: Path, form: str):
    assert read(tmp_path, form, good(form))
    assert read(tmp_path, form, gzip.compress(good(form)), ".gz")


@EVERY
def test_an_empty_file_is_refused(tmp_path: Path, form: str):
    with pytest.raises(DataError, match=r"f\.|a\.txt"):
        read(tmp_path, form, b"")


@EVERY
def test_a_missing_file_is_refused(tmp_path: Path, form: str):
    with pytest.raises(DataError, match=r"nowhere.*no such file"):
        FORMATS[form][1](tmp_path / "nowhere")


@EVERY
def test_text_that_is_not_utf8_is_refused_by_line(tmp_path: Path, form: str):
    content = good(form)
    content = content.replace("Ü".encode(), b"\xdc") if b"\xc3" in content else b"\xdc" + content
    line = content[: content.index(b"\xdc")].count(b"\n") + 1
    with pytest.raises(DataError, match=rf"f\.\w+, line {line}: .*0xDC.* is not UTF-8"):
        read(tmp_path, form, content)


@EVERY
def test_a_packed_file_that_breaks_off_is_refused(tmp_path: Path, form: str):
    with pytest.raises(DataError, match=r"f\.\w+\.gz: damaged gzip after line"):
        read(tmp_path, form, gzip.compress(good(form))[:-9], ".gz")


# What is left when the last line is cut off within, and which line is then refused.
CUT = {
    "conllu": (b"\tdep\t_\t_\n\n", "line 3: 7 columns where 10"),
    "conllulex": (b"\t_\tO\n\n", "line 3: 17 columns where 19"),
    "supersenses": (b"\t_\t_\n\n", "line 3: 4 columns where 6"),
    "uner": (b"\t-\n\n", "line 3: 4 columns where 5"),
    "sentence map": (b"\tyes\n", "line 2: 3 columns where 4"),
    "constituents": (b")))\n", "line 1: 3 brackets of this tree are never closed"),
    "uds": (b'"\n}', "no JSON at column"),
    "pharaoh": (b"Wir\n", "line 2: 2 lines of links but 1 sentences in"),
    "links": (b"0\n", "line 2: '0-' is no link"),
    "xl-wa": (b"1\n", "line 1: '1-' is no link"),
    "alibi": (b"\tWir\n", "line 2: 1 columns where 2"),
}


@EVERY
def test_a_last_line_that_is_cut_off_is_refused_by_line(tmp_path: Path, form: str):
    content, (end, reason) = good(form), CUT[form]
    assert content.endswith(end)
    with pytest.raises(DataError, match=reason):
        read(tmp_path, form, content.removesuffix(end))


@pytest.mark.parametrize("form", ["conllu", "conllulex", "supersenses", "uner"])
def test_a_file_that_ends_without_an_empty_line_is_refused(tmp_path: Path, form: str):
    for end in (b"\n", b"\n\n"):
        with pytest.raises(DataError, match="line 3: the file ends within a sentence"):
            read(tmp_path, form, good(form).removesuffix(end))


@pytest.mark.parametrize(
    ("form", "line"),
    [("conllu", 2), ("conllulex", 2), ("supersenses", 2), ("uner", 2), ("sentence map", 2),
     ("xl-wa", 1), ("alibi", 1)],
)  # fmt: skip
def test_a_column_too_many_is_refused_by_line(tmp_path: Path, form: str, line: int):
    lines = [*FORMATS[form][0]]
    lines[line - 1] = lines[line - 1].replace("\n", "\tmore\n")
    with pytest.raises(DataError, match=rf"f\.\w+, line {line}: \d+ columns where \d+"):
        read(tmp_path, form, "".join(lines).encode())


@pytest.mark.parametrize("form", ["conllu", "conllulex", "supersenses", "uner", "alibi"])
def test_ids_that_are_no_numbers_are_refused_by_line(tmp_path: Path, form: str):
    lines = [*FORMATS[form][0]]
    lines[1] = lines[1].replace("1", "one", 1)
    with pytest.raises(DataError, match=r"f\.\w+, line 2: .*'one'"):
        read(tmp_path, form, "".join(lines).encode())
