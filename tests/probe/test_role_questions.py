"""Questions of meaning, about tokens and about links, worked out by hand."""

from dataclasses import replace

import pytest
import torch
from made_translators import copies, planted, vocabulary

from headcount.models.planted import WORDS
from headcount.probe.annotations.pieces import word_pieces
from headcount.probe.annotations.sentence import AnnotatedSentence, Role, Supersense, words_of
from headcount.probe.roles import Arc, joined, source_counts, token_observers
from headcount.probe.roles.asking import Asked, laid
from headcount.probe.roles.questions import Question
from headcount.probe.roles.semantic import semantic_questions
from headcount.probe.roles.tokens import (
    DUPLICATE,
    INDUCTION,
    RAREST,
    TWO_RAREST,
    Read,
    rare_questions,
    repeated_questions,
)

__all__ = ["planted", "vocabulary"]


def asked_of(sentence: AnnotatedSentence, *, causal: bool = False):
    pieces = word_pieces(sentence.spans, [word.span for word in sentence.words])
    found, unseen = semantic_questions(sentence, pieces, causal=causal)
    return {(it.arc.relation, it.arc.direction, it.query, it.partners) for it in found}, unseen


def made(text: str, **layers) -> AnnotatedSentence:
    return AnnotatedSentence("s", text, words_of(text), **layers)


def test_roles_ask_both_ways():
    sentence = made("Ann saw Ben", roles=(Role(1, 0, "agent"), Role(1, 2, "theme")))
    assert asked_of(sentence)[0] == {
        ("role", "argument->predicate", 0, frozenset({1})),
        ("role", "argument->predicate", 2, frozenset({1})),
        ("role", "predicate->argument", 1, frozenset({0, 2})),
        ("agent", "argument->predicate", 0, frozenset({1})),
        ("theme", "argument->predicate", 2, frozenset({1})),
    }
    causal = asked_of(sentence, causal=True)[0]
    assert {(direction, query) for _, direction, query, _ in causal} == {
        ("argument->predicate", 2),
        ("predicate->argument", 1),
    }


def test_words_of_one_supersense_ask_for_each_other():
    classes = ["noun.animal", "??", "noun.animal", "noun.food", "noun.animal"]
    senses = tuple(Supersense((place,), "", label) for place, label in enumerate(classes))
    found, _ = asked_of(made("cat it dog fish cow", supersenses=senses))
    assert {(query, partners) for _, _, query, partners in found} == {
        (0, frozenset({2, 4})),
        (2, frozenset({0, 4})),
        (4, frozenset({0, 2})),
    }


@pytest.mark.parametrize(
    ("upos", "kind"), [("PRON", "pronoun"), ("NOUN", "sense"), ("VERB", "agreement")]
)
def test_a_focus_asks_for_its_cue(upos, kind):
    words = list(words_of("the dog that it saw"))
    words[3] = replace(words[3], upos=upos)
    comments = (("focus", "4"), ("cue", "2"))
    sentence = AnnotatedSentence("s", "the dog that it saw", tuple(words), comments=comments)
    assert asked_of(sentence)[0] == {(kind, "word->what decides it", 3, frozenset({1}))}


def test_what_no_pieces_tell_apart_is_counted():
    sentence = made("Ann saw Ben", roles=(Role(1, 0, "agent"), Role(1, 2, "theme")))
    pieces = word_pieces(sentence.spans, [(0, 7), (8, 11)])  # `Ann saw` is one piece
    found, unseen = semantic_questions(sentence, pieces, causal=False)
    assert unseen == 3  # agent, and role both ways
    assert {it.query for it in found} == {0, 1}


def read(*ids: int, special: int = 3) -> Read:
    return Read(ids, tuple(each != special for each in ids))


