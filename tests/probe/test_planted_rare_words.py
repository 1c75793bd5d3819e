"""A head whose weights are set by hand for rare words is recognised, and no random one is."""

import random

import numpy as np
import pytest
import torch
from made_translators import vocabulary

from headcount.models.gates import Attention, Head
from headcount.models.planted import WORDS, planted_translator
from headcount.models.reinitialised import with_random_weights
from headcount.models.transformer import TransformerTranslator
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of
from headcount.probe.roles import compared, holm, joined, token_observers, walk
from headcount.probe.roles.tokens import RAREST

__all__ = ["vocabulary"]

RARE = Head("encoder", 0, 1)
SENTENCES = 80


@pytest.fixture(scope="module")
def translator(vocabulary) -> TransformerTranslator:
    """The planted network with a head that looks at the word that is last in `WORDS`."""
    made = planted_translator(vocabulary)
    attention = made.network.attentions[Attention("encoder", 0)]
    first = RARE.head * attention.head_width  # one feature of the head: how rare a word is
    with torch.no_grad():
        for weight in (attention.query.weight, attention.key.weight):
            weight[first : first + attention.head_width] = 0.0
        attention.query.bias[first] = 5.0  # whatever stands there asks for the same
        for rank, number in enumerate(ids(made)):
            attention.key.weight[first, number] = 20.0 * rank
    return made


def ids(translator: TransformerTranslator) -> list[int]:
    """The ids of `WORDS`, the more frequent first."""
    return [each[0] for each in translator.vocabularies["source"].encode_ids(list(WORDS))]


@pytest.fixture(scope="module")
def observe(translator):
    """Return what observes a network on the same sentences."""
    draw = random.Random(0)
    texts = [" ".join(draw.sample(WORDS, k=6)) for _ in range(SENTENCES)]
    made = [AnnotatedSentence(str(number), it, words_of(it)) for number, it in enumerate(texts)]
    sides = joined(translator, [(it, it) for it in made])
    counts = {number: 1000 - rank for rank, number in enumerate(ids(translator))}
    asking = token_observers(translator, sides, counts, translator.layout, types=4)

    def observed(network):
        own = [observer.fresh() for observer in asking]
        walk(network, sides, own)
        return [observer.scores for observer in own]

    return observed


@pytest.fixture(scope="module")
def randoms(translator, observe):
    """What is observed of six networks with random weights."""
    return [
        observe(with_random_weights(translator, torch.Generator().manual_seed(seed)))
        for seed in range(6)
    ]


def roles_of(own, floors):
    """Every head's test that holds."""
    halves = range(0, SENTENCES, 2), range(1, SENTENCES, 2)
    tests = []
    for site, scores in enumerate(own):
        others = [floor[site] for floor in floors]
        draw = np.random.default_rng(0)
        tests += compared(scores, *halves, others, generator=draw, resamples=50)
    corrected = holm([row.p for row in tests])
    return [row for row, p in zip(tests, corrected, strict=True) if row.holds(p)]


def test_the_planted_head_is_recognised_and_no_other(translator, observe, randoms):
    found = roles_of(observe(translator), randoms[:2])
    assert {row.head for row in found} == {RARE}
    (rarest,) = [row for row in found if row.arc == RAREST]
    assert rarest.accuracy == 1.0 and rarest.low > 0.1
    assert rarest.chance == pytest.approx(1 / 7)  # EOS can be seen too


def test_other_random_weights_are_the_measure_of_random_weights(randoms):
    """With eight words some random head favours the rare ones; the others show how common it is.

    Beside k others a network is the most extreme one once in k + 1 times, so of six networks,
    each beside the five others, about one may pass, however well the test is corrected.
    """
    alone = [bool(roles_of(own, [])) for own in randoms]
    beside = [
        bool(roles_of(own, randoms[:place] + randoms[place + 1 :]))
        for place, own in enumerate(randoms)
    ]
    assert sum(alone) >= 4
    assert sum(beside) <= 2
