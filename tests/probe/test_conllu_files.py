"""CoNLL-U by hand: words, ranges, empty nodes, features, text, documents."""

from pathlib import Path

import pytest

from headcount.models.errors import DataError
from headcount.probe.annotations import ConlluReader, SurfaceToken, reader

FRENCH = """\
# newdoc id = tale
# sent_id = s1
# text = Il parle du chat.
# translation = He talks of the cat.
1	Il	il	PRON	PP	Gender=Masc|Number=Sing	2	nsubj	_	_
2	parle	parler	VERB	_	Tense=Pres	0	root	_	Gloss=a=b|Checked
3-4	du	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	5	case	_	_
4	le	le	DET	_	_	5	det	_	_
5	chat	chat	NOUN	_	_	2	obl	_	SpaceAfter=No
6	.	.	PUNCT	_	_	2	punct	_	_

# sent_id = s2
1	Oui	oui	INTJ	_	_	0	root	_	SpaceAfter=No
1.1	parle	parler	VERB	_	_	_	_	_	_
2	!	!	PUNCT	_	_	1	punct	_	_

"""


@pytest.fixture
def french(tmp_path: Path) -> Path:
    path = tmp_path / "fr_tale-ud-dev.conllu"
    path.write_text(FRENCH, encoding="utf-8", newline="")
    return path


def test_words_carry_what_the_columns_say(french: Path):
    treebank = ConlluReader(path=french).read()
    first, second = treebank
    assert treebank.name == "fr_tale-ud-dev"
    assert first.forms == ("Il", "parle", "de", "le", "chat", ".")
    assert [word.head for word in first.words] == [1, -1, 4, 4, 1, 1]
    assert first.depths == (1, 0, 2, 2, 1, 1)
    assert [word.relation for word in second.words] == ["root", "punct"]
    il, parle = first.words[:2]
    assert (il.lemma, il.upos, il.xpos) == ("il", "PRON", "PP")
    assert (il.feature("Number"), il.feature("Case")) == ("Sing", "")
    assert parle.misc == (("Gloss", "a=b"), ("Checked", ""))
    assert parle.xpos == ""
    assert first.comments == (("translation", "He talks of the cat."),)


def test_words_of_a_range_share_its_characters(french: Path):
    sentence = ConlluReader(path=french).read().sentences[0]
    assert sentence.surface == (SurfaceToken(2, 3, "du"),)
    assert [sentence.text[start:end] for start, end in sentence.spans] == [
        *["Il", "parle", "du", "du", "chat", "."]
    ]


def test_ranges_and_empty_nodes_are_counted_and_are_no_words(french: Path):
    treebank = ConlluReader(path=french).read()
    assert treebank.counts == {
        "sentences": 2,
        "words": 8,
        "ranges": 1,
        "empty nodes": 1,
        "texts built": 1,
        "texts that differ": 0,
        "words not located": 0,
    }


def test_a_missing_text_is_built_from_the_forms(french: Path):
    sentence = ConlluReader(path=french).read().sentences[1]
    assert (sentence.text, sentence.spans) == ("Oui!", ((0, 3), (3, 4)))


def test_a_document_lasts_until_the_next(french: Path):
    assert [sentence.document for sentence in ConlluReader(path=french).read()] == ["tale"] * 2


def test_a_sentence_without_a_tree_has_none(tmp_path: Path):
    path = tmp_path / "plain.conllu"
    path.write_text("1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    sentence = ConlluReader(path=path).read().sentences[0]
    assert (sentence.id, sentence.has_tree, sentence.entities) == ("1", False, None)


def test_a_text_that_differs_is_counted_with_the_words_it_lacks(tmp_path: Path):
    path = tmp_path / "other.conllu"
    row = "{0}\t{1}\t_\tX\t_\t_\t{2}\tdep\t_\t_\n"
    rows = [row.format(1, "Don", 0), row.format(2, "'t", 1), row.format(3, "sprint", 1)]
    path.write_text(f"# text = Don’t go\n{''.join(rows)}\n", encoding="utf-8")
    treebank = ConlluReader(path=path).read()
    assert treebank.counts["texts that differ"] == 1
    assert treebank.counts["words not located"] == 1
    assert treebank.sentences[0].spans == ((0, 3), (4, 5), (-1, -1))
    assert not treebank.sentences[0].words[2].located


def test_formats_are_found_by_name():
    assert reader["conllu"] is ConlluReader
    assert set(reader) == {
        *["conllu", "conllulex", "supersenses", "uner", "gum-entities", "constituents", "uds"],
        *["pharaoh", "xl-wa", "alibi", "miniature", "miniature-gold"],
    }


def row(identity: str, head: str = "0", form: str = "a") -> str:
    return f"{identity}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n"


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        (row("1") + row("3", "1"), 2, "id 3 where 2 is expected"),
        (row("1") + row("two", "1"), 2, "'two' is no word id"),
        (row("1") + row("²", "1"), 2, "'²' is no word id"),
        (row("1") + row("2", "3"), 2, "head 3 is no other word"),
        (row("1") + row("2", "-1"), 2, "head -1 is no other word"),
        (row("1") + row("2", "2"), 2, "head 2 is no other word"),
        (row("1") + row("2", "one"), 2, "head 'one' is no number"),
        (row("1") + row("2", "_"), 2, "head '_' is no number"),
        (row("1") + row("2", "3") + row("3", "2"), 2, r"in a cycle \(2 -> 3 -> 2\)"),
        (row("2-3", "_") + row("1"), 1, "range 2-3 before word 1"),
        (row("1-2", "_") + row("1"), 1, "range beyond the last word"),
        (row("1-3", "_") + row("1") + row("2-3", "_") + row("2", "1"), 3, "range 2-3"),
        (row("1") + row("2.1", "_"), 2, "id 2.1 where 2 is expected"),
        (row("1.1", "_"), 1, "id 1.1 where 1 is expected"),
        (row("0.1", "_"), 1, "a sentence without words"),
        (row("1") + "# text = b\n" + row("2", "1"), 2, "a comment between words"),
        (row("1").replace("\t0\tdep", "\tdep"), 1, "9 columns where 10"),
        (row("1", form=""), 1, "column 2 is empty"),
        (f"# sent_id = a\n{row('1')}\n# sent_id = a\n{row('1')}", 4, "a second sentence 'a'"),
        (f"# sent_id = a\n\n{row('1')}", 1, "a sentence without words"),
    ],
)
def test_a_damaged_sentence_is_refused_with_its_line(
    tmp_path: Path, lines: str, line: int, reason: str
):
    path = tmp_path / "bad.conllu"
    path.write_text(f"{lines}\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"bad.conllu, line {line}: .*{reason}"):
        ConlluReader(path=path).read()


def test_several_roots_are_accepted(tmp_path: Path):
    path = tmp_path / "roots.conllu"
    path.write_text(f"{row('1')}{row('2')}\n")
    assert [word.head for word in ConlluReader(path=path).read().sentences[0].words] == [-1, -1]
