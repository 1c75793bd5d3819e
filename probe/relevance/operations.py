"""One rule an operation: what its backward does with relevance.

The names are those of torch functions and tensor methods alike. See `backward.py` for the
gradient form in which the rules are written; where the plain gradient already IS the rule,
the function is called as it is, and only the ledger is told.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from .backward import FrozenDeviationNorm, WithSlope, scaled_gradient, stabilised
from .rules import Call, RelevanceRules, RuleError, rule

# fmt: off
MOVING = (
    "__get__", "__getitem__", "alias", "broadcast_to", "cat", "chunk", "clone", "concat",
    "concatenate", "contiguous", "cpu", "cuda", "detach", "diagonal", "double", "dropout",
    "expand", "expand_as", "flatten", "flip", "float", "gather", "index_select", "mean",
    "movedim", "narrow", "neg", "permute", "repeat", "repeat_interleave", "requires_grad_",
    "reshape", "reshape_as", "retain_grad", "roll", "select", "split", "split_with_sizes",
    "squeeze", "stack", "sum", "swapaxes", "t", "to", "transpose", "tril", "triu", "type_as",
    "unbind", "unflatten", "unsqueeze", "view", "view_as",
)
# fmt: on
"""Linear in the activations and without a constant term: the plain gradient is the rule."""


@rule(*MOVING)
def moving(rules: RelevanceRules, call: Call) -> Any:
    """Move, sum or scale activations."""
    return call()


@rule("add", "add_", "sub", "sub_", "subtract", "__rsub__", "rsub", "where", "masked_fill")
@rule("masked_fill_")
def adding(rules: RelevanceRules, call: Call) -> Tensor:
    """Sum, z = x + y: each summand keeps its share of z; a constant one is a bias.

    Residual sums and attention masks come by here. A mask of -inf absorbs nothing, since
    nothing arrives behind it.
    """
    made: Tensor = call()
    if rules.ledger is not None:
        with torch.no_grad():
            constant = call.on(torch.zeros_like)  # f(0) is all that does not come from inputs
        if bool(constant.any()):
            _absorb_bias(rules, made, constant)
    return made


@rule("embedding")
def embedding(rules: RelevanceRules, call: Call) -> Tensor:
    """Token vectors begin the graph, whether or not their table can learn."""
    if call.active:
        raise RuleError("no relevance rule is known for an embedding table that is computed")
    vectors: Tensor = call().detach().requires_grad_()
    if rules.ledger is not None:
        # Above the inputs (a relative position bias, say) they are a constant of the model.
        with torch._C.DisableTorchFunction():
            constant, vectors = vectors.detach(), vectors.view_as(vectors)
        _absorb_bias(rules, vectors, constant)
    return vectors


@rule("linear", "addmm")
def linear(rules: RelevanceRules, call: Call) -> Tensor:
    """Linear map, z = x W + b: R_i = sum over j of x_i w_ij R_j / z_j.

    This is the epsilon rule of Bach et al. 2015 (eq. 58). The bias keeps b_j R_j / z_j.
    """
    if call.name == "linear":
        bias = call.argument(2, "bias")
        factors = (call.argument(0, "input"), call.argument(1, "weight"))
    else:  # addmm(bias, x, W)
        bias = call.argument(0, "input")
        factors = (call.argument(1, "mat1"), call.argument(2, "mat2"))
    if any(it is factors[1] for it in call.active) or any(it is bias for it in call.active):
        raise RuleError(f"no relevance rule is known for {call.name} with computed weights")
    made: Tensor = call()
    if bias is not None and rules.ledger is not None:
        _absorb_bias(rules, made, bias.detach())
    return _stable(rules, made)


@rule("matmul", "mm", "bmm", "mv", "einsum")
def matrix_product(rules: RelevanceRules, call: Call) -> Tensor:
    """Sum of products a b: half of the relevance to each factor (AttnLRP, Achtibat et al. 2024).

    Each summand a_ji b_ip is split evenly, for neither factor comes first; their proposition
    3.3. With one factor constant this is a linear map.
    """
    return _stable(rules, _product(call))


@rule("mul", "mul_", "multiply")
def elementwise_product(rules: RelevanceRules, call: Call) -> Tensor:
    """Product a b: half to each activation; beside a weight, a gate or a number, all of it."""
    if call.name == "mul_" and len(call.active) > 1:
        raise RuleError("no relevance rule is known for a product that overwrites its factor")
    return _product(call)


@rule("div", "div_", "divide", "true_divide")
def quotient(rules: RelevanceRules, call: Call) -> Any:
    """Division by a constant is linear."""
    if any(it is call.argument(1, "other") for it in call.active):
        raise RuleError(
            "no relevance rule is known for a division by activations; "
            "write norms and softmax with torch's own functions"
        )
    return call()


@rule("softmax")
def softmax(rules: RelevanceRules, call: Call) -> Tensor:
    """Softmax, s of x: R_i = x_i (R_i' - s_i sum over j of R_j'), R' the relevance of s.

    This is the first-order Taylor expansion of softmax at x (AttnLRP, Achtibat et al. 2024,
    proposition 3.1), and in gradient form exactly softmax's own gradient. The expansion has
    a constant term, s_i - sum_j (ds_i / dx_j) x_j, which behaves like a bias: relevance is
    NOT conserved here, and the ledger notes what the term absorbed.

    With `cp` the weights are constants and pass nothing on.
    """
    made: Tensor = call()
    if rules.softmax == "cp":
        return made.detach()
    if rules.ledger is not None:
        scores, weights = call.active[0].detach(), made.detach()
        axis = call.argument(1, "dim", -1)

        def absorbed(gradient: Tensor) -> Tensor:
            arriving = weights * gradient
            passed = arriving - weights * arriving.sum(axis, keepdim=True)
            # Masked scores are -inf; they get nothing.
            return arriving - torch.where(passed == 0, 0, scores * passed)

        rules.ledger.watch(made, "softmax", absorbed)
    return made


@rule("layer_norm")
def layer_norm(rules: RelevanceRules, call: Call) -> Tensor:
    """Layer norm, (x - mean x) w / deviation + b, with a constant deviation (Ali et al. 2022)."""
    inputs, shape = call.argument(0, "input"), call.argument(1, "normalized_shape")
    weight, bias = (
        None if it is None else it.detach()
        for it in (call.argument(2, "weight"), call.argument(3, "bias"))
    )
    epsilon = call.argument(4, "eps", 1e-5)
    with torch._C.DisableTorchFunction():
        made: Tensor = FrozenDeviationNorm.apply(inputs, list(shape), weight, bias, epsilon)
    if bias is not None and rules.ledger is not None:
        _absorb_bias(rules, made, bias)
    return made


@rule("rsqrt")
def deviation(rules: RelevanceRules, call: Call) -> Tensor:
    """A reciprocal root is how norms without a mean write their deviation: a constant."""
    made: Tensor = call()
    return made.detach()


@rule("relu", "relu_", "leaky_relu")
def rectifier(rules: RelevanceRules, call: Call) -> Any:
    """Where f(x) / x = f'(x), the plain gradient hands all relevance through."""
    return call()


