"""Relevance asked of a Translator: of its heads, of its source and target tokens.

The start is one number a target position, a logit or the difference of two, teacher-forced;
relevance is in its unit. Four ways to start:

- `top`: the largest logit: what the model says here, right or wrong (Voita et al. 2019).
- `reference`: the logit of the reference's token.
- `contrast`: the largest logit minus that of its rival, which is the reference's token
  where the model says another, and else the runner-up: why this AND NOT that. What speaks
  for both alike cancels (Yin & Neubig 2022).
- `pair`: the logit of one given token minus that of another, at every position: why this
  word and not that one, whatever the model says.

A head's relevance is its gate times the gate's derivative under the rules, at open gates;
a token's is the inner product of what enters the first layer at its position (embedding and
position together) with its modified gradient. The target prefix of position t is tokens
0 ... t of the decoder's input, BOS being token 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import torch
from pydantic import Field, model_validator
from torch import Tensor

from ...models.batch import Batch
from ...models.errors import UsageError
from ...models.settings import Settings
from ...models.translator import Capture, Translator
from . import operations as operations  # the rules join their table when it is imported
from .ledger import Ledger, Place
from .rules import RelevanceRules, Softmax

__all__ = [
    "RelevanceSettings",
    "TokenRelevance",
    "head_relevance",
    "head_relevance_both_ways",
    "head_relevance_by_token",
    "token_relevance",
]

HALF = (torch.float16, torch.bfloat16)


class RelevanceSettings(Settings):
    """How relevance is propagated, and from where.

    Args:
        rule: softmax by the `attnlrp` rule, or attention weights held constant (`cp`).
        epsilon: signed stabiliser of linear maps and matrix products; 0 is exact and safe.
        start: the `top` logit, the `reference` token's, the `contrast` of the top one
            with the reference's (where they are the same, with the runner-up), or a given `pair`.
        pair: with `pair`, the target tokens whose logits are contrasted, the second subtracted.
    """

    rule: Softmax = "attnlrp"
    epsilon: float = Field(default=0.0, ge=0)
    start: Literal["top", "reference", "contrast", "pair"] = "top"
    pair: tuple[int, int] | None = None

    @model_validator(mode="after")
    def _pair_goes_with_its_start(self) -> Self:
        if (self.start == "pair") != (self.pair is not None):
            raise ValueError("start = 'pair' and the two tokens of `pair` go together")
        if self.pair is not None and self.pair[0] == self.pair[1]:
            raise ValueError("a token contrasted with itself explains nothing; give two tokens")
        return self


@dataclass(frozen=True)
class TokenRelevance:
    """What every target position of a batch rested on, in units of its logit.

    Args:
        source: relevance of the source tokens  # [batch, target, source]
        prefix: relevance of the decoder's input tokens  # [batch, target, target]
        heads: relevance of the heads  # [batch, target, head]
        start: the logit, or difference of logits, that was explained  # [batch, target]
        chosen: the token whose logit that is  # [batch, target]
        rival: with `contrast` and `pair` the other token, else -1  # [batch, target]
        absorbed: what no input received, by place and kind  # each [batch, target]

    Everything is float64 on the CPU, and 0 at padded target positions.
    """

    source: Tensor
    prefix: Tensor
    heads: Tensor
    start: Tensor
    chosen: Tensor
    rival: Tensor
    absorbed: dict[tuple[Place, str], Tensor]

    @property
    def received(self) -> Tensor:
        """Return what all inputs received together  # [batch, target]."""
        return self.source.sum(2) + self.prefix.sum(2)

    @property
    def withheld(self) -> Tensor:
        """Return what biases, softmax and epsilon absorbed together  # [batch, target]."""
        return sum(self.absorbed.values(), torch.zeros_like(self.start))

    @property
    def source_share(self) -> Tensor:
        """Return how much of all absolute relevance lies on source tokens  # [batch, target].

        Between 0 and 1; 0 where nothing has any. Absolute values, because tokens that speak
        against the output would else cancel others and push shares beyond 0 and 1. Voita et
        al. 2021 avoid the signs by a rule that propagates positive parts only.
        """
        source, prefix = self.source.abs().sum(2), self.prefix.abs().sum(2)
        total = source + prefix
        return torch.where(total > 0, source / total, 0)


