"""The rules against formulas written out by hand, captum, and plain gradients."""

import threading

import pytest
import torch
from captum.attr import LRP
from captum.attr._utils.lrp_rules import EpsilonRule
from torch import nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from headcount.probe.relevance import RelevanceRules, RuleError
from headcount.probe.relevance.ledger import Ledger


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def relevances(function, *inputs, given=None, **options):
    """Return inputs x modified gradients; `given` is the relevance of the output."""
    leaves = [it.clone().requires_grad_() for it in inputs]
    with RelevanceRules(**options):
        output = function(*leaves)
    slope = torch.ones_like(output) if given is None else given / output.detach()
    found = torch.autograd.grad(output, leaves, slope)
    return [leaf.detach() * it for leaf, it in zip(leaves, found, strict=True)]


def test_epsilon_rule_of_a_linear_map():
    x, W, b, R = drawn(3), drawn(4, 3, seed=1), drawn(4, seed=2), drawn(4, seed=3)
    for epsilon in (0.0, 0.3):
        (found,) = relevances(lambda it: F.linear(it, W, b), x, given=R, epsilon=epsilon)
        z = [sum(float(W[j, i] * x[i]) for i in range(3)) + float(b[j]) for j in range(4)]
        assert any(it < 0 for it in z) and any(it > 0 for it in z)
        for i in range(3):
            shares = [
                float(x[i] * W[j, i] * R[j]) / (z[j] + (epsilon if z[j] >= 0 else -epsilon))
                for j in range(4)
            ]
            assert float(found[i]) == pytest.approx(sum(shares), rel=1e-12)


@pytest.mark.parametrize("write", ["matmul", "einsum", "bmm", "at"])
def test_a_product_of_activations_gives_half_to_each_factor(write):
    a, b, R = drawn(2, 3, 4), drawn(2, 4, 5, seed=1), drawn(2, 3, 5, seed=2)
    forms = {
        "matmul": torch.matmul,
        "einsum": lambda a, b: torch.einsum("bij,bjk->bik", a, b),
        "bmm": torch.bmm,
        "at": lambda a, b: a @ b,
    }
    of_a, of_b = relevances(forms[write], a, b, given=R)
    parts = a[..., None] * b[:, None] * (R / (2 * (a @ b)))[:, :, None]  # [batch, i, j, k]
    torch.testing.assert_close(of_a, parts.sum(3))
    torch.testing.assert_close(of_b, parts.sum(1))


def test_either_place_of_the_halving_is_the_same():
    wide = drawn(1, 6, 2), drawn(1, 2, 6, seed=1)  # the product is larger than its factors
    narrow = drawn(1, 2, 6), drawn(1, 6, 2, seed=1)
    for a, b in (wide, narrow):
        of_a, of_b = relevances(torch.matmul, a, b)
        torch.testing.assert_close(of_a.sum(), (a @ b).sum() / 2)
        torch.testing.assert_close(of_b.sum(), (a @ b).sum() / 2)


def test_elementwise_products_and_squares():
    a, b = drawn(5), drawn(5, seed=1)
    of_a, of_b = relevances(torch.mul, a, b)
    torch.testing.assert_close(of_a, a * b / 2)
    torch.testing.assert_close(of_b, a * b / 2)
    for square in (torch.square, lambda it: it**2, lambda it: it * it):
        torch.testing.assert_close(relevances(square, a)[0], a * a)
    torch.testing.assert_close(relevances(lambda it: 3 * it / 2, a)[0], 1.5 * a)


def test_the_softmax_rule():
    x, R = drawn(2, 4), drawn(2, 4, seed=1)
    s = x.softmax(-1)
    for write in (lambda it: it.softmax(-1), lambda it: F.softmax(it, dim=1)):
        (found,) = relevances(write, x, given=R)
        torch.testing.assert_close(found, x * (R - s * R.sum(1, keepdim=True)))


def test_softmax_held_constant_passes_nothing():
    x = drawn(2, 4).requires_grad_()
    with RelevanceRules("cp"):
        weights = x.softmax(-1)
    assert not weights.requires_grad


