"""CoNLL-U-Lex: supersenses, preposition roles, strong and weak expressions."""

from pathlib import Path

import pytest

from headcount.models.errors import DataError
from headcount.probe.annotations import (
    ConllulexReader,
    ConlluReader,
    Expression,
    Supersense,
    SupersenseLayer,
)

WORDS = [
    ("1", "We", "0", "root"),
    ("2", "took", "1", "dep"),
    ("3", "a", "1", "dep"),
    ("4", "walk", "1", "dep"),
    ("5", "with", "1", "dep"),
    ("6", "Ada", "1", "dep"),
]
# SMWE LEXCAT LEXLEMMA SS SS2 WMWE
LEXICAL = [
    "_ PRON we _ _ _",
    "1:1 V.LVC.full take_walk v.motion _ 2:1",
    "_ DET a _ _ _",
    "1:2 _ _ _ _ 2:2",
    "_ P with p.Ancillary p.Co-Agent 2:3",
    "_ N Ada ?? _ _",
]


def lines(lexical: list[str]) -> str:
    rows = []
    for (identity, form, head, relation), columns in zip(WORDS, lexical, strict=True):
        ud = [identity, form, "_", "X", "_", "_", head, relation, "_", "_"]
        rows.append("\t".join([*ud, *columns.split(), "_", "_", "TAG"]))
    return "# sent_id = walk\n" + "\n".join(rows) + "\n\n"


def table(lexical: list[str], forms: list[str] | None = None) -> str:
    forms = forms or [form for _, form, _, _ in WORDS]
    rows = []
    for number, (form, columns) in enumerate(zip(forms, lexical, strict=False), start=1):
        strong, category, _, label, function, _ = columns.split()
        rows.append("\t".join([str(number), form, category, label, function, strong]))
    return "# sent_id = walk\n" + "\n".join(rows) + "\n\n"


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    rows = [
        "\t".join([i, form, "_", "X", "_", "_", head, rel, "_", "_"])
        for i, form, head, rel in WORDS
    ]
    path = tmp_path / "walks.conllu"
    path.write_text(
        "# sent_id = other\n1\tHm\t_\tX\t_\t_\t0\troot\t_\t_\n\n# sent_id = walk\n"
        + "\n".join(rows)
        + "\n\n"
    )
    return path


def written(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_strong_expression_has_its_category_and_label(tmp_path: Path):
    path = written(tmp_path, "s.conllulex", lines(LEXICAL))
    sentence = ConllulexReader(path=path).read().sentences[0]
    assert sentence.supersenses == (
        Supersense((0,), "PRON", ""),
        Supersense((1, 3), "V.LVC.full", "v.motion"),
        Supersense((2,), "DET", ""),
        Supersense((4,), "P", "p.Ancillary", "p.Co-Agent"),
        Supersense((5,), "N", "??"),
    )
    assert sentence.expressions == (Expression((1, 3), True), Expression((1, 3, 4), False))
    assert [sense.classified for sense in sentence.supersenses] == [
        *[False, True, False],
        True,
        False,
    ]
    assert sentence.has_tree


def test_counts_tell_labels_from_what_is_unclear(tmp_path: Path):
    counts = ConllulexReader(path=written(tmp_path, "s.conllulex", lines(LEXICAL))).read().counts
    assert counts["words"] == 6
    assert counts["supersenses"] == 2
    assert counts["unclear supersenses"] == 1
    assert (counts["strong expressions"], counts["weak expressions"]) == (1, 1)


@pytest.mark.parametrize("name", ["s.conllulex", "s.tsv"])
def test_the_layer_goes_onto_another_treebanks_words(tmp_path: Path, treebank: Path, name: str):
    text = lines(LEXICAL) if name.endswith("lex") else table(LEXICAL)
    base = ConlluReader(path=treebank).read()
    layered = SupersenseLayer(path=written(tmp_path, name, text)).add_to(base)
    whole = ConllulexReader(path=written(tmp_path, "w.conllulex", lines(LEXICAL))).read()
    assert layered.sentences[0].supersenses is None
    assert layered.sentences[1].supersenses == whole.sentences[0].supersenses
    assert layered.counts["sentences with supersenses"] == 1


def changed(index: int, columns: str) -> list[str]:
    return [columns if place == index else each for place, each in enumerate(LEXICAL)]


@pytest.mark.parametrize(
    ("lexical", "line", "reason"),
    [
        (changed(3, "1:3 _ _ _ _ 2:2"), 5, "place 3 in expression 1"),
        (changed(3, "1-2 _ _ _ _ 2:2"), 5, "'1-2' is no place"),
        (changed(3, "1:2 N _ _ _ 2:2"), 5, "a label within an expression"),
        (changed(0, "_ _ _ _ _ _"), 2, "without a category"),
    ],
)
def test_damaged_expressions_are_refused(
    tmp_path: Path, lexical: list[str], line: int, reason: str
):
    path = written(tmp_path, "s.conllulex", lines(lexical))
    with pytest.raises(DataError, match=rf"s.conllulex, line {line}: .*{reason}"):
        ConllulexReader(path=path).read()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (table(LEXICAL).replace("walk\n1", "gone\n1"), 1, "sentence 'gone' is not in walks"),
        (table(LEXICAL, ["We", "took", "the"]), 4, "word 'the' where sentence 'walk' has 'a'"),
        (table(LEXICAL, ["We", "took"]), 3, "2 words where sentence 'walk' has 6"),
        (table(LEXICAL).replace("\n2\t", "\n3\t"), 3, "id '3' where 2 is expected"),
    ],
)
def test_a_layer_of_other_words_is_refused(
    tmp_path: Path, treebank: Path, text: str, line: int, reason: str
):
    layer = SupersenseLayer(path=written(tmp_path, "s.tsv", text))
    with pytest.raises(DataError, match=rf"s.tsv, line {line}: .*{reason}"):
        layer.add_to(ConlluReader(path=treebank).read())