@dataclass(frozen=True)
class Traced:
    """A forward under the rules, ready to be asked."""

    gates: Tensor
    seen: Capture
    start: Tensor
    chosen: Tensor
    rival: Tensor
    ledger: Ledger | None


def head_relevance(
    translator: Translator, batch: Batch, settings: RelevanceSettings = RelevanceSettings()
) -> Tensor:
    """Return every head's relevance for each sentence, summed over its target positions.

    One forward and one backward for all heads.

    Args:
        translator: its weights and their gradients stay as they are.
        batch: sentence pairs for teacher forcing.
        settings: rules and start.

    Returns:
        relevance in units of the logit, float64, not normalised  # [batch, head]

    Raises:
        RuleError: the network does something no rule is known for.
    """
    traced = trace(translator, batch, settings)
    (relevance,) = modified_gradients(traced.start, torch.ones_like(traced.start), [traced.gates])
    return relevance.cpu().double()  # the gates are 1


def head_relevance_both_ways(
    translator: Translator, batch: Batch, settings: RelevanceSettings = RelevanceSettings()
) -> tuple[Tensor, Tensor]:
    """Return `head_relevance`, and the same read off the heads' outputs, as a check.

    Returns:
        gate x derivative, and output x modified gradient summed over neurons and positions
        # each [batch, head]
    """
    traced = trace(translator, batch, settings, context=True)
    context = traced.seen.context
    names = [name for name in context if context[name].shape[2]]
    outputs = [context[name] for name in names]  # [batch, query, head, head_width]
    of_gates, *of_outputs = modified_gradients(
        traced.start, torch.ones_like(traced.start), [traced.gates, *outputs]
    )
    by_output = torch.zeros_like(of_gates)
    for name, output, slope in zip(names, outputs, of_outputs, strict=True):
        by_output[:, translator.layout.slices[name]] = (
            (output.detach() * slope).sum((1, 3)).to(by_output)
        )
    return of_gates.cpu().double(), by_output.cpu().double()


def head_relevance_by_token(
    translator: Translator, batch: Batch, settings: RelevanceSettings = RelevanceSettings()
) -> Tensor:
    """Return every head's relevance for each target position; see `head_relevance`.

    One backward a position; positions sum to the sentence.

    Returns:
        relevance, float64, 0 at padded positions  # [batch, target, head]
    """
    traced = trace(translator, batch, settings)
    found = [relevance for (relevance,) in _by_position(traced, [traced.gates])]
    return torch.stack(found, 1).cpu().double()


def token_relevance(
    translator: Translator, batch: Batch, settings: RelevanceSettings = RelevanceSettings()
) -> TokenRelevance:
    """Return what each target position rested on, and the whole balance of its relevance.

    After Voita et al. 2021 ("Analyzing the Source and Target Contributions to Predictions in
    Neural Machine Translation"), with the signed rules of this folder. One backward a target
    position: for examples and for samples of sentences.

    Args:
        translator: its weights and their gradients stay as they are.
        batch: sentence pairs for teacher forcing.
        settings: rules and start.
    """
    traced = trace(translator, batch, settings, balanced=True)
    states = traced.seen.states
    inputs = [states["encoder"][0], states["decoder"][0]]  # [batch, token, width]
    assert traced.ledger is not None
    rows: list[list[Tensor]] = []
    absorbed: dict[tuple[Place, str], Tensor] = {}
    shape = traced.start.shape
    for position, gradients in enumerate(_by_position(traced, [*inputs, traced.gates])):
        *of_inputs, heads = gradients
        pairs = zip(inputs, of_inputs, strict=True)
        rows.append([*((it.detach() * slope).sum(2) for it, slope in pairs), heads])
        for key, amount in traced.ledger.by_place(states).items():
            absorbed.setdefault(key, torch.zeros(shape, dtype=torch.float64))
            absorbed[key][:, position] = amount
    source, prefix, by_head = (
        torch.stack(parts, 1).cpu().double() for parts in zip(*rows, strict=True)
    )
    return TokenRelevance(
        source,
        prefix,
        by_head,
        traced.start.detach().cpu().double(),
        traced.chosen.cpu(),
        traced.rival.cpu(),
        absorbed,
    )