def test_layer_norm_with_a_constant_deviation():
    x, w, b, R = drawn(2, 6), drawn(6, seed=1), drawn(6, seed=2), drawn(2, 6, seed=3)
    (found,) = relevances(lambda it: F.layer_norm(it, (6,), w, b), x, given=R)
    deviation = (x.var(1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    z = (x - x.mean(1, keepdim=True)) * w / deviation + b
    centring = torch.eye(6, dtype=torch.float64) - 1 / 6  # [to, from]
    for row in range(2):
        matrix = centring * (w / deviation[row])[:, None]  # z - b = matrix x
        expected = x[row] * (matrix.T @ (R[row] / z[row]))
        torch.testing.assert_close(found[row], expected)


def test_layer_norm_without_weights_and_over_two_axes():
    x = drawn(2, 3, 4)
    leaf = x.clone().requires_grad_()
    with RelevanceRules():
        value = F.layer_norm(leaf, (3, 4))
    torch.testing.assert_close(value, F.layer_norm(x, (3, 4)))
    R = x * torch.autograd.grad(value[0, 1, 2], leaf)[0]
    torch.testing.assert_close(R.sum(), value[0, 1, 2].detach())


@pytest.mark.parametrize("name", ["relu", "gelu", "silu", "tanh", "elu", "leaky_relu", "softsign"])
def test_activations_hand_everything_through(name):
    x, R = torch.cat([drawn(5), torch.zeros(1, dtype=torch.float64)]), drawn(6, seed=1)
    function = getattr(F, name)
    leaf = x.clone().requires_grad_()
    with RelevanceRules():
        value = function(leaf)
    torch.testing.assert_close(value, function(x), rtol=0, atol=0)
    alive = value.detach() != 0
    slope = torch.where(alive, R / value.detach(), 1)
    (found,) = torch.autograd.grad(value, leaf, slope)
    torch.testing.assert_close((x * found)[alive], R[alive])
    assert bool(found.isfinite().all())
    if name != "relu":
        slope_at_0 = torch.func.grad(function)(torch.tensor(0.0, dtype=torch.float64))
        assert float(found[-1]) == pytest.approx(float(slope_at_0), abs=1e-5)


def test_masks_of_minus_infinity_make_no_nan():
    q, k, v = drawn(1, 4, 3), drawn(1, 4, 3, seed=1), drawn(1, 4, 3, seed=2)
    later = torch.ones(4, 4, dtype=torch.bool).triu(1)

    def attend(q, k, v):
        scores = (q @ k.transpose(1, 2)).masked_fill(later, float("-inf"))
        return (scores.softmax(-1) @ v)[:, 1]

    ledger = Ledger(1)
    found = relevances(attend, q, k, v, ledger=ledger)
    assert all(bool(it.isfinite().all()) for it in found)
    assert [float(it[:, 2:].abs().sum()) for it in found] == [0, 0, 0]
    assert all(
        bool(it.absorbed.isfinite().all()) for it in ledger.entries if it.absorbed is not None
    )
    total = sum(float(it.sum()) for it in found)
    absorbed = sum(float(it.absorbed) for it in ledger.entries if it.absorbed is not None)
    assert total + absorbed == pytest.approx(float(attend(q, k, v).sum()))


@pytest.mark.parametrize("rule", ["attnlrp", "cp"])
@pytest.mark.parametrize("mask", ["none", "causal", "boolean", "added"])
def test_the_fused_kernel_is_taken_apart(rule, mask):
    q, k, v = (drawn(2, 2, 4, 3, seed=at) for at in range(3))
    hidden = torch.zeros(4, 4, dtype=torch.bool)
    hidden[:, 3] = True
    hidden[3, 0] = True
    if mask == "causal":
        hidden = torch.ones(4, 4, dtype=torch.bool).triu(1)
    numbers = torch.zeros(4, 4, dtype=torch.float64).masked_fill(hidden, float("-inf"))
    options = {
        "none": {},
        "causal": {"is_causal": True},
        "boolean": {"attn_mask": ~hidden},
        "added": {"attn_mask": numbers},
    }[mask]

    def by_hand(q, k, v):
        scores = q @ k.transpose(-2, -1) / 3**0.5
        if mask != "none":
            scores = scores.masked_fill(hidden, float("-inf"))
        return scores.softmax(-1) @ v

    leaves = [it.clone().requires_grad_() for it in (q, k, v)]
    with RelevanceRules(rule):
        fused = F.scaled_dot_product_attention(*leaves, **options)
        plain = by_hand(*leaves)
    torch.testing.assert_close(fused, F.scaled_dot_product_attention(q, k, v, **options))
    weights = drawn(2, 2, 4, 3, seed=9)
    of_fused, of_plain = (
        torch.autograd.grad(it, leaves, weights, materialize_grads=True) for it in (fused, plain)
    )
    for one, other in zip(of_fused, of_plain, strict=True):
        torch.testing.assert_close(one, other)
    assert (float(of_fused[0].abs().sum()) == 0) == (rule == "cp")


def test_a_linear_network_has_gradient_x_input():
    maps = nn.ModuleList(nn.Linear(4, 4).double() for _ in range(3)).requires_grad_(False)
    x = drawn(2, 4)

    def network(states):
        for each in maps:
            states = states + each(states)
        return states[:, 2]

    leaf = x.clone().requires_grad_()
    (plain,) = torch.autograd.grad(network(leaf).sum(), leaf)
    torch.testing.assert_close(relevances(network, x)[0], x * plain)


@pytest.mark.parametrize("epsilon", [1e-9, 0.2])
def test_blocks_of_linear_and_relu_agree_with_captum(epsilon):
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 6), nn.ReLU(), nn.Linear(6, 3)
    ).double()
    for module in network:
        module.rule = EpsilonRule(epsilon)
    x = drawn(4, 5)
    expected = LRP(network).attribute(x.clone().requires_grad_(), target=1)
    leaf = x.clone().requires_grad_()
    with RelevanceRules(epsilon=epsilon):
        logit = network(leaf)[:, 1].sum()
    torch.testing.assert_close(x * torch.autograd.grad(logit, leaf)[0], expected)


