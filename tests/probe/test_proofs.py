"""The proofs hold where a metric is right, and fail where it is made wrong."""

import math

import pytest
import torch

from headcount.models import attention
from headcount.models.data.parallel_text import ParallelText
from headcount.models.gates import HeadLayout
from headcount.models.planted import planted_translator
from headcount.probe import attention_norm, entropy, slope_metric, weight_norm
from headcount.probe.importance import Proof, metric
from headcount.probe.proving import relative_error, worst

GENERATOR = torch.Generator()
METRICS = ("confidence", "entropy", "attention_norm", "weight_norm", "gradient", "fisher")


def proofs_of(name, translator, pairs) -> dict[str, Proof]:
    some = pairs.select(range(2, 8))
    found = metric[name]().prove(translator, some, torch.Generator().manual_seed(0))
    return {proof.claim: proof for proof in found}


def failing(name, translator, pairs) -> str:
    return " | ".join(
        claim for claim, it in proofs_of(name, translator, pairs).items() if not it.holds
    )


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("which", ["nano", "planted"])
def test_proofs_hold(name, which, pairs, request):
    found = proofs_of(name, request.getfixturevalue(which), pairs)
    assert len(found) >= 2
    assert [claim for claim, it in found.items() if not it.holds] == []


def test_an_even_spread_reaches_its_limit_in_double_precision_too(vocabulary, pairs):
    exact = planted_translator(vocabulary, dtype=torch.float64)
    for normalised in (False, True):
        found = metric["entropy"](normalised=normalised).prove(exact, pairs.head(6), GENERATOR)
        assert [proof.claim for proof in found if not proof.holds] == []
    share = metric["entropy"](normalised=True).scores(exact, pairs.select([7]), GENERATOR)
    assert share.mean[0].item() == pytest.approx(1, abs=1e-14)  # encoder.0.0 is idle


@pytest.mark.parametrize("name", ["entropy", "gradient"])
def test_proofs_hold_on_a_model_that_lost_a_whole_layer(name, nano, pairs):
    smaller = nano.without([head for head in nano.layout if head.site == "encoder"])
    assert failing(name, smaller, pairs) == ""


@pytest.mark.parametrize("name", ["confidence", "entropy", "attention_norm"])
def test_a_look_at_later_tokens_is_found(name, nano, pairs, monkeypatch):
    right = attention.masked_softmax
    monkeypatch.setattr(attention, "masked_softmax", lambda s, v, causal: right(s, v, False))
    assert "later tokens get no attention" in failing(name, nano, pairs)
    assert "logits of the fused one" in failing(name, nano, pairs)


def test_rows_that_do_not_sum_to_one_are_found(nano, pairs, monkeypatch):
    right = attention.masked_softmax
    monkeypatch.setattr(attention, "masked_softmax", lambda *given: right(*given) * 1.01)
    assert "sum to 1" in failing("confidence", nano, pairs)


def test_one_wrong_slope_is_found(nano, pairs, monkeypatch):
    right = slope_metric.loss_slopes

    def wrong(*given, **named):
        for slopes in right(*given, **named):
            slopes[:, 4] *= -1
            yield slopes

    monkeypatch.setattr(slope_metric, "loss_slopes", wrong)
    assert "central differences" in failing("gradient", nano, pairs)
    assert "context" in failing("fisher", nano, pairs)


@pytest.mark.parametrize(
    ("module", "function", "name", "claim"),
    [
        (attention_norm, "value_lengths", "attention_norm", "Gram matrix"),
        (weight_norm, "weight_norms", "weight_norm", "singular values"),
    ],
)
def test_a_wrong_norm_is_found(module, function, name, claim, nano, pairs, monkeypatch):
    right = getattr(module, function)
    monkeypatch.setattr(module, function, lambda *given: right(*given) * 1.01)
    assert claim in failing(name, nano, pairs)


def test_an_entropy_beyond_its_limits_is_found(planted, pairs, monkeypatch):
    right = entropy.row_entropy

    def in_bits(alpha, keys):
        nats, total = right(alpha, keys)
        return nats / math.log(2), total

    monkeypatch.setattr(entropy, "row_entropy", in_bits)
    assert "log of the keys" in failing("entropy", planted, pairs)


def test_an_error_that_is_no_number_is_never_small():
    assert math.isnan(worst(0.0, math.nan))
    assert math.isnan(worst(math.nan, 1.0))
    assert math.isnan(worst(1.0, torch.tensor([0.0, math.nan])))
    assert worst(0.5, torch.tensor([])) == 0.5
    assert not Proof("x", math.nan, 1.0).holds


def test_relative_error_by_hand():
    assert relative_error(torch.tensor([1.0, 4.5]), torch.tensor([1.0, 5.0])) == 0.1
    assert relative_error(torch.tensor([0.25, 0.0]), torch.zeros(2)) == 0.25


class Kinked:
    """One head and the loss |g - 1 - 3e-6| + g, with a kink that a step of 1e-5 crosses."""

    layout = HeadLayout.full({"encoder": 1}, 1)

    def token_losses(self, batch, gates):
        return (gates - 1 - 3e-6).abs() + gates  # [batch, target]


@pytest.mark.parametrize(("slope", "largest"), [(0.0, 1e-6), (1.0, math.inf)])
def test_a_step_that_crosses_a_kink_is_no_evidence(slope, largest):
    slopes = torch.tensor([[slope]], dtype=torch.float64)
    arguments = (Kinked(), None, slopes, torch.Generator().manual_seed(0))
    error = slope_metric._difference_error(*arguments)
    assert error <= largest
    assert slope == 0 or error > 0.1


@pytest.mark.parametrize(
    "name",
    ["leave_one_out", "feature_ablation", "integrated_gradients", "shapley", "lrp"],
)
def test_a_model_that_gives_no_number_for_some_sentences_proves_nothing(name, planted):
    broken = planted.in_precision(torch.float32)
    with torch.no_grad():  # only the longest sentence has a token at the third position
        broken.network.source_positions.table[2] = math.nan
    lines = ["ash", "elm", "oak fir"]
    text = ParallelText("some", lines, lines)
    member = metric[name].from_dict({"tokens": 1}, "here")  # a sentence a batch
    proofs = member.prove(broken, text, torch.Generator().manual_seed(0))
    assert not any(it.holds for it in proofs)
