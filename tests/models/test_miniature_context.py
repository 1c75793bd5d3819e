"""Words that another word decides: the cue is named, and the wrong translations are wrong."""

from __future__ import annotations

from itertools import islice

import pytest

from headcount.models.data.miniature import AnnotatedPair, pairs
from headcount.models.data.miniature.words.ambiguity import adjective_senses, senses

WITH_CUE = ("pronoun", "possessive", "agreement", "sense", "sense_adjective")


def drawn(name: str, count: int = 150, distance: int | None = None) -> list[AnnotatedPair]:
    return list(islice(pairs(4, name, distance), count))


@pytest.mark.parametrize("name", WITH_CUE)
def test_focus_cue_and_distance(name: str) -> None:
    for pair in drawn(name):
        focus = pair.focus
        assert min(focus.source, focus.target, focus.source_cue, focus.target_cue) >= 0
        assert pair.distance == abs(focus.source - focus.source_cue) > 0
        assert (focus.source, focus.target) in pair.alignment
        assert pair.contrasts and pair.target.text not in pair.contrasts


def test_it_takes_the_gender_of_its_antecedent() -> None:
    genders = {"Masc": {"er", "ihn"}, "Fem": {"sie"}, "Neut": {"es"}}
    seen = set()
    for pair in drawn("pronoun"):
        antecedent = dict(pair.target.words[pair.focus.target_cue].feats)
        pronoun = pair.target.words[pair.focus.target].form
        assert pair.source.words[pair.focus.source].form == "it"
        assert pronoun in genders[antecedent["Gender"]], pair.target.text
        seen.add(pronoun)
        assert len(pair.contrasts) == 2
    assert seen == {"er", "ihn", "sie", "es"}


def test_its_takes_the_gender_of_the_possessor() -> None:
    for pair in drawn("possessive"):
        possessor = dict(pair.target.words[pair.focus.target_cue].feats)
        lemma = pair.target.words[pair.focus.target].lemma
        assert lemma == ("ihr" if possessor["Gender"] == "Fem" else "sein"), pair.target.text


def test_agreement_contrasts_differ_in_the_verb_alone() -> None:
    for pair in drawn("agreement"):
        subject = dict(pair.target.words[pair.focus.target_cue].feats)["Number"]
        assert dict(pair.target.words[pair.focus.target].feats)["Number"] == subject
        (contrast,) = pair.contrasts
        right, wrong = pair.target.text.split(), contrast.split()
        differences = [(a, b) for a, b in zip(right, wrong, strict=True) if a != b]
        assert len(differences) == 1
        assert differences[0][0].rstrip(".") == pair.target.words[pair.focus.target].form


def test_attractors_have_the_other_number() -> None:
    for pair in drawn("agreement"):
        words = pair.target.words
        cue, verb = pair.focus.target_cue, pair.focus.target
        subject = dict(words[cue].feats)["Number"]
        between = [word for word in words[cue + 1 : verb] if word.upos == "NOUN"]
        assert between, pair.target.text
        assert all(dict(word.feats)["Number"] != subject for word in between), pair.target.text


def test_the_distance_can_be_chosen() -> None:
    means = []
    for modifiers in (1, 2, 3):
        distances = [pair.distance for pair in drawn("agreement", 100, modifiers)]
        means.append(sum(distances) / len(distances))
    assert means[0] + 1 < means[1] < means[2] - 1


def test_at_least_twelve_words_are_ambiguous_and_their_cues_differ() -> None:
    entries = [sense for sense, _ in senses().items]
    words = {sense.noun.english for sense in entries} | {a.english for a, _ in adjective_senses()}
    assert len(words) >= 12
    for sense, others in senses().items:
        assert others
        for other in others:
            assert sense.noun.german != other.noun.german
            for kind in ("objects", "subjects", "of", "places"):
                assert not set(getattr(sense, kind)) & set(getattr(other, kind)), sense.noun.sense
            own = {adjective.english for adjective in sense.adjectives}
            assert not own & {adjective.english for adjective in other.adjectives}


def test_the_cue_decides_the_sense() -> None:
    """Word and cue together never have two translations; the word alone has."""
    by_cue: dict[tuple[str, str], set[str]] = {}
    by_word: dict[str, set[str]] = {}
    for pair in drawn("sense", 1_500):
        source, target = pair.source.words, pair.target.words
        word, sense = source[pair.focus.source].lemma, source[pair.focus.source].sense
        assert sense.startswith(word) and target[pair.focus.target].sense == sense
        cue = source[pair.focus.source_cue].lemma
        by_cue.setdefault((word, cue), set()).add(target[pair.focus.target].lemma)
        by_word.setdefault(word, set()).add(target[pair.focus.target].lemma)
    assert all(len(translations) == 1 for translations in by_cue.values())
    assert len(by_word) >= 12
    assert all(len(translations) >= 2 for translations in by_word.values())
