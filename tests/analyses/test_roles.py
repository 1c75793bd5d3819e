"""The analysis of roles on the planted network, whose roles are known, and its tables."""

import random
from dataclasses import replace

import pytest
import torch
from made_translators import planted, vocabulary

from headcount.analyses.result import Result
from headcount.analyses.role_text import RoleText, linked_text, own_text, treebank_text
from headcount.analyses.roles import RolesSettings, _foreign, roles
from headcount.models.data.corpora import CorpusSettings
from headcount.models.errors import DataError
from headcount.models.gates import Attention, Head
from headcount.models.planted import CARRIER, COPIER, WORDS, planted_corpus
from headcount.probe.annotations import AlignedPair, AlignedText, AnnotatedSentence, Treebank
from headcount.probe.annotations.sentence import words_of
from headcount.probe.roles import source_counts

__all__ = ["planted", "vocabulary"]

SETTINGS = RolesSettings(resamples=100, random_networks=1, training_sentences=64)


def sentence(number: int, draw: random.Random) -> AnnotatedSentence:
    """Six words, of which the alphabetically first is the head of the second as its nsubj."""
    forms = draw.sample(WORDS, k=6)
    head, dependent = (forms.index(form) for form in sorted(forms)[:2])
    words = [
        replace(
            word,
            head=-1 if place == head else head,
            relation="root" if place == head else "nsubj" if place == dependent else "dep",
        )
        for place, word in enumerate(words_of(" ".join(forms)))
    ]
    return AnnotatedSentence(str(number), " ".join(forms), tuple(words), has_tree=True)


def copied(count: int) -> AlignedText:
    """Sentences that are their own translations, linked word by word."""
    draw = random.Random(0)
    made = [sentence(number, draw) for number in range(count)]
    links = tuple((place, place) for place in range(6))
    return AlignedText("copies", tuple(AlignedPair(it, it, links, links) for it in made))


@pytest.fixture(scope="module")
def found(planted) -> Result:
    return roles(planted, planted_corpus(), SETTINGS, seed=0, text=linked_text(copied(120)))


def rows(result: Result, table: str):
    return result.tables[table].rows


def of(table, head: Head):
    at = (table["site"] == head.site) & (table["layer"] == head.layer)
    return table[at & (table["head"] == head.head)]


def test_planted_roles_are_found_and_idle_heads_of_the_encoder_have_none(found):
    table = rows(found, "roles")
    # The carrier looks at the source word of its own position, which it is about to say. A
    # fixed place finds every link of a copy as well, so aligning is not its role.
    assert of(table, CARRIER)["role"].tolist() == ["0"]
    assert of(table, COPIER)["role"].tolist() == ["-1"]
    assert table[table["site"] == "encoder"].empty


def test_no_head_beats_a_fixed_place_at_aligning_copies(found):
    arcs = of(rows(found, "arcs"), CARRIER)
    said = arcs[arcs["direction"].str.endswith("said")].iloc[0]
    assert (said["accuracy"], said["baseline"], said["effect"]) == (1.0, 1.0, 0.0)
    assert said["p_holm"] == 1.0 and not said["role"]


def test_the_carrier_aligns_without_error(found):
    table = rows(found, "alignment")
    said = table[(table["asked"] == "said") & (table["aligner"] == str(CARRIER))].iloc[0]
    assert said["chosen"]
    assert (said["precision"], said["recall"], said["error_rate"]) == (1.0, 1.0, 0.0)
    assert (said["error_rate_low"], said["error_rate_high"]) == (0.0, 0.0)
    assert (table["error_rate_low"] <= table["error_rate"] + 1e-9).all()
    assert (table["error_rate_high"] >= table["error_rate"] - 1e-9).all()


def test_profiles_sum_to_one(found, planted):
    for name, value in (("offsets", "share"), ("sinks", "mass")):
        sums = rows(found, name).groupby(["site", "layer", "head"])[value].sum()
        assert len(sums) == len(planted.layout)
        assert (sums - 1).abs().max() < 1e-5
    offsets = of(rows(found, "offsets"), COPIER)
    assert offsets["offset"].isna().sum() == 1  # all that are further away


def test_a_head_for_a_relation_is_found_by_the_whole_analysis(vocabulary):
    """A head whose weights say: every dependent but the head looks for the alphabetically first."""
    from headcount.models.planted import planted_translator

    made = planted_translator(vocabulary)
    words, width = len(vocabulary), made.network.settings.width
    ids = {form: made.vocabularies["source"].encode([form])[0].ids[0] for form in WORDS}
    key = torch.zeros(words, width)
    for rank, form in enumerate(sorted(WORDS)):
        key[0, ids[form]] = 20.0 * (len(WORDS) - rank)  # the earlier the letter, the larger
    query = torch.zeros(words, width)
    query[0] = 5.0
    attention = made.network.attentions[Attention("encoder", 1)]
    with torch.no_grad():
        block = slice(attention.head_width, 2 * attention.head_width)
        for weight, said in ((attention.query.weight, query), (attention.key.weight, key)):
            weight[block] = 0.0
            weight[block][:words] = said
        attention.query.bias[block] = 0.0
        attention.query.bias[block][0] = 5.0  # whatever the query is, it asks for the same
    result = roles(made, planted_corpus(), SETTINGS, seed=0, text=linked_text(copied(200)))
    table = of(rows(result, "roles"), Head("encoder", 1, 1))
    assert {"dep, dependent->head", "nsubj, dependent->head"} <= set(table["role"])
    right = table.set_index("role").loc["dep, dependent->head"]
    assert right["share"] == 1.0 and right["p_holm"] < 1e-6