def test_epsilon_has_the_sign_of_what_it_stabilises():
    x = torch.tensor([-1e-3, 1e-3, 0.0], dtype=torch.float64)
    eye = torch.eye(3, dtype=torch.float64)
    (found,) = relevances(lambda it: F.linear(it, eye), x, epsilon=1e-3)
    # An unsigned stabiliser would divide the first one by 0.
    torch.testing.assert_close(found, x / 2)


def test_weights_are_not_activations():
    x = drawn(3, 4)
    scale = nn.Parameter(drawn(4, seed=1))
    gate = drawn(3, 1, seed=2).requires_grad_()
    leaf = x.clone().requires_grad_()
    with RelevanceRules() as rules:
        rules.as_weights(gate)
        value = leaf * torch.cat([scale[:2], scale[2:]]) * gate[:, [0]].double()
    of_x, of_gate = torch.autograd.grad(value.sum(), [leaf, gate])
    torch.testing.assert_close(x * of_x, value.detach())
    torch.testing.assert_close(gate * of_gate, value.detach().sum(1, keepdim=True))


def test_embeddings_begin_the_graph_though_their_table_is_frozen():
    table = drawn(5, 3)
    with RelevanceRules():
        vectors = F.embedding(torch.tensor([[1, 4]]), table)
        logit = (vectors * 2).sum()
    assert vectors.requires_grad
    torch.testing.assert_close(
        (vectors * torch.autograd.grad(logit, vectors)[0]).sum(), logit.detach()
    )


class OwnBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


@pytest.mark.parametrize(
    "unknown",
    [
        torch.sigmoid,
        torch.exp,
        lambda it: it.cumsum(0),
        lambda it: it / it.sum(),
        lambda it: 1 / it,
        lambda it: it**3,
        lambda it: F.linear(drawn(2, 4), it[None]),
        lambda it: it.clone().mul_(it),
        lambda it: F.multi_head_attention_forward(
            *[it[None, None]] * 3, 4, 1, *[None] * 4, False, 0.0, drawn(4, 4), None,
            use_separate_proj_weight=True, q_proj_weight=drawn(4, 4), k_proj_weight=drawn(4, 4),
            v_proj_weight=drawn(4, 4),
        )[0],
    ],
)  # fmt: skip
def test_what_has_no_rule_is_refused(unknown):
    with pytest.raises(RuleError, match="no relevance rule"), RelevanceRules():
        unknown(drawn(4).requires_grad_())


