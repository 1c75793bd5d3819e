"""Heads whose weights are set by hand for a role are recognised, and no others are."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from headcount.models.gates import Attention, Head
from headcount.models.network import Network, NetworkSettings
from headcount.models.planted import (
    CARRIER,
    COPIER,
    POSITIONS,
    WORDS,
    planted_translator,
    planted_vocabulary,
)
from headcount.models.transformer import TransformerTranslator
from headcount.probe.annotations.sentence import AnnotatedSentence, words_of
from headcount.probe.roles import (
    Arc,
    ArcObserver,
    ArcScores,
    OffsetObserver,
    compared,
    joined,
    testing,
    walk,
)
from headcount.probe.roles.answers import MARGIN

NEXT, TREE = Head("encoder", 0, 0), Head("encoder", 1, 1)
PARTNERS = dict(zip(WORDS[::2], WORDS[1::2], strict=True))
"""Which word is the subject of which, where it is a verb."""


def sentences(count: int, seed: int) -> list[AnnotatedSentence]:
    """Seven words: a verb and its subject anywhere, and five that hang on the verb."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        verb, subject = draw.choice(list(PARTNERS.items()))
        others = [word for word in WORDS if word not in (verb, subject)]
        forms = [verb, subject, *draw.sample(others, k=5)]
        draw.shuffle(forms)
        at = forms.index(verb)
        relations = {verb: "root", subject: "nsubj"}
        words = [
            replace(
                word,
                head=-1 if word.form == verb else at,
                relation=relations.get(word.form, "dep"),
            )
            for word in words_of(" ".join(forms))
        ]
        made.append(AnnotatedSentence(str(number), " ".join(forms), tuple(words), has_tree=True))
    return made


@pytest.fixture(scope="module")
def translator() -> TransformerTranslator:
    """The planted network with two more heads in the encoder: next token, and verb to subject."""
    made = planted_translator()
    network, words = made.network, len(planted_vocabulary())
    place = torch.eye(network.settings.width)[words:]  # [token, width]
    word = torch.eye(words, network.settings.width)  # [vocabulary, width]
    ids = {form: made.vocabularies["source"].encode([form])[0].ids[0] for form in WORDS}
    asks = torch.zeros(words, network.settings.width)  # [vocabulary, width]
    for verb, subject in PARTNERS.items():
        asks[ids[subject], ids[verb]] = 3.0  # the verb sets the subject's feature of the query
    with torch.no_grad():
        for head, query, key in (
            (NEXT, 3 * place.roll(1, 0), 3 * place),
            (TREE, asks, 3 * word),
        ):
            attention = network.attentions[Attention(head.site, head.layer)]
            rows = slice(head.head * attention.head_width, (head.head + 1) * attention.head_width)
            for weight, said in ((attention.query.weight, query), (attention.key.weight, key)):
                weight[rows] = 0.0
                weight[rows][: len(said)] = said
    return made


def observed(translator: TransformerTranslator):
    made = sentences(160, seed=0)
    sides = joined(translator, [(sentence, sentence) for sentence in made])
    assert sides[0].coverage.lost == 0
    offsets = OffsetObserver(translator.layout, len(made))
    arcs = ArcObserver(translator.layout, "encoder", sides[0])
    walk(translator, sides, [offsets, arcs], tokens=2000)
    return offsets.profile, arcs.scores


HALVES = range(0, 160, 2), range(1, 160, 2)


def best_of(scores: ArcScores, floors: list[ArcScores]) -> dict[Arc, testing.Tested]:
    """The head that is chosen for every question on one half, as it does on the other."""
    draw = np.random.default_rng(0)
    found = compared(scores, *HALVES, floors, generator=draw, resamples=0)
    return {it.arc: it for it in found if it.chosen}


def unlearned(seed: int):
    """What is observed of a network with random weights."""
    vocabulary = planted_vocabulary()
    settings = NetworkSettings(
        width=24,
        feed_forward_width=16,
        encoder_layers=2,
        decoder_layers=2,
        heads=3,
        dropout=0.0,
        max_positions=POSITIONS,
    )
    network = Network(settings, settings.full_layout(), len(vocabulary), len(vocabulary))
    network.initialise(torch.Generator().manual_seed(seed)).eval()
    return observed(TransformerTranslator(network, vocabulary, vocabulary))


@pytest.fixture(scope="module")
def floors() -> list[ArcScores]:
    return [unlearned(seed)[1] for seed in (1, 2, 3)]


def test_planted_heads_are_recognised_and_no_others(
    translator: TransformerTranslator, floors: list[ArcScores]
):
    profile, scores = observed(translator)
    found = {
        head: offset
        for head, (offset, share) in zip(translator.layout.heads, profile.best(), strict=True)
        if share >= 0.9
    }
    # The carrier looks at the source word of its own position, which is the next to be said.
    assert {NEXT: 1, CARRIER: 0, COPIER: -1}.items() <= found.items()
    assert TREE not in found
    # Idle heads of the encoder spread their attention evenly: no offset, no arc.
    assert {head for head in found if head.site == "encoder"} == {NEXT}
    best = best_of(scores, floors)
    assert {it.head for it in best.values() if it.effect >= MARGIN} == {TREE}
    found = best[Arc("nsubj", "head->dependent")]
    assert found.effect >= MARGIN
    assert found.accuracy == 1.0
    assert found.baseline < 0.3


def test_random_weights_have_no_roles(floors: list[ArcScores]):
    profile, scores = unlearned(0)
    encoder = [head.site == "encoder" for head in profile.layout.heads]
    assert not any(is_so for is_so, here in zip(profile.positional(), encoder, strict=True) if here)
    best = best_of(scores, floors)
    assert {arc.relation for arc in best} == {"nsubj", "dep"}
    assert not any(it.effect >= MARGIN for it in best.values())


def test_random_weights_know_words_which_is_why_a_floor_is_needed():
    """Heads that never learned anything are far above every fixed place on this little text."""
    best = best_of(unlearned(0)[1], [])
    assert best[Arc("nsubj", "head->dependent")].effect >= MARGIN