def test_the_carrier_is_unlike_the_rest_and_random_heads_are_counted_too(found, planted):
    pairs, heads, counted = (rows(found, name) for name in ("likeness", "map", "outliers"))
    assert len(pairs) == 3 * 15 and len(heads) == len(planted.layout)
    cross = heads[heads["site"] == "cross"]
    outside = cross[cross["outlier"]]
    assert [tuple(row) for row in outside[["layer", "head"]].to_numpy()] == [(1, 1)]
    assert cross["group"].nunique() == 2
    trained = counted[(counted["network"] == "trained") & (counted["site"] == "cross")].iloc[0]
    assert (trained["heads"], trained["outliers"], trained["layers_with_one_or_two"]) == (6, 1, 1)
    assert set(counted["network"]) == {"trained", "random"}
    assert rows(found, "merges").groupby("site")["size"].max().tolist() == [6, 6, 6]


def test_results_come_back_from_disk(found, tmp_path):
    found.save(tmp_path)
    again = Result.load(tmp_path)
    for name, table in found.tables.items():
        assert again.tables[name].rows.equals(table.rows), name
    assert again.settings == found.settings
    assert "have pieces" in " ".join(again.remarks)


def test_the_same_seed_gives_the_same_tables(found, planted):
    again = roles(planted, planted_corpus(), SETTINGS, seed=0, text=linked_text(copied(120)))
    for name, table in found.tables.items():
        assert again.tables[name].rows.equals(table.rows), name


def test_plain_text_tells_what_needs_no_annotation(planted):
    text = own_text(planted_corpus(), CorpusSettings(name="files"))
    result = roles(planted, planted_corpus(), SETTINGS, seed=0, text=text)
    assert "alignment" not in result.tables
    assert set(rows(result, "arcs")["family"]) <= {"tokens"}
    assert of(rows(result, "roles"), CARRIER)["role"].tolist() == ["0"]
    assert "no annotation" in " ".join(result.remarks)


def test_a_treebank_of_the_source_is_translated(planted):
    treebank = Treebank("made", tuple(pair.source for pair in copied(80)))
    text = treebank_text(treebank, None, planted, 60)
    assert len(text.pairs) == 60
    assert [pair.target.text for pair in text.pairs] == [pair.source.text for pair in text.pairs]
    result = roles(planted, planted_corpus(), SETTINGS, seed=0, text=text)
    families = rows(result, "arcs").groupby("site")["family"].unique()
    assert "syntax" in families["encoder"]


def test_two_treebanks_need_common_sentences(planted):
    pairs = copied(3)
    source = Treebank("one", tuple(pair.source for pair in pairs))
    target = Treebank("two", tuple(replace(pair.source, id=f"x{pair.source.id}") for pair in pairs))
    with pytest.raises(DataError, match="no sentence id in common"):
        treebank_text(source, target, planted, 10)
    both = treebank_text(source, source, planted, 2)
    assert len(both.pairs) == 2 and not both.linked


def test_no_sentences_are_refused(planted):
    with pytest.raises(DataError, match="at least one"):
        roles(planted, planted_corpus(), SETTINGS, seed=0, text=RoleText("none", ()))


def test_a_model_that_lost_all_heads_of_a_site_is_looked_at_all_the_same(planted):
    smaller = planted.without([head for head in planted.layout if head.site == "cross"])
    settings = SETTINGS.with_changes(random_networks=0)
    text = linked_text(copied(40))
    alone = roles(smaller, planted_corpus(), settings, seed=0, text=text)
    for name in ("roles", "arcs", "offsets", "shapes", "layers"):
        assert "cross" not in set(rows(alone, name)["site"])
    assert rows(alone, "alignment").empty
    both = roles(planted, planted_corpus(), settings, 0, text=text, pruned={"cut": smaller})
    assert set(rows(both, "alignment")["model"]) == {"whole"}
    kept = rows(both, "kept").set_index("role")
    assert kept.loc["0", ["heads", "removed", "stayed"]].tolist() == [1, 1, 0]  # the carrier
    assert kept.loc["-1", ["heads", "removed", "stayed"]].tolist() == [1, 0, 1]  # the copier


def test_text_of_another_language_is_said(planted):
    made = [AnnotatedSentence("s", it, words_of(it)) for it in ("ast zweig rinde", "oak fir elm")]
    counts = source_counts(planted, planted_corpus().train)
    foreign, known = (RoleText("made", [AlignedPair(it, it, (), ())]) for it in made)
    assert "100% of the source pieces" in _foreign(planted, foreign, counts)[0]
    assert _foreign(planted, known, counts) == []
