"""IOB2 entities and the map that joins them to a treebank."""

from pathlib import Path

import pytest

from headcount.models.errors import DataError
from headcount.probe.annotations import EntityLayer, Span, Treebank
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of

TAGS = "B-PER I-PER met B-PER in B-LOC ."


def sentence(identity: str, text: str) -> AnnotatedSentence:
    return AnnotatedSentence(identity, text, words_of(text))


@pytest.fixture
def treebank() -> Treebank:
    texts = {"u1": "Ada Lovelace met Bo in Rome .", "u2": "No one .", "u3": "Ann Lee of 5 % ."}
    return Treebank("xx", tuple([sentence(name, text) for name, text in texts.items()]))


def block(identity: str, text: str, tags: str) -> str:
    rows = [
        f"{number}\t{form}\t{tag}\t-\t-"
        for number, (form, tag) in enumerate(zip(text.split(), tags.split(), strict=True), start=1)
    ]
    return "\n".join([f"# sent_id = {identity}", *rows]) + "\n\n"


FIRST = block("n1", "Ada Lovelace met Bo in Rome .", "B-PER I-PER O B-PER O B-LOC O")
SECOND = block("n2", "No one .", "O O O")
OTHER = block("n3", "Ann Lee of 5% .", "B-PER I-PER O B-ORG O")
MAP = "# treebank\there\tthere\tsame\nxx\tn2\tu2\tyes\nyy\tn2\tu9\tno\nxx\tn1\tu1\tyes\n"


def layer(tmp_path: Path, iob2: str, sentence_map: str | None = MAP) -> EntityLayer:
    path, map_path = tmp_path / "xx.iob2", tmp_path / "map.tsv"
    path.write_text(iob2)
    if sentence_map is None:
        return EntityLayer(path=path)
    map_path.write_text(sentence_map)
    return EntityLayer(path=path, sentence_map=map_path)


def test_the_map_says_which_sentence_is_which(tmp_path: Path, treebank: Treebank):
    found = layer(tmp_path, FIRST + SECOND).add_to(treebank)
    first, second, third = found
    assert first.entities == (Span("PER", 0, 2), Span("PER", 3, 4), Span("LOC", 5, 6))
    assert second.entities == ()
    assert third.entities is None
    assert found.counts == {
        "entities": 3,
        "entities lost": 0,
        "sentences with other words": 0,
        "sentences with entities": 2,
        "sentences not mapped": 0,
    }


def test_without_a_map_ids_are_equal(tmp_path: Path, treebank: Treebank):
    iob2 = SECOND.replace("n2", "u2")
    assert layer(tmp_path, iob2, None).add_to(treebank).sentences[1].entities == ()


def test_an_entity_moves_only_with_all_of_its_words(tmp_path: Path, treebank: Treebank):
    found = layer(tmp_path, OTHER, "xx\tn3\tu3\tno\n").add_to(treebank)
    assert found.sentences[2].entities == (Span("PER", 0, 2),)
    assert found.counts["entities lost"] == 1
    assert found.counts["sentences with other words"] == 1


def test_an_entity_whose_words_are_parted_is_lost(tmp_path: Path):
    parted = Treebank("xx", (sentence("u1", "Ada of Lovelace met"),))
    iob2 = block("n1", "Ada Lovelace met", "B-PER I-PER O")
    found = layer(tmp_path, iob2, "xx\tn1\tu1\tno\n").add_to(parted)
    assert (found.sentences[0].entities, found.counts["entities lost"]) == ((), 1)


def test_neighbours_of_one_type_stay_apart(tmp_path: Path):
    bank = Treebank("xx", (sentence("n1", "Ada Bo"),))
    found = layer(tmp_path, block("n1", "Ada Bo", "B-PER B-PER"), None).add_to(bank)
    assert found.sentences[0].entities == (Span("PER", 0, 1), Span("PER", 1, 2))


@pytest.mark.parametrize(
    ("iob2", "sentence_map", "place", "reason"),
    [
        (FIRST, MAP, "map.tsv, line 2", "'n2' is not in .*xx.iob2"),
        (FIRST + SECOND, MAP.replace("u1", "u7"), "map.tsv, line 4", "'u7' is not in xx"),
        (FIRST + SECOND, MAP + "xx\tn1\tu1\tyes\n", "map.tsv, line 5", "'n1' is mapped a second"),
        (FIRST + SECOND, MAP + "xx\tn1\n", "map.tsv, line 5", "2 columns where 4"),
        (FIRST + SECOND, MAP + "xx\tn1\tu1\tmaybe\n", "map.tsv, line 5", "'maybe' where yes or no"),
        (FIRST + SECOND, MAP.replace("xx", "zz"), "map.tsv, line 4", "is of treebank 'xx'"),
        (OTHER, "xx\tn3\tu3\tyes\n", "map.tsv, line 1", "'n3' has other words than 'u3'"),
        (FIRST.replace("I-PER", "I-LOC"), None, "xx.iob2, line 3", "continues no LOC entity"),
        (SECOND.replace("one\tO", "one\tI-PER"), None, "xx.iob2, line 3", "continues no PER"),
        (SECOND.replace("one\tO", "one\tPER"), None, "xx.iob2, line 3", "'PER' is no IOB2 tag"),
        (SECOND.replace("one\tO", "one\tB-"), None, "xx.iob2, line 3", "'B-' is no IOB2 tag"),
        (SECOND.replace("2\tone", "3\tone"), None, "xx.iob2, line 3", "id '3' where 2"),
        (SECOND + SECOND, None, "xx.iob2, line 6", "a second sentence 'n2'"),
        (SECOND.replace("# sent_id = n2", "# n2"), None, "xx.iob2, line 1", "without sent_id"),
        (SECOND, None, "xx.iob2, line 1", "'n2' is not in xx"),
    ],
)
def test_files_that_are_damaged_or_do_not_fit_are_refused(
    tmp_path: Path,
    treebank: Treebank,
    iob2: str,
    sentence_map: str | None,
    place: str,
    reason: str,
):
    with pytest.raises(DataError, match=f"{place}: .*{reason}"):
        layer(tmp_path, iob2, sentence_map).add_to(treebank)