def test_the_rarest_is_asked_for_where_it_is_rare():
    counts = {10: 900, 11: 7, 12: 2, 13: 2}
    sentence = read(10, 11, 12, 10, 3)
    found = rare_questions(sentence, sentence, counts, frequent={10})
    assert {(it.arc, it.query, it.partners) for it in found} == {
        (arc, query, partners)
        for query in range(4)
        for arc, partners in ((RAREST, frozenset({2})), (TWO_RAREST, frozenset({1, 2})))
    }
    tied = read(10, 12, 13, 3)
    assert {it.partners for it in rare_questions(tied, tied, counts, {10})} == {frozenset({1, 2})}
    assert rare_questions(sentence, sentence, counts, frequent={10, 11, 12}) == []
    short = read(12, 10, 3)
    assert rare_questions(short, short, counts, frequent={10}) == []
    # A token that was never read in training is the rarest of all.
    new = read(10, 12, 99, 3)
    assert {it.partners for it in rare_questions(new, new, counts, {10}) if it.arc == RAREST} == {
        frozenset({2})
    }


def test_repeated_tokens_by_hand():
    # BOS a b a b c
    sentence = read(3, 20, 21, 20, 21, 22)
    causal = {(it.arc, it.query, it.partners) for it in repeated_questions(sentence, causal=True)}
    assert causal == {
        (DUPLICATE, 3, frozenset({1})),
        (DUPLICATE, 4, frozenset({2})),
        (INDUCTION, 3, frozenset({2})),
        (INDUCTION, 4, frozenset({3})),
    }
    both = {(it.query, it.partners) for it in repeated_questions(sentence, causal=False)}
    assert both == {
        (1, frozenset({3})),
        (3, frozenset({1})),
        (2, frozenset({4})),
        (4, frozenset({2})),
    }
    # What follows a token that was just repeated is the token itself, and cannot be an answer.
    twice = repeated_questions(read(3, 20, 20), causal=True)
    assert [it.arc for it in twice] == [DUPLICATE]


def test_counts_are_of_ordinary_source_tokens(planted):
    text = copies("made", seed=0, sentences=10)
    counts = source_counts(planted, text)
    words = " ".join(text.source).split()
    for form in WORDS:
        (number,) = planted.vocabularies["source"].encode_ids([form])[0]
        assert counts[number] == words.count(form)
    assert sum(counts.values()) == len(words)


def test_every_site_is_asked_what_it_can_see(planted):
    sentences = [made("ash elm fir ash elm")]
    sides = joined(planted, [(it, it) for it in sentences])
    # Without counts no word is known to be rare.
    encoder, decoder, cross = token_observers(planted, sides, {}, planted.layout, fewest=1)
    assert encoder.scores.arcs == (DUPLICATE,)
    assert decoder.scores.arcs == (DUPLICATE, INDUCTION)
    assert cross.scores.arcs == ()
    asked = dict(zip(decoder.scores.arcs, decoder.scores.asked[0].tolist(), strict=True))
    assert asked == {DUPLICATE: 2, INDUCTION: 2}
    # The second ash (position 4 of BOS ash elm fir ash elm) sees five positions, elm six.
    chance = decoder.scores.by_chance[0]
    assert chance[0] == pytest.approx(1 / 5 + 1 / 6)


def test_questions_are_laid_out_without_those_of_small_kinds():
    det, obl = Arc("det", "up"), Arc("obl", "up")
    first = [Question(det, 1, frozenset({0, 3})), Question(obl, 2, frozenset({1}))]
    third = [Question(det, 2, frozenset({4}))]
    given = [(first, 1), ([], 0), (third, 2)]
    everything = laid(Asked(iter(given), [5, 5, 5]), fewest=2)
    assert (everything.arcs, everything.unseen) == ((det,), 3)
    assert everything.starts.tolist() == [0, 1, 1, 2]
    places, numbers, partner_of, partners = everything.of(torch.tensor([2, 1, 0]))
    assert (places.tolist(), numbers.tolist()) == ([0, 2], [1, 0])  # of both det questions
    assert (partner_of.tolist(), partners.tolist()) == ([0, 1, 1], [4, 0, 3])
    assert laid(Asked(given, [5, 5, 5]), fewest=3).arcs == ()  # two queries ask for three arcs
    assert laid(Asked(given, [5, 5, 5], by_arc=True), fewest=3).arcs == (det,)
