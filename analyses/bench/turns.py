"""Models that translate by turns: what is timed, and how the times are compared.

The unit is the round: every model translates the same few sentences, each round begins with
another model, and what is compared is what the models took in the same round.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import mstats

from ...models.data.parallel_text import ParallelText
from ...models.data.vocabulary import EOS
from ...models.transformer import TransformerTranslator
from ...models.translator import SearchSettings, Translator
from ..result import Column
from .parts import NAMES, MeteredSearch, clock, multiplications

Record = dict[str, Any]

INTERVAL = "95 % Hettmansperger-Sheather interval of the median over rounds"
FEWEST_ROUNDS = 6
"""An interval of the median needs as many."""
WHOLE_MODEL = "whole"

_SEARCH = (
    Column("model", "text", "which model"),
    Column("search", "text", "greedy, or beam and its width"),
    Column("batch", "whole", "sentences translated together", "sentences"),
)
SPEED = (
    *_SEARCH,
    Column("lengths", "text", "equal: as many tokens as the other model; own: as it likes"),
    Column("tokens_per_second", "number", "target tokens, EOS included", "tokens a second"),
    Column("latency", "number", "wall-clock time of a batch", "seconds"),
    Column("processor", "number", "processor time of a batch; empty on a GPU", "seconds"),
    Column("speedup", "number", "tokens a second over the whole model's, by the wall clock"),
    Column("speedup_low", "number", "lower bound of the interval"),
    Column("speedup_high", "number", "upper bound of the interval"),
    Column("processor_speedup", "number", "the same by processor time; empty on a GPU"),
    Column("processor_speedup_low", "number", "lower bound of the interval"),
    Column("processor_speedup_high", "number", "upper bound of the interval"),
)
PARTS = (
    *_SEARCH,
    Column("part", "text", "which part of the search"),
    Column("whole_seconds", "number", "what it takes in the whole model, a batch", "seconds"),
    Column("seconds", "number", "what it takes in this model, a batch", "seconds"),
    Column("time_spared", "number", "1 - this model's time over the whole model's", "share"),
    Column("time_spared_low", "number", "lower bound of the interval", "share"),
    Column("time_spared_high", "number", "upper bound of the interval", "share"),
    Column("products_spared", "number", "share of its multiplications that is gone", "share"),
    Column("realised", "number", "time spared over multiplications spared; empty where none are"),
)


@dataclass(frozen=True)
class Case:
    """One search at one batch size.

    Args:
        beam: hypotheses a sentence; 1 is greedy search.
        batch: sentences together.
        rounds: how often the models take turns.
        a_round: sentences that each translates in a round; at least one batch.
    """

    beam: int
    batch: int
    rounds: int = 1
    a_round: int = 1

    @property
    def name(self) -> str:
        """Return what the search is called in tables."""
        return "greedy" if self.beam == 1 else f"beam {self.beam}"

    def search(self, tokens: int | None) -> SearchSettings:
        """Return its settings.

        Args:
            tokens: what every sentence says, EOS not among them; None leaves it to the model.
        """
        together = SearchSettings(beam=self.beam, batch_tokens=10**9)
        if tokens is None:
            return together
        return together.with_changes(min_tokens=tokens, max_ratio=0, max_extra=tokens)

    def texts(self, data: ParallelText) -> list[list[list[str]]]:
        """Return for every round its batches; the text begins again where it ends."""
        source = data.source
        size = -(-self.a_round // self.batch) * self.batch
        taken = [
            [source[(start + place) % len(source)] for place in range(size)]
            for start in range(0, self.rounds * size, size)
        ]
        return [
            [sentences[start : start + self.batch] for start in range(0, size, self.batch)]
            for sentences in taken
        ]


def _by_turns(names: Sequence[str], turn: int) -> list[str]:
    """Return who goes first, second, ... in a round: every round begins with another one."""
    start = turn % len(names)
    return [*names[start:], *names[:start]]


def speed_records(
    models: Mapping[str, Translator],
    data: ParallelText,
    case: Case,
    search: SearchSettings,
    lengths: str,
) -> list[Record]:
    """Return the rows of `SPEED` of one search.

    Args:
        models: by name, the whole model among them.
        data: what is translated.
        case: how many together, and how often.
        search: how.
        lengths: what the lengths of the translations are called.
    """
    rounds = case.texts(data)
    on_cpu = next(iter(models.values())).device.type == "cpu"
    taken: dict[str, list[tuple[float, float, int]]] = {name: [] for name in models}
    for model in models.values():
        model.translate(rounds[0][0], search)  # caches, imports, fresh memory
    for turn, batches in enumerate(rounds):
        for name in _by_turns(list(models), turn):
            wall, processor = time.perf_counter(), time.process_time()
            said = [it for batch in batches for it in models[name].translate(batch, search)]
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            tokens = sum(len(it.ids) + it.finished for it in said)
            taken[name].append((wall, processor, tokens))
    rows = []
    batches_a_round = len(rounds[0])
    first = np.array(taken[WHOLE_MODEL])  # [round, kind]
    for name, values in taken.items():
        own = np.array(values)  # [round, kind]
        rates, whole_rates = (it[:, 2:] / it[:, :2] for it in (own, first))  # [round, clock]
        ratios = rates / whole_rates  # [round, clock]
        row: Record = {
            "model": name,
            "search": case.name,
            "batch": case.batch,
            "lengths": lengths,
            "tokens_per_second": float(np.median(rates[:, 0])),
            "latency": float(np.median(own[:, 0])) / batches_a_round,
        }
        if on_cpu:
            row["processor"] = float(np.median(own[:, 1])) / batches_a_round
        if name != WHOLE_MODEL:
            row |= _with_interval("speedup", ratios[:, 0])
            row |= _with_interval("processor_speedup", ratios[:, 1]) if on_cpu else {}
        rows.append(row)
    return rows


def _with_interval(name: str, values: np.ndarray) -> Record:
    """Return the median of some values with its interval."""
    low, high = mstats.median_cihs(values)
    return {name: float(np.median(values)), f"{name}_low": float(low), f"{name}_high": float(high)}


def part_records(
    models: Mapping[str, TransformerTranslator],
    data: ParallelText,
    case: Case,
    search: SearchSettings,
) -> list[Record]:
    """Return the rows of `PARTS` of one search, see `speed_records`."""
    first = models[WHOLE_MODEL]
    rounds = [[source_ids(first, batch) for batch in it] for it in case.texts(data)]
    spared = _products_spared(models, rounds[0], search)
    metered = {name: MeteredSearch(it.network, clock(it.device)) for name, it in models.items()}
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in models}
    for it in metered.values():
        it(rounds[0][0], search)
        it.taken()
    for turn, batches in enumerate(rounds):
        for name in _by_turns(list(models), turn):
            for batch in batches:
                metered[name](batch, search)
            taken[name].append(metered[name].taken())
    return [
        _part_record(name, case, part, taken, spared[name][part], len(rounds[0]))
        for name in models
        if name != WHOLE_MODEL
        for part in NAMES
    ]


def _part_record(
    name: str,
    case: Case,
    part: str,
    taken: Mapping[str, Sequence[Mapping[str, float]]],
    spared: float | None,
    batches: int,
) -> Record:
    """Return one row of `PARTS`."""
    whole, own = (np.array([it[part] for it in taken[key]]) for key in (WHOLE_MODEL, name))
    row: Record = {
        "model": name,
        "search": case.name,
        "batch": case.batch,
        "part": part,
        "whole_seconds": float(np.median(whole)) / batches,
        "seconds": float(np.median(own)) / batches,
        "products_spared": spared,
    }
    if whole.all():
        row |= _with_interval("time_spared", 1 - own / whole)
        row["realised"] = row["time_spared"] / spared if spared else None
    return row


def _products_spared(
    models: Mapping[str, TransformerTranslator],
    batches: Sequence[Sequence[Sequence[int]]],
    search: SearchSettings,
) -> dict[str, dict[str, float | None]]:
    """Return for every model and part the share of the multiplications that is gone."""
    counted = {name: multiplications(it.network, batches, search) for name, it in models.items()}
    whole = counted[WHOLE_MODEL]
    return {
        name: {part: 1 - own[part] / whole[part] if whole[part] else None for part in NAMES}
        for name, own in counted.items()
    }


def source_ids(translator: TransformerTranslator, sentences: Sequence[str]) -> list[list[int]]:
    """Return the ids of sentences, each with the one that marks its end."""
    return [[*it, EOS] for it in translator.vocabularies["source"].encode_ids(sentences)]
