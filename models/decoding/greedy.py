"""Greedy search: the most probable token, each time.

The most probable token has the largest logit, and nothing else has to be known of the others
(`screening`). Where the log-probability is asked for, the vocabulary is normalised for that one
token: a sum over the vocabulary instead of a whole distribution.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .hypothesis import Hypothesis
from .incremental import Prefixes
from .ranking import Rules, largest, worth_leaving


def greedy(
    prefixes: Prefixes, limits: Tensor, rules: Rules, *, log_probability: bool
) -> list[Hypothesis]:
    """Continue every sentence by its most probable token until EOS or its limit.

    Args:
        prefixes: a batch of sentences before its first step.
        limits: most tokens a sentence, EOS counted [sentence]
        rules: special tokens and shortest length.
        log_probability: whether to say log P of what was found.
    """
    paths = Paths(limits, rules, log_probability=log_probability)
    for step in range(int(limits.max())):
        if log_probability:
            gains, tokens = likeliest(prefixes, paths.tokens, rules, step)  # each [row]
        else:
            gains, tokens = None, prefixes.most_probable(paths.tokens, rules.banned(step))
        running = paths.extend(gains, tokens, step)
        if running == 0:
            break
        if worth_leaving(running, len(paths.running)):
            prefixes.keep(paths.close_ranks())
    return paths.found()


def likeliest(prefixes: Prefixes, tokens: Tensor, rules: Rules, step: int) -> tuple[Tensor, Tensor]:
    """Return log P of each row's most probable permitted token, in nats, and the token.

    Args:
        tokens: the newest of every prefix [row, hypothesis]

    Returns:
        # each [row]
    """
    logits = prefixes.logits(tokens)[:, 0]  # [row, vocabulary]
    banned = rules.banned(step)
    others = logits[:, banned]  # [row, banned]
    logits[:, banned] = float("-inf")
    value, found = largest(logits)  # each [row]
    permitted = prefixes.decoder.log_total(logits, value)  # [row]
    # What may not be said keeps its probability, so it belongs to the total.
    return -torch.logaddexp(permitted, (others - value[:, None]).logsumexp(1)), found


class Paths:
    """What the rows of a batch have said, and which of them go on.

    Args:
        limits: most tokens a sentence, EOS counted [sentence]
        rules: special tokens.
        log_probability: whether log P is kept.
    """

    def __init__(self, limits: Tensor, rules: Rules, *, log_probability: bool) -> None:
        count, device = len(limits), limits.device
        self.rules = rules
        self.keeps_log_p = log_probability
        self.limits = limits  # [row]
        self.sentences = torch.arange(count, device=device)  # of each row  # [row]
        self.tokens = torch.full((count, 1), rules.bos, device=device)  # [row, hypothesis]
        self.said = torch.full((count, int(limits.max())), rules.eos, device=device)  # [row, token]
        self.log_p = torch.zeros(count, dtype=torch.float64, device=device)  # [row]
        self.finished = torch.zeros(count, dtype=torch.bool, device=device)  # [row]
        self.running = torch.ones(count, dtype=torch.bool, device=device)  # [row]
        self.left: dict[int, Hypothesis] = {}

    def extend(self, gains: Tensor | None, tokens: Tensor, step: int) -> int:
        """Append a token to every row that goes on; return how many still do.

        Args:
            gains: log P of the tokens in nats, where it is kept [row]
            tokens: their ids [row]
        """
        self.tokens = tokens[:, None]
        if gains is not None:
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
            self.left[sentence] = Hypothesis(said, log_p if self.keeps_log_p else None, done)
