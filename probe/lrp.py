"""LRP: how much of what the model says a head carries.

    v_h = R_h / sum over heads k of the layer of |R_k|,    R_h = g_h dz/dg_h under the LRP rules

z is the sum over target positions of the logit that the model ranks first; the derivative
is taken with the backward rules of `relevance/`. R_h is the relevance that passes the head's
output, summed over its neurons and positions, of one sentence. It is normalised over the
heads of its layer (one attention sublayer) and averaged over sentences, as in Voita et al.
2019, section 4; a layer without any relevance stays at 0.

The sign is kept: a head below 0 speaks against what the model says. Values of one layer are
at most 1 in absolute sum, so LRP ranks heads WITHIN a layer; two layers can be compared only
as far as a head's share of its own layer says something.

Where all activations are ReLU and epsilon is 0, LRP differs from gradient x input in three
places only: the deviation in layer norms is constant, products of activations halve their
relevance, and with `cp` attention weights are constant.

Pitfalls: logits have no zero of their own (a constant added to all of them changes no
probability); `contrast` explains a difference of logits instead. LRP conserves relevance
only up to biases and to the softmax rule: `prove` closes that balance, and says how large
they are. Half precision underflows and is computed in float32.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..models.data.parallel_text import ParallelText
from ..models.gates import HeadLayout
from ..models.translator import Translator
from .importance import HeadScores, Metric, Proof, empty_scores, metric
from .proving import relative_error, worst
from .relevance.ledger import KINDS
from .relevance.tracing import (
    RelevanceSettings,
    TokenRelevance,
    computable,
    head_relevance,
    head_relevance_both_ways,
    token_relevance,
)

PROVEN = 8  # sentences of a proof
_STARTS = {
    "top": "the largest logit of each target position",
    "reference": "the logit of the reference's token",
    "contrast": "the largest logit minus that of the reference's token, or of the runner-up "
    "where they are the same",
    "pair": "the logit of one given token minus that of another",
}


@metric("lrp")
class Lrp(RelevanceSettings, Metric):
    """Relevance of the top logit that passes the head, as a share of its layer, signed.

    Args:
        rule, epsilon, start, pair: as in `RelevanceSettings`.
    """

    def remarks(self) -> tuple[str, ...]:
        """Say which rules were used and what the sign means."""
        softmax = "held constant (cp)" if self.rule == "cp" else "by the AttnLRP softmax rule"
        return (
            f"LRP starts from {_STARTS[self.start]}; attention weights {softmax}, layer norms "
            f"with a constant deviation, epsilon {self.epsilon:g}.",
            "LRP is a head's share of its layer's absolute relevance, with its sign: below 0 it "
            "speaks against what the model says. Models in half precision are computed in float32.",
        )

    def scores(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> HeadScores:
        """Measure every head's relevance; see `Metric.scores`.

        Raises:
            RuleError: the network does something no rule is known for.
        """
        translator = computable(translator)
        values = empty_scores(data, translator.layout)
        for batch in self.batches(translator, data):
            relevance = head_relevance(translator, batch, self)  # [batch, head]
            values[batch.indices] = share_of_layer(relevance, translator.layout)
        unit = "share of the layer"
        return HeadScores(translator.layout, values, torch.ones_like(values), unit)

    def prove(
        self, translator: Translator, data: ParallelText, generator: torch.Generator
    ) -> tuple[Proof, ...]:
        """Close the balance of relevance, and look for relevance of later target tokens.

        Args:
            translator, data, generator: those that `scores` was given.
        """
        translator = computable(translator)
        found = [
            token_relevance(translator, batch, self)
            for batch in self.batches(translator, data.head(PROVEN))
        ]
        open_balance = later = 0.0
        for it in found:
            open_balance = worst(open_balance, balance_error(it, absorbed=True))
            later = worst(later, it.prefix.triu(1).abs())
        plain = torch.cat([balance_error(it, absorbed=False) for it in found]).mean()
        shares = ", ".join(f"{kind} {share:+.1%}" for kind, share in absorbed_shares(found).items())
        return (
            Proof(
                "relevance of the inputs and what was absorbed sum to the logit "
                f"(inputs alone are {plain:.1%} off; absorbed: {shares})",
                open_balance,
                tolerance_of(translator),
                "share of the logit",
            ),
            Proof("no relevance of later target tokens", later, 0.0, "logit"),
            Proof(
                "gate x derivative is the relevance that passes the head's output",
                self._gates_against_outputs(translator, data.head(PROVEN)),
                tolerance_of(translator),
                "share of the largest",
            ),
        )

    def _gates_against_outputs(self, translator: Translator, data: ParallelText) -> float:
        """Return how far the gates' relevance is from that of the heads' outputs."""
        error = 0.0
        for batch in self.batches(translator, data):
            error = worst(error, relative_error(*head_relevance_both_ways(translator, batch, self)))
        return error


def share_of_layer(relevance: Tensor, layout: HeadLayout) -> Tensor:
    """Divide relevances by the absolute sum of their attention sublayer.

    Args:
        relevance: [..., head]
        layout: the heads.

    Returns:
        shares between -1 and 1; a layer of zeros stays zeros  # [..., head]
    """
    shares = torch.zeros_like(relevance)
    for columns in layout.slices.values():
        part = relevance[..., columns]  # [..., head]
        total = part.abs().sum(-1, keepdim=True)  # [..., 1]
        shares[..., columns] = torch.where(total > 0, part / total, 0)
    return shares


def balance_error(found: TokenRelevance, *, absorbed: bool) -> Tensor:
    """Return by how much relevance misses the logits of each sentence  # [batch].

    |sum of R - sum of logits| / sum of |logits|, over the target positions of a sentence.

    Args:
        absorbed: whether to count what biases, softmax and epsilon absorbed; without it this
            is the plain relative conservation error.
    """
    total = found.received + found.withheld if absorbed else found.received  # [batch, target]
    return (total - found.start).sum(1).abs() / found.start.abs().sum(1)


def absorbed_shares(found: list[TokenRelevance]) -> dict[str, float]:
    """Return what each kind absorbed, signed, as a share of all absolute logits."""
    logits = sum(float(it.start.abs().sum()) for it in found)
    amounts = dict.fromkeys(KINDS, 0.0)
    for one in found:
        for (_, kind), amount in one.absorbed.items():
            amounts[kind] += float(amount.sum())
    return {kind: amount / logits if logits else 0.0 for kind, amount in amounts.items()}


def tolerance_of(translator: Translator) -> float:
    """Return the open balance that is rounding in a translator's precision."""
    weights = translator.head_weights(translator.layout.by_attention[0][0])
    return 1e-9 if weights.value.dtype == torch.float64 else 1e-4
