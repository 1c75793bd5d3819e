"""Words joined to pieces by characters, and what could not be joined."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.models.data import miniature
from headcount.models.data.vocabulary import Vocabulary
from headcount.probe.annotations import Coverage, aligned_text, pieces_of, word_pieces


def test_a_word_has_every_piece_that_shares_a_character():
    #          un happy  cats
    found = word_pieces([(0, 7), (8, 12)], [(0, 2), (2, 7), (7, 12)])
    assert found.pieces == ((0, 1), (2,))
    assert found.unit == (0, 1)
    assert found.coverage == Coverage(words=2, units=2, pieces=3)


def test_words_of_a_range_share_pieces_and_are_one_unit():
    """`du` is de + le; the pieces are `d`, `u`, `chat`."""
    found = word_pieces([(0, 2), (0, 2), (3, 7)], [(0, 1), (1, 2), (3, 7)])
    assert found.pieces == ((0, 1), (0, 1), (2,))
    assert found.unit == (0, 0, 1)
    assert found.unit_pieces == ((0, 1), (2,))
    assert found.coverage == Coverage(words=3, sharing=2, units=2, pieces=3)


def test_a_piece_over_several_tokens_joins_them():
    """`end."` with the pieces `en`, `d.`, `"`: the full stop belongs to `d.`."""
    found = word_pieces([(0, 3), (3, 4), (4, 5)], [(0, 2), (2, 4), (4, 5)])
    assert found.pieces == ((0, 1), (1,), (2,))
    assert found.unit == (0, 0, 1)
    assert found.unit_pieces == ((0, 1), (2,))
    assert found.coverage == Coverage(words=3, sharing=2, units=2, pieces=3, over_several=1)


def test_units_join_through_others():
    found = word_pieces([(0, 2), (2, 4), (4, 6)], [(0, 3), (3, 5), (5, 6)])
    assert found.unit == (0, 0, 0)
    assert found.coverage.over_several == 2


def test_what_has_no_partner_is_counted_on_both_sides():
    """Words: one in the text, one not in it, one that the model drops. Pieces: `▁`, word, `?`."""
    found = word_pieces([(1, 3), (-1, -1), (6, 7)], [(0, 1), (1, 3), (4, 5)])
    assert found.pieces == ((1,), (), ())
    assert found.unit == (0, -1, -1)
    assert found.coverage == Coverage(
        words=3, not_located=1, without_pieces=1, units=1, pieces=3, outside=2
    )
    assert found.coverage.lost == 2
    assert "1 of 3 words have pieces; 2 (66.67%) are left out" in found.coverage.remark()


def test_a_piece_without_characters_belongs_to_the_word_around_it():
    found = word_pieces([(0, 3), (3, 5)], [(0, 3), (1, 1), (3, 3), (3, 5)])
    assert found.pieces == ((0, 1), (3,))
    assert found.coverage.outside == 1


def test_coverage_adds_up():
    one = Coverage(1, 2, 3, 4, 5, 6, 7, 8)
    assert one + one == Coverage(2, 4, 6, 8, 10, 12, 14, 16)
    assert "0 of 0 words" in Coverage().remark()


def test_combining_characters_stay_with_their_word():
    text, spans = "cafe\u0301 noir", [(0, 5), (6, 10)]
    vocabulary = Vocabulary.train([text], "character", 40)
    found = word_pieces(spans, vocabulary.encode([text])[0].offsets)
    assert found.coverage.lost == 0
    assert found.coverage.outside == 1  # the space


def test_every_word_of_the_built_in_corpus_has_pieces():
    pairs = miniature.generate(seed=1, sentences=60).train
    vocabulary = Vocabulary.train([pair.target.text for pair in pairs], "bpe", 400)
    total = Coverage()
    for pair in aligned_text(pairs, "train"):
        sentence = pair.target
        found = pieces_of(sentence, vocabulary.encode([sentence.text])[0].offsets)
        for token in sentence.surface:
            assert found.unit[token.first] == found.unit[token.last] >= 0
        total += found.coverage
    assert total.lost == total.over_several == 0
    assert total.words > total.units > 0
    assert total.outside > 0  # pieces that are a space alone


spans = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), max_size=8).map(
    lambda pairs: sorted((start, start + size) for start, size in pairs)
)


@settings(deadline=None)  # a busy machine is no error
@given(spans, spans)
def test_units_part_the_pieces_and_follow_the_words(words, offsets):
    words = [span for span in words if span[0] < span[1]] + [(-1, -1)]
    found = word_pieces(words, offsets)
    used = [piece for unit in found.unit_pieces for piece in unit]
    assert sorted(used) == sorted(set(used))
    assert len(used) + found.coverage.outside == len(offsets)
    for pieces, unit in zip(found.pieces, found.unit, strict=True):
        assert (unit == -1) == (not pieces)
        assert not pieces or set(pieces) <= set(found.unit_pieces[unit])
    linked = [unit for unit in found.unit if unit >= 0]
    assert linked == sorted(linked)
    assert set(linked) == set(range(found.coverage.units))
