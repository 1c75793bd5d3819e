"""Beam search: the most probable prefixes, side by side.

A step continues every live hypothesis of a sentence by every token and ranks all of these
by log P. Among the `beam` best of them, those that end in EOS are finished; the `beam` best
that do not end are the next live hypotheses. The answer is the finished hypothesis with the
largest log P / ((5 + |Y|) / 6)^alpha; where none was finished within the limit, it is the
most probable live one.

When a sentence may stop: as soon as `beam` hypotheses are finished (the rule of fairseq,
OpenNMT and CTranslate2), or when no live hypothesis can overtake the best finished one. The
latter is exact: log P of a prefix only falls, so its score never exceeds log P now over the
largest penalty that lies ahead. A beam that holds every prefix therefore finds what an
exhaustive search finds.

Pitfall: taking EOS from outside the `beam` best continuations looks more thorough, but it
admits improbable endings, and the translations of wide beams are too short as it is (Koehn
& Knowles 2017, section 3.6).
"""

from __future__ import annotations

import torch
from torch import Tensor

from .hypothesis import Hypothesis
from .incremental import Prefixes
from .ranking import Rules, best, worth_leaving


def beam_search(prefixes: Prefixes, limits: Tensor, rules: Rules, beam: int) -> list[Hypothesis]:
    """Search every sentence of a batch with `beam` hypotheses.

    Args:
        prefixes: a batch of sentences before its first step.
        limits: most tokens a sentence, EOS counted [sentence]
        rules: special tokens, shortest length and length penalty.
        beam: hypotheses a sentence.
    """
    beams = Beams(limits, rules, beam)
    found: dict[int, Hypothesis] = {}
    while len(found) < len(limits):
        parents = beams.advance(prefixes.step(beams.tokens))  # [sentence, hypothesis]
        found |= beams.retire()
        if len(found) < len(limits) and worth_leaving(int(beams.running.sum()), len(beams.running)):
            kept = beams.running.nonzero()[:, 0]  # [sentence]
            parents = parents[kept]
            beams.keep(kept)
            prefixes.keep(kept)
        prefixes.follow(parents)
    return [found[sentence] for sentence in range(len(limits))]


_LIVE = ("limits", "sentences", "running", "tokens", "log_p", "said")
_PER_SENTENCE = (*_LIVE, "finished", "score", "best_log_p", "best_said")


class Beams:
    """The live hypotheses of a batch of sentences, and the best finished one of each."""

    def __init__(self, limits: Tensor, rules: Rules, beam: int) -> None:
        count, device = len(limits), limits.device
        self.rules = rules
        self.beam = beam
        self.length = 0
        self.limits = limits  # [sentence]
        self.sentences = torch.arange(count, device=device)  # number in the batch  # [sentence]
        self.running = torch.ones(count, dtype=torch.bool, device=device)  # [sentence]
        # The live ones: a beam starts as one empty prefix and grows with the first step.
        self.tokens = torch.full((count, 1), rules.bos, device=device)  # [sentence, hypothesis]
        self.log_p = torch.zeros(count, 1, dtype=torch.float64, device=device)
        self.said = self.tokens.new_empty(count, 1, 0)  # [sentence, hypothesis, target]
        # The finished ones: how many, and the best.
        self.finished = torch.zeros(count, dtype=torch.long, device=device)  # [sentence]
        self.score = torch.full((count,), float("-inf"), dtype=torch.float64, device=device)
        self.best_log_p = self.score.clone()  # [sentence]
        self.best_said = torch.full((count, int(limits.max())), rules.eos, device=device)

    def advance(self, log_next: Tensor) -> Tensor:
        """Continue all hypotheses by one token.

        Args:
            log_next: log P of the next token, changed in place
                [sentence, hypothesis, vocabulary]

        Returns:
            Which old hypothesis each new one continues  # [sentence, hypothesis]
        """
        _, hypotheses, vocabulary = log_next.shape
        self.rules.forbid(log_next, self.length)
        # Every hypothesis has one EOS: among twice the beam there are enough others.
        k = min(2 * self.beam, hypotheses * vocabulary)
        log_p, positions = best(log_next, self.log_p, k)  # each [sentence, candidate]
        parents, tokens = positions // vocabulary, positions % vocabulary
        tokens = tokens.masked_fill(log_p.isneginf(), self.rules.pad)  # nothing is left to say
        ends = tokens == self.rules.eos  # [sentence, candidate]
        self._finish(log_p.masked_fill(~ends, float("-inf"))[:, : self.beam], parents)
        going = ends.to(torch.uint8).sort(dim=1, stable=True).indices[:, : self.beam]
        self.log_p = log_p.masked_fill(ends, float("-inf")).gather(1, going)
        self.tokens, parents = tokens.gather(1, going), parents.gather(1, going)
        said = self.said.gather(1, parents[..., None].expand(-1, -1, self.length))
        self.said = torch.cat((said, self.tokens[..., None]), dim=-1)
        self.length += 1
        return parents

    def _finish(self, log_p: Tensor, parents: Tensor) -> None:
        """Count the finished hypotheses and remember the best [sentence, candidate]."""
        scores = log_p / self.rules.normaliser(torch.tensor(self.length + 1))
        score, which = scores.max(1)  # each [sentence]
        better = score > self.score  # [sentence]
        self.score = torch.where(better, score, self.score)
        rows = torch.arange(len(score), device=score.device)
        self.best_log_p = torch.where(better, log_p[rows, which], self.best_log_p)
        new = self.said[rows, parents[rows, which]]  # [sentence, target]
        old = self.best_said[:, : self.length + 1]
        new = torch.nn.functional.pad(new, (0, 1), value=self.rules.eos)
        self.best_said[:, : self.length + 1] = torch.where(better[:, None], new, old)
        self.finished += log_p.isfinite().sum(1)

    def retire(self) -> dict[int, Hypothesis]:
        """Return the results of the sentences that need no further step."""
        full = self.finished >= self.beam  # [sentence]
        ahead = torch.stack((self.limits, torch.full_like(self.limits, self.length + 1)))
        largest = self.rules.normaliser(ahead).amax(0)  # [sentence]
        hopeless = self.score >= self.log_p.amax(1) / largest  # [sentence]
        done = self.running & (full | hopeless | (self.length >= self.limits))
        results = {int(self.sentences[row]): self._result(row) for row in done.nonzero()[:, 0]}
        self.running = self.running & ~done
        # Without live hypotheses nothing can change, whenever the sentence leaves the batch.
        self.log_p[done] = float("-inf")
        return results

    def _result(self, row: Tensor) -> Hypothesis:
        if self.finished[row]:
            ids = self.best_said[row].tolist()
            log_p = float(self.best_log_p[row])
            return Hypothesis(tuple(ids[: ids.index(self.rules.eos)]), log_p, True)
        return Hypothesis(tuple(self.said[row, 0].tolist()), float(self.log_p[row, 0]), False)

    def keep(self, sentences: Tensor) -> None:
        """Forget all sentences but these [sentence]."""
        for name in _PER_SENTENCE:
            setattr(self, name, getattr(self, name)[sentences])