@rule("gelu", "silu", "tanh", "elu", "selu", "celu", "mish", "hardswish", "softsign", "square")
def activation(rules: RelevanceRules, call: Call) -> Tensor:
    """Elementwise f with f(0) = 0: all relevance goes through, so the slope is f(x) / x.

    At x = 0 the slope is its limit f'(0), taken from a very small x.
    """
    inputs = call.active[0]
    with torch.no_grad():
        made: Tensor = call()
        moved = torch.where(inputs == 0, 1e-6, inputs.detach())
        slope = call.on(lambda _: moved) / moved
    with torch._C.DisableTorchFunction():
        return WithSlope.apply(inputs, made, slope)


@rule("pow", "__pow__")
def power(rules: RelevanceRules, call: Call) -> Any:
    """The square of x is x x: half of the relevance to each factor."""
    if call.argument(1, "exponent") != 2:
        raise RuleError("no relevance rule is known for powers other than 2")
    return activation(rules, call)


@rule("scaled_dot_product_attention")
def attention(rules: RelevanceRules, call: Call) -> Tensor:
    """Attention from one kernel, taken apart so that each of its products has its rule."""
    query, key, value = (call.argument(at, it) for at, it in enumerate(("query", "key", "value")))
    mask, rate, causal, scale, grouped = (
        call.argument(at, name, default)
        for at, name, default in (
            (3, "attn_mask", None),
            (4, "dropout_p", 0.0),
            (5, "is_causal", False),
            (6, "scale", None),
            (7, "enable_gqa", False),
        )
    )
    if rate:
        raise RuleError("relevance needs evaluation mode: attention drops out weights")
    with rules:
        if grouped:
            repeats = query.shape[-3] // key.shape[-3]
            key, value = (it.repeat_interleave(repeats, -3) for it in (key, value))
        scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
        scores = (query * scale) @ key.transpose(-2, -1)  # [..., query, key]
        if causal:
            later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
            scores = scores.masked_fill(later, float("-inf"))
        if mask is not None:
            hidden = mask.dtype == torch.bool
            scores = scores.masked_fill(~mask, float("-inf")) if hidden else scores + mask
        return F.softmax(scores, -1) @ value


def _product(call: Call) -> Tensor:
    """Call a function of two factors; where both are activations, each gets half."""
    if len(call.active) > 2:
        raise RuleError(f"no relevance rule is known for {call.name} of more than two activations")
    if len(call.active) < 2:
        made: Tensor = call()
        return made

    def halved(tensor: Tensor) -> Tensor:
        with torch._C.DisableTorchFunction():
            return scaled_gradient(tensor, 0.5)

    one, other = call.active
    # Where the halving is done makes no difference, so it is done where there is less of it.
    with torch.no_grad():
        elements = _elements_of_product(call, one, other)
    if elements is not None and elements <= one.numel() + other.numel():
        return halved(call())
    return call.on(halved)


def _elements_of_product(call: Call, one: Tensor, other: Tensor) -> int | None:
    """Return the elements that a product will have, None where that is not plain to see."""
    if call.name not in ("matmul", "bmm", "mm") or min(one.dim(), other.dim()) < 2:
        return None
    return one.numel() // one.shape[-1] * other.shape[-1]


def _stable(rules: RelevanceRules, made: Tensor) -> Tensor:
    """Apply the epsilon rule's stabiliser to the output of a linear map."""
    if not rules.epsilon:
        return made
    with torch._C.DisableTorchFunction():
        stable, share = stabilised(made, rules.epsilon)
    if rules.ledger is not None:
        lost = made.detach() * (1 - share)
        rules.ledger.watch(stable, "epsilon", lambda gradient: gradient * lost)
    return stable


def _absorb_bias(rules: RelevanceRules, made: Tensor, constant: Tensor) -> None:
    """Let the ledger note what a constant summand of an output keeps."""
    if rules.ledger is not None:

        def absorbed(gradient: Tensor) -> Tensor:
            # A hidden score is the sum with a constant of -inf, and no gradient reaches it.
            return torch.where(gradient == 0, 0, gradient * constant)

        rules.ledger.watch(made, "bias", absorbed)
