"""Relevance: how much of an output each part of the network accounts for.

Layer-wise relevance propagation (LRP; Bach et al. 2015, PLOS ONE) starts with one output, a
logit, and hands it down through the network: every operation divides the relevance of its
output among its inputs by a rule, so that nothing is lost on the way. What arrives at the
embeddings says which tokens the output rested on; what passes a head says how much of it
the head carried.

`rules.py` replaces the backward of functions while its `with` lasts, `operations.py` holds
one rule an operation, `ledger.py` writes down what cannot be handed to any input, and
`tracing.py` puts the questions to a Translator; `maps.py` says which keys a head's relevance
came from.
"""

from .maps import relevance_maps
from .rules import RelevanceRules, RuleError
from .tracing import (
    RelevanceSettings,
    TokenRelevance,
    head_relevance,
    head_relevance_by_token,
    token_relevance,
)

__all__ = [
    "RelevanceRules",
    "RelevanceSettings",
    "RuleError",
    "TokenRelevance",
    "head_relevance",
    "head_relevance_by_token",
    "relevance_maps",
    "token_relevance",
]
