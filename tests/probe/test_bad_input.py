"""What cannot be measured is refused in one clear line; what can be has a defined value."""

import math

import pytest
import torch
from made_translators import CARRIER, COPIER

from headcount.models.data.parallel_text import ParallelText
from headcount.models.errors import DataError, SentenceTooLongError, UsageError
from headcount.models.planted import POSITIONS
from headcount.probe.importance import metric

CHEAP = (
    "confidence",
    "entropy",
    "attention_norm",
    "weight_norm",
    "gradient",
    "fisher",
    "leave_one_out",
    "random",
)
LONG = " ".join(["oak"] * POSITIONS)  # one too many with EOS


@pytest.mark.parametrize("shape", [(1, 17), (1, 19), (3, 18), (18,)])
@pytest.mark.parametrize("how", ["logits", "token_losses", "capture", "translate"])
def test_gates_of_wrong_length_are_refused(planted, pairs, shape, how):
    gates = torch.ones(shape)
    batch = next(iter(planted.batches(pairs.source[:2], pairs.target[:2])))
    with pytest.raises(UsageError, match=r"gates have shape .* expected \[1 or 2, 18\]"):
        if how == "translate":
            planted.translate(pairs.source[:2], gates=gates)
        else:
            getattr(planted, how)(batch, gates)


def test_an_unknown_metric_is_named_with_the_closest():
    with pytest.raises(UsageError, match=r"unknown metric 'entropie' .*'entropy'\?"):
        metric["entropie"]


@pytest.mark.parametrize("name", [it for it in CHEAP if it not in ("weight_norm", "random")])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_sentence_without_a_position_is_named(planted, name, side):
    lines = ["oak", "fir", LONG]
    short = ["oak", "fir", "elm"]
    text = ParallelText("long", *((lines, short) if side == "source" else (short, lines)))
    with pytest.raises(SentenceTooLongError, match=f"{side} sentence 3 has 13 tokens.*for 12"):
        metric[name]().scores(planted, text, torch.Generator())


def test_a_sentence_that_just_fits_is_measured(planted):
    line = LONG.removesuffix(" oak")
    found = metric["confidence"]().scores(
        planted, ParallelText("fits", [line], [line]), torch.Generator()
    )
    assert found.mean.isfinite().all()


def test_a_sentence_too_long_to_translate_is_named(planted):
    with pytest.raises(SentenceTooLongError, match="source sentence 2 has 13 tokens"):
        planted.translate(["oak", LONG])


@pytest.mark.parametrize("name", CHEAP)
def test_a_head_that_nobody_hears_has_a_defined_value(planted, pairs, name):
    found = metric[name]().scores(planted, pairs, torch.Generator().manual_seed(0))
    idle = [column for column, head in enumerate(found.layout) if head not in (CARRIER, COPIER)]
    values = found.mean[idle]
    if name in ("confidence", "entropy"):  # they read where it looks, not what it says
        assert values.isfinite().all()
        assert (values > 0).all()
    elif name == "random":
        assert ((values > 0) & (values < 1)).all()
    else:
        assert values.count_nonzero() == 0
    # A layer of nothing but such heads has no length to be normalised by, and stays 0.
    assert found.normalised.isfinite().all()


@pytest.mark.parametrize("name", CHEAP)
def test_a_model_without_any_head_has_no_values_and_no_error(planted, pairs, name):
    empty = planted.without(planted.layout.heads)
    found = metric[name]().scores(empty, pairs.head(3), torch.Generator())
    assert found.values.shape == (3, 0)
    assert found.removal_order() == []


def test_one_sentence_of_one_word(nano):
    text = ParallelText("one", ["oak"], ["oak"])
    for name in CHEAP:
        found = metric[name]().scores(nano, text, torch.Generator())
        assert found.mean.isfinite().all()
    # The one key that counts is all that a query sees, so nothing is left to choose.
    entropy = metric["entropy"]().scores(nano, text, torch.Generator())
    assert entropy.mean.tolist() == [0.0] * len(nano.layout)
    with pytest.raises(DataError, match="ordinary token"):
        _ = metric["entropy"](normalised=True).scores(nano, text, torch.Generator()).mean


def test_a_network_that_computes_nan_gives_nan_and_no_order_of_its_own(nano, pairs):
    broken = nano.in_precision(torch.float64)
    with torch.no_grad():
        broken.network.encoder[0].attention.query.weight.fill_(math.nan)
    found = metric["gradient"]().scores(broken, pairs.head(2), torch.Generator())
    assert found.mean.isnan().any()
    proofs = metric["gradient"]().prove(broken, pairs.head(2), torch.Generator())
    assert not any(proof.holds for proof in proofs)
