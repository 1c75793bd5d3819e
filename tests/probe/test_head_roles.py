"""Roles of heads whose attention weights are written by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from headcount.models.batch import Batch, Tokens
from headcount.models.errors import DataError
from headcount.models.gates import Attention, Head, HeadLayout
from headcount.models.translator import Capture
from headcount.probe.annotations.pieces import word_pieces
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of
from headcount.probe.roles import Arc, ArcObserver, OffsetObserver, joined, walk
from headcount.probe.roles.questions import questions

PAD, BOS, EOS, WORD = 0, 2, 3, 4
ENCODER, DECODER, CROSS = Attention("encoder", 0), Attention("decoder", 0), Attention("cross", 0)


class Shown:
    """A translator that shows written attention; every word is one piece."""

    def __init__(self, layout: HeadLayout, attention: dict[Attention, Tensor]) -> None:
        self.layout, self.attention = layout, attention

    def offsets(self, text: str, side: str) -> list[tuple[int, int]]:
        return [word.span for word in words_of(text)]

    def batches(self, source: Sequence[str], target: Sequence[str], *, tokens: int):
        lengths = [[len(text.split()) for text in side] for side in (source, target)]
        read = [[WORD] * size + [EOS] for size in lengths[0]]
        said = [[BOS] + [WORD] * size for size in lengths[1]]
        labels = [[WORD] * size + [EOS] for size in lengths[1]]
        sides = [Tokens.padded(rows, PAD, {BOS, EOS}) for rows in (read, said, labels)]
        yield Batch(*sides, torch.arange(len(source)))

    def capture(
        self, batch: Batch, *, attention: bool, context: bool = False, values: bool = False
    ) -> Capture:
        return Capture(torch.zeros(0), attention=self.attention)


def looks(*rows: Sequence[int], width: int) -> Tensor:
    """Attention of one head that looks at one key a query  # [query, key]."""
    return torch.nn.functional.one_hot(torch.tensor(rows[0]), width).float()


def tree(text: str, heads: Sequence[int], relations: Sequence[str]) -> AnnotatedSentence:
    words = [
        replace(word, head=head, relation=relation)
        for word, head, relation in zip(words_of(text), heads, relations, strict=True)
    ]
    return AnnotatedSentence("s", text, tuple(words), has_tree=True)


ONE_EACH = HeadLayout.full({"encoder": 1, "decoder": 1, "cross": 1}, 1)
SENTENCE = tree("old cats sleep", [1, 2, -1], ["amod", "nsubj:pass", "root"])
PAIR = (SENTENCE, SENTENCE)


def shown(encoder: list[int], decoder: list[int], cross: list[int]) -> Shown:
    """Encoder reads w w w EOS, the decoder BOS w w w."""
    rows = {ENCODER: encoder, DECODER: decoder, CROSS: cross}
    return Shown(ONE_EACH, {name: looks(row, width=4)[None, None] for name, row in rows.items()})


def test_offsets_count_positions_of_ordinary_queries():
    # EOS and BOS look somewhere as well, and do not count.
    translator = shown(encoder=[1, 2, 3, 0], decoder=[0, 0, 1, 2], cross=[3, 0, 1, 0])
    observer = OffsetObserver(ONE_EACH, 1)
    walk(translator, joined(translator, [PAIR]), [observer])
    profile = observer.profile
    assert profile.counts.sum(2).tolist() == [[3, 3, 3]]
    assert profile.best() == [(1, 1.0), (-1, 1.0), (-1, pytest.approx(2 / 3))]
    assert profile.positional() == [True, True, False]
    assert profile.positional(share=0.6) == [True, True, True]
    cross = profile.shares()[2]
    assert cross[profile.offsets.index(-3)] == pytest.approx(1 / 3)


def test_what_is_further_away_shares_the_last_bin():
    translator = shown(encoder=[3, 3, 3, 3], decoder=[0, 0, 0, 0], cross=[0, 0, 0, 0])
    observer = OffsetObserver(ONE_EACH, 1, furthest=1)
    walk(translator, joined(translator, [PAIR]), [observer])
    encoder = observer.profile.counts[0, 0]
    assert encoder.tolist() == [0, 0, 1, 2]  # offsets -1 0 1, and 3 and 2 beyond


def test_shares_may_be_of_some_sentences_only():
    observer = OffsetObserver(ONE_EACH, 2, furthest=1)
    observer.profile.counts[0, 0] = torch.tensor([1, 3, 0, 0])
    observer.profile.counts[1, 0] = torch.tensor([4, 0, 0, 0])
    assert observer.profile.shares()[0].tolist() == [5 / 8, 3 / 8, 0, 0]
    assert observer.profile.shares([0])[0].tolist() == [1 / 4, 3 / 4, 0, 0]
    assert observer.profile.best([1])[0] == (-1, 1.0)


