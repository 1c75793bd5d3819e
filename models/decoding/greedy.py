"""Greedy search: the most probable token, each time.

The most probable token has the largest logit, so the vocabulary is normalised only for the
log-probability of that one token: a sum over the vocabulary instead of a whole distribution.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .hypothesis import Hypothesis
from .incremental import Prefixes
from .ranking import Rules, largest, worth_leaving


def greedy(prefixes: Prefixes, limits: Tensor, rules: Rules) -> list[Hypothesis]:
    """Continue every sentence by its most probable token until EOS or its limit.

    Args:
        prefixes: a batch of sentences before its first step.
        limits: most tokens a sentence, EOS counted [sentence]
        rules: special tokens and shortest length.
    """
    paths = Paths(limits, rules)
    for step in range(int(limits.max())):
        logits = prefixes.logits(paths.tokens)  # [row, hypothesis, vocabulary]
        running = paths.extend(*most_probable(prefixes, logits, rules, step), step)
        if running == 0:
            break
        if worth_leaving(running, len(paths.running)):
            prefixes.keep(paths.close_ranks())
    return paths.found()


def most_probable(
    prefixes: Prefixes, logits: Tensor, rules: Rules, step: int
) -> tuple[Tensor, Tensor]:
    """Return log P of each row's most probable permitted token, in nats, and the token.

    Args:
        logits: overwritten [row, hypothesis, vocabulary]

    Returns:
        # each [row]
    """
    logits = logits[:, 0]  # [row, vocabulary]
    banned = rules.banned(step)
    others = logits[:, banned]  # [row, banned]
    logits[:, banned] = float("-inf")
    value, tokens = largest(logits)  # each [row]
    permitted = prefixes.decoder.log_total(logits, value)  # [row]
    # What may not be said keeps its probability, so it belongs to the total.
    return -torch.logaddexp(permitted, (others - value[:, None]).logsumexp(1)), tokens


class Paths:
    """What the rows of a batch have said, and which of them go on.

    Args:
        limits: most tokens a sentence, EOS counted [sentence]
        rules: special tokens.
    """

    def __init__(self, limits: Tensor, rules: Rules) -> None:
        count, device = len(limits), limits.device
        self.rules = rules
        self.limits = limits  # [row]
        self.sentences = torch.arange(count, device=device)  # of each row  # [row]
        self.tokens = torch.full((count, 1), rules.bos, device=device)  # [row, hypothesis]
        self.said = torch.full((count, int(limits.max())), rules.eos, device=device)  # [row, token]
        self.log_p = torch.zeros(count, dtype=torch.float64, device=device)  # [row]
        self.finished = torch.zeros(count, dtype=torch.bool, device=device)  # [row]
        self.running = torch.ones(count, dtype=torch.bool, device=device)  # [row]
        self.left: dict[int, Hypothesis] = {}

    def extend(self, gains: Tensor, tokens: Tensor, step: int) -> int:
        """Append a token to every row that goes on; return how many still do.

        Args:
            gains, tokens: log P in nats and id of the tokens  # each [row]
        """
        self.tokens = tokens[:, None]
        self.log_p += torch.where(self.running, gains, 0)
        self.said[:, step] = tokens
        ended = self.running & (tokens == self.rules.eos)  # [row]
        self.finished |= ended
        self.running = self.running & ~ended & (step + 1 < self.limits)
        return int(self.running.sum())

    def close_ranks(self) -> Tensor:
        """Let the rows that are done leave; return the positions of those that stay  # [row]."""
        self._leave(~self.running)
        kept = self.running.nonzero()[:, 0]  # [row]
        for name in ("limits", "sentences", "tokens", "said", "log_p", "finished", "running"):
            setattr(self, name, getattr(self, name)[kept])
        return kept

    def found(self) -> list[Hypothesis]:
        """Return one hypothesis a sentence."""
        self._leave(torch.ones_like(self.running))
        return [self.left[sentence] for sentence in range(len(self.left))]

    def _leave(self, rows: Tensor) -> None:
        """Write down what `rows` (a mask) have said  # [row]."""
        parts = (self.sentences, self.said, self.limits, self.log_p, self.finished)
        for sentence, ids, limit, log_p, done in zip(
            *(part[rows].tolist() for part in parts), strict=True
        ):
            said = tuple(ids[: ids.index(self.rules.eos)] if done else ids[:limit])
            self.left[sentence] = Hypothesis(said, log_p, done)