def computable(translator: Translator) -> Translator:
    """Return a translator whose weights are precise enough, itself wherever possible.

    In half precision the backward underflows: relevances of single positions are below
    float16's smallest numbers, and bfloat16 keeps eight bits of what must cancel.
    """
    weights = translator.head_weights(translator.layout.by_attention[0][0])
    return translator.in_precision(torch.float32) if weights.value.dtype in HALF else translator


def starting_logits(
    logits: Tensor, labels: Tensor, start: str, pair: tuple[int, int] | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return what relevance starts from at each position, and the tokens it belongs to.

    Args:
        logits: [batch, target, vocabulary]
        labels: the reference's tokens [batch, target]
        start, pair: as in `RelevanceSettings`.

    Returns:
        the number to explain, its token, and with `contrast` and `pair` the rival (else -1)
        # each [batch, target]

    Raises:
        UsageError: a token of the pair that the vocabulary does not have.
    """
    if pair is not None:
        chosen, rival = (torch.full_like(labels, token) for token in checked(pair, logits.shape[2]))
        return _at(logits, chosen) - _at(logits, rival), chosen, rival
    chosen = labels if start == "reference" else logits.argmax(-1)  # [batch, target]
    value = _at(logits, chosen)
    if start != "contrast":
        return value, chosen, torch.full_like(chosen, -1)
    runner_up = logits.detach().scatter(-1, chosen[..., None], -torch.inf).argmax(-1)
    rival = torch.where(chosen == labels, runner_up, labels)  # [batch, target]
    return value - _at(logits, rival), chosen, rival


def checked(pair: tuple[int, int], vocabulary: int) -> tuple[int, int]:
    """Return the pair, whose tokens a vocabulary of that size has."""
    for token in pair:
        if not 0 <= token < vocabulary:
            raise UsageError(f"token {token} is outside the target vocabulary of {vocabulary}")
    return pair


def _at(logits: Tensor, tokens: Tensor) -> Tensor:
    return logits.gather(-1, tokens[..., None]).squeeze(-1)  # [batch, target]


def trace(
    translator: Translator,
    batch: Batch,
    settings: RelevanceSettings,
    *,
    balanced: bool = False,
    context: bool = False,
    maps: bool = False,
) -> Traced:
    """Run a batch under the rules.

    Args:
        balanced: whether to keep a ledger and the states between layers.
        context: whether to keep the heads' outputs.
        maps: whether to keep outputs, values and attention weights.
    """
    translator = computable(translator)
    layout = translator.layout
    gates = layout.ones(len(batch), dtype=torch.float64).requires_grad_()  # [batch, head]
    ledger = Ledger(len(batch)) if balanced else None
    device = translator.device.type
    rules = RelevanceRules(settings.rule, settings.epsilon, ledger)
    with torch.enable_grad(), torch.autocast(device, enabled=False):
        with rules:
            seen = translator.capture(
                batch,
                rules.as_weights(gates),
                attention=maps,
                context=context or maps,
                states=balanced,
                values=maps,
            )
        rules.check(seen.logits)
        start, chosen, rival = starting_logits(
            seen.logits, batch.labels.ids, settings.start, settings.pair
        )
        start = start.masked_fill(~batch.labels.real, 0)  # [batch, target]
    return Traced(gates, seen, start, chosen, rival, ledger)


def _by_position(traced: Traced, inputs: list[Tensor]) -> Iterator[list[Tensor]]:
    """Yield the modified gradients of one target position's start after another's."""
    for position in range(traced.start.shape[1]):
        if traced.ledger is not None:
            traced.ledger.clear()
        chosen = torch.zeros_like(traced.start)  # [batch, target]
        chosen[:, position] = 1
        yield modified_gradients(traced.start, chosen, inputs, again=True)


def modified_gradients(
    start: Tensor, chosen: Tensor, inputs: list[Tensor], *, again: bool = False
) -> list[Tensor]:
    """Return the modified gradients of a sum over positions, 0 where it depends on nothing.

    Args:
        start: what is explained [batch, target]
        chosen: which positions are summed, 1 or 0 [batch, target]
        again: whether the same graph will be asked once more.
    """
    # Autocast, where a caller has switched it on, would round matrix products on the way back.
    with torch.autocast(start.device.type, enabled=False):
        return list(
            torch.autograd.grad(
                start, inputs, chosen, retain_graph=again, allow_unused=True, materialize_grads=True
            )
        )
