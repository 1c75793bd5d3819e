"""The squared gradient."""

import torch
from made_translators import CARRIER, COPIER

from headcount.probe.fisher import Fisher
from headcount.probe.gradient import Gradient

GENERATOR = torch.Generator()


def test_fisher_is_the_square_of_each_sentences_gradient(nano, pairs):
    slopes = Gradient().scores(nano, pairs, GENERATOR)
    found = Fisher().scores(nano, pairs, GENERATOR)
    torch.testing.assert_close(found.values, slopes.values**2)
    torch.testing.assert_close(found.mean, (slopes.values**2).mean(0))
    assert bool((found.mean > slopes.mean**2).all())
    assert found.unit == "nats²"


def test_the_planted_carrier_comes_first_and_idle_heads_get_nothing(planted, pairs):
    found = Fisher().scores(planted, pairs, GENERATOR)
    assert found.removal_order()[-2:] == [COPIER, CARRIER]
    assert sorted(found.mean.tolist())[:16] == [0] * 16
