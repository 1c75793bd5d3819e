"""Greedy search: the most probable token, each time."""

from __future__ import annotations

import torch
from torch import Tensor

from .hypothesis import Hypothesis
from .incremental import Prefixes
from .ranking import Rules, best, worth_leaving


def greedy(prefixes: Prefixes, limits: Tensor, rules: Rules) -> list[Hypothesis]:
    """Continue every sentence by its most probable token until EOS or its limit.

    Args:
        prefixes: a batch of sentences before its first step.
        limits: most tokens a sentence, EOS counted [sentence]
        rules: special tokens and shortest length.
    """
    count, device = len(limits), limits.device
    said = torch.full((count, int(limits.max())), rules.eos, device=device)
    log_p = torch.zeros(count, dtype=torch.float64, device=device)  # [sentence]
    finished = torch.zeros(count, dtype=torch.bool, device=device)  # [sentence]
    rows = torch.arange(count, device=device)  # the sentence of each row still in the batch
    tokens = torch.full((count, 1), rules.bos, device=device)  # [row, hypothesis]
    for step in range(said.shape[1]):
        log_next = prefixes.step(tokens)  # [row, hypothesis, vocabulary]
        rules.forbid(log_next, step)
        gains, tokens = best(log_next, log_p.new_zeros(tokens.shape), 1)  # each [row, 1]
        running = ~finished[rows] & (step < limits[rows])  # [row]
        log_p[rows] += torch.where(running, gains[:, 0], 0)
        said[rows, step] = tokens[:, 0]
        finished[rows] |= running & (tokens[:, 0] == rules.eos)
        running = ~finished[rows] & (step + 1 < limits[rows])  # [row]
        if not running.any():
            break
        if worth_leaving(running):
            kept = running.nonzero()[:, 0]  # [row]
            prefixes.keep(kept)
            rows, tokens = rows[kept], tokens[kept]
    return [
        Hypothesis(_until_eos(ids[:limit], rules.eos, done), p, done)
        for ids, limit, p, done in zip(
            said.tolist(), limits.tolist(), log_p.tolist(), finished.tolist(), strict=True
        )
    ]


def _until_eos(ids: list[int], eos: int, finished: bool) -> tuple[int, ...]:
    return tuple(ids[: ids.index(eos)] if finished else ids)