def test_a_tree_asks_every_dependent_for_its_head_and_every_head_for_its_dependents():
    sentence = tree("a b c d", [2, 2, -1, 2], ["det", "det", "root", "obl:agent"])
    pieces = word_pieces(sentence.spans, [word.span for word in sentence.words])
    asked, unseen = questions(sentence, pieces, causal=False)
    assert unseen == 0
    assert {(q.arc.relation, q.arc.direction, q.query, q.partners) for q in asked} == {
        ("det", "dependent->head", 0, frozenset({2})),
        ("det", "dependent->head", 1, frozenset({2})),
        ("det", "head->dependent", 2, frozenset({0, 1})),
        ("obl", "dependent->head", 3, frozenset({2})),
        ("obl", "head->dependent", 2, frozenset({3})),
    }
    causal, _ = questions(sentence, pieces, causal=True)
    assert {(q.query, q.partners) for q in causal} == {(2, frozenset({0, 1})), (3, frozenset({2}))}


def test_arcs_that_no_pieces_tell_apart_are_counted():
    """`it's` is one piece: the arc from `it` to `'s` cannot be seen, the others can."""
    sentence = tree("it 's a lie", [3, 0, 3, -1], ["nsubj", "cop", "det", "root"])
    pieces = word_pieces(sentence.spans, [(0, 5), (6, 7), (8, 11)])
    asked, unseen = questions(sentence, pieces, causal=False)
    assert unseen == 1
    assert {q.arc.relation for q in asked} == {"nsubj", "det"}
    lost = word_pieces(sentence.spans, [(0, 2), (6, 7), (8, 11)])  # nothing covers 's
    assert questions(sentence, lost, causal=False)[1] == 1


def test_accuracy_is_right_answers_over_questions_beside_the_best_offset():
    # Encoder: old looks at cats (right), cats at old (right, as its head's dependent), sleep at
    # EOS most, but among words at cats (right).
    rows = looks([1, 0, 3, 3], width=4)
    rows[2] = torch.tensor([0.1, 0.3, 0.0, 0.6])
    translator = shown([0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0])
    translator.attention[ENCODER] = rows[None, None]
    sides = joined(translator, [PAIR])
    encoder = ArcObserver(ONE_EACH, "encoder", sides[0], fewest=1)
    decoder = ArcObserver(ONE_EACH, "decoder", sides[1], fewest=1)
    walk(translator, sides, [encoder, decoder])

    scores = encoder.scores
    assert scores.heads == (Head("encoder", 0, 0),)
    found = dict(zip(scores.arcs, scores.accuracy()[:, 0].tolist(), strict=True))
    assert found == {
        Arc("amod", "dependent->head"): 1.0,  # old -> cats
        Arc("amod", "head->dependent"): 1.0,  # cats -> old
        Arc("nsubj", "dependent->head"): 0.0,  # cats -> sleep
        Arc("nsubj", "head->dependent"): 1.0,  # sleep -> cats
    }
    amod = scores.arcs.index(Arc("amod", "dependent->head"))
    baselines = scores.baselines()[amod]
    assert [scores.places[place] for place in baselines.nonzero()[:, 0].tolist()] == ["+1"]
    assert scores.chance()[amod] == pytest.approx(1 / 3)  # three words can be seen
    nsubj = scores.arcs.index(Arc("nsubj", "dependent->head"))
    best = scores.baselines()[nsubj]
    assert {scores.places[place] for place in best.nonzero()[:, 0].tolist()} == {"+1", "last"}

    # In the decoder only earlier partners are asked for; sleep looks at old, which is wrong.
    assert decoder.scores.arcs == (
        Arc("amod", "head->dependent"),
        Arc("nsubj", "head->dependent"),
    )
    assert decoder.scores.accuracy()[1, 0] == 0.0
    assert decoder.scores.chance().tolist() == [pytest.approx(1 / 2), pytest.approx(1 / 3)]


def test_rare_relations_are_left_out():
    translator = shown([0] * 4, [0] * 4, [0] * 4)
    sides = joined(translator, [PAIR])
    assert ArcObserver(ONE_EACH, "encoder", sides[0], fewest=2).scores.arcs == ()
    with pytest.raises(ValueError, match="no tree joins"):
        ArcObserver(ONE_EACH, "cross", sides[0])


def test_no_sentences_are_refused():
    with pytest.raises(DataError, match="no sentences to look for roles in"):
        joined(shown([0], [0], [0]), [])