def test_a_custom_backward_is_refused_by_the_check():
    leaf = drawn(4).requires_grad_()
    with RelevanceRules() as rules:
        fine = F.layer_norm(leaf, (4,)) @ drawn(4)
        hidden = (OwnBackward.apply(leaf) * 2).sum()
    rules.check(fine)
    with pytest.raises(RuleError, match="OwnBackward"):
        rules.check(hidden)


def test_what_needs_no_gradient_is_left_alone():
    leaf = drawn(4).requires_grad_()
    with RelevanceRules():
        assert torch.sigmoid(drawn(4)).shape == (4,)
        assert int(leaf.argmax()) == int(leaf.detach().argmax())
        with torch.no_grad():
            assert torch.sigmoid(leaf).shape == (4,)


def plain_gradient_of_softmax_product() -> torch.Tensor:
    leaf = drawn(1, 2, 3).requires_grad_()
    return torch.autograd.grad((leaf @ leaf.transpose(1, 2)).square().sum(), leaf)[0]


@pytest.mark.parametrize("ending", ["success", "raise", "refusal", "nested", "thread"])
def test_nothing_is_left_behind(ending):
    before = plain_gradient_of_softmax_product()
    functions = {
        name: getattr(F, name) for name in ("linear", "softmax", "layer_norm", "embedding")
    }
    module = nn.LayerNorm(3).double()
    leaf = drawn(1, 2, 3).requires_grad_()
    if ending == "success":
        with RelevanceRules():
            module(leaf)
    elif ending == "raise":
        with pytest.raises(ZeroDivisionError), RelevanceRules():
            module(leaf)
            _ = 1 / 0
    elif ending == "refusal":
        with pytest.raises(RuleError), RelevanceRules():
            torch.sigmoid(module(leaf))
    elif ending == "nested":
        with RelevanceRules():
            with pytest.raises(ValueError, match="inner"), RelevanceRules("cp"):
                raise ValueError("inner")
            assert leaf.softmax(-1).requires_grad  # the outer rules are back
    else:
        seen = []
        with RelevanceRules():
            thread = threading.Thread(
                target=lambda: seen.append(plain_gradient_of_softmax_product())
            )
            thread.start()
            thread.join()
        torch.testing.assert_close(seen[0], before)
    assert _get_current_function_mode_stack() == []
    assert all(getattr(F, name) is it for name, it in functions.items())
    assert not module._forward_hooks and not module._backward_hooks
    assert module.weight.grad is None
    torch.testing.assert_close(plain_gradient_of_softmax_product(), before)


def test_the_inner_of_two_modes_rules_alone():
    a, b = drawn(2, 3, 4), drawn(2, 4, 5, seed=1)
    alone = relevances(torch.matmul, a, b, epsilon=0.1)
    with RelevanceRules(epsilon=0.5):
        nested = relevances(torch.matmul, a, b, epsilon=0.1)
    for one, other in zip(alone, nested, strict=True):
        torch.testing.assert_close(one, other)


def test_other_modes_still_see_what_is_no_activation():
    class Counting(TorchFunctionMode):
        calls = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.calls += func is torch.ones
            return func(*args, **(kwargs or {}))

    with Counting() as counting, RelevanceRules():
        torch.ones(2)
    assert counting.calls == 1


def test_a_graph_that_was_built_inside_keeps_its_rules_and_can_be_asked_twice():
    leaf = drawn(1, 2, 3).requires_grad_()
    with RelevanceRules():
        value = leaf @ leaf.transpose(1, 2)
    first, second = (torch.autograd.grad(value.sum(), leaf, retain_graph=True)[0] for _ in range(2))
    torch.testing.assert_close(first, second)
    torch.testing.assert_close((leaf * first).sum(), value.sum())
