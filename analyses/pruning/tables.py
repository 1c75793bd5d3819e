"""The tables of the `smaller` analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...models.data.parallel_text import ParallelText
from ...models.gates import SITES, HeadLayout
from ...models.quality import paired, quality
from ...models.transformer import TransformerTranslator
from ...models.translator import Translator
from ..bench.flops import forward_cost, stage_costs
from ..bench.size import disk_and_peak
from ..bench.turns import Case
from ..columns import BLEU, BLEU_DIFFERENCE, HEAD, NLL
from ..points import Measured, measure
from ..proof import PROOF
from ..result import Column, Table
from .search import Search, Trial

Record = dict[str, Any]
MEMORY_SENTENCES = 64
"""Test sentences that are translated together where memory is measured."""

ANSWER = (
    Column("property", "text", "what is said"),
    Column("value", "text", "its value"),
)
OUTCOME = (
    Column("model", "text", "whole, smaller, or the same shape from scratch"),
    Column("heads", "whole", "heads, all sites together"),
    *(Column(f"{site}_heads", "whole", f"heads at the site {site}") for site in SITES),
    Column("parameters", "whole", "parameters"),
    *BLEU,
    *BLEU_DIFFERENCE,
    Column("chrf", "number", "corpus chrF", "chrF points"),
    NLL,
    Column("seconds", "number", "time to decode all sentences", "seconds"),
)
TRIED = (
    Column("heads_left", "whole", "heads left at the sites that may be pruned"),
    Column("bleu", "number", "corpus BLEU", "BLEU points"),
    *BLEU_DIFFERENCE,
    NLL,
    Column("accepted", "truth", "whether the loss is within what is allowed"),
    Column("seconds", "number", "time to choose, train on and measure", "seconds"),
)
KEPT = (
    *HEAD,
    Column("kept", "truth", "whether the smaller model has the head"),
    Column("step", "whole", "1 = would go first; empty for a head that may not go or had gone"),
)
COST = (
    Column("model", "text", "whole, smaller, or the same shape from scratch"),
    Column("parameters", "whole", "parameters"),
    Column("weights", "whole", "size of the weights in memory", "bytes"),
    Column("disk", "whole", "weights, settings and vocabularies on disk", "bytes"),
    Column("peak", "whole", "memory a search takes at its peak, beyond model and text", "bytes"),
    Column("attention", "number", "attention sublayers of a forward", "multiplications a token"),
    Column("forward", "number", "a whole teacher-forced forward", "multiplications a token"),
    Column("attention_left", "number", "attention over the whole model's", "share"),
    Column("forward_left", "number", "forward over the whole model's", "share"),
)
GATES = (
    Column("update", "whole", "updates of the training that chose"),
    Column("price", "number", "lambda: what all open heads together cost", "nats a token"),
    Column("open", "number", "sum of the strengths of all heads that may go"),
    Column("undecided", "number", "heads with a strength between 0.05 and 0.95", "share"),
)
TRAJECTORY = (
    Column("update", "whole", "updates of the training that chose"),
    *HEAD,
    Column("strength", "number", "P(open), soft mask or relative norm: how firmly it stays"),
)


def smaller_tables(
    search: Search,
    trial: Trial,
    why: str,
    models: Mapping[str, Translator],
    test: ParallelText,
    seed: int,
    proof: Mapping[str, Any],
    *,
    memory: bool,
) -> dict[str, Table]:
    """Return all tables of the analysis.

    Args:
        search: every model that was tried.
        trial: the one that was reached.
        why: why it is this one.
        models: what is measured on test text, the whole model first.
        test: test sentences.
        seed: draws the resamples.
        proof: what `compared` found.
        memory: whether to measure the peak of memory, each in a process of its own.
    """
    layout = search.task.whole.layout
    left = trial.model.layout
    n, n_valid = (f"{len(it)} sentences ({it.name})" for it in (test, search.data))
    how = f"95 % percentile bootstrap over sentences, {search.resamples} resamples"
    row = {"order": "smaller", "draw": 0, "heads_left": len(left), **proof}
    limit = search.goal.max_bleu_loss
    answer = {
        "heads left": f"{len(left)} of {len(layout)} ({left.describe()})",
        "validation loss": trial.loss,
        "allowed loss": "any" if limit is None else f"{limit:g} BLEU points by {search.goal.by}",
        "why it stopped": why,
    }
    said = [{"property": key, "value": value} for key, value in answer.items()]
    measured = {name: measure(it, (), test, search.search) for name, it in models.items()}
    outcome = _outcome(search, models, measured, test, seed)
    tried = [_tried_record(search.tried[heads]) for heads in sorted(search.tried, reverse=True)]
    gates, trajectory = _history(trial)
    return {
        "answer": Table.of("What was reached.", ANSWER, said),
        "outcome": Table.of("The models on test text.", OUTCOME, outcome, n=n, interval=how),
        "cost": _cost_table(models, measured, test, search.search.beam, memory=memory),
        "tried": Table.of("Models on the way.", TRIED, tried, n=n_valid, interval=how),
        "kept": Table.of("Every head of the whole model.", KEPT, _kept(trial, layout)),
        "gates": Table.of("How the choice came about.", GATES, gates),
        "trajectory": Table.of("Every head on the way.", TRAJECTORY, trajectory),
        "proof": Table.of("Closed gates against heads cut out of the weights.", PROOF, [row]),
    }


def _outcome(
    search: Search,
    models: Mapping[str, Translator],
    measured: Mapping[str, Measured],
    test: ParallelText,
    seed: int,
) -> list[Record]:
    """Compare what every model did on test text with what the first did."""
    whole = next(iter(measured.values()))
    return [
        _outcome_record(name, models[name], measured[name], whole, test, seed, search.resamples)
        for name in models
    ]


def _outcome_record(
    name: str,
    model: Translator,
    measured: Measured,
    whole: Measured,
    test: ParallelText,
    seed: int,
    resamples: int,
) -> Record:
    """Return one row of `OUTCOME`."""
    said, target = measured.translations, test.target
    found = quality("bleu", said, target, np.random.default_rng(seed), resamples=resamples)
    chrf = quality("chrf", said, target, np.random.default_rng(seed), resamples=1)
    sides = (whole.translations, said, target)
    difference = paired("bleu", *sides, np.random.default_rng(seed), resamples=resamples)
    heads = {f"{site}_heads": sum(it.site == site for it in model.layout) for site in SITES}
    return {
        "model": name,
        "heads": len(model.layout),
        **heads,
        "parameters": measured.parameters,
        "bleu": found.score,
        "bleu_low": found.low,
        "bleu_high": found.high,
        "bleu_difference": difference.difference,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "chrf": chrf.score,
        "nll": measured.nll,
        "seconds": measured.seconds,
    }


def _cost_table(
    models: Mapping[str, Translator],
    measured: Mapping[str, Measured],
    test: ParallelText,
    beam: int,
    *,
    memory: bool,
) -> Table:
    """Return what the models need, counted on the test text, and what they take, measured."""
    rows = _cost(models, test)
    some = test.head(MEMORY_SENTENCES)
    case, said = Case(beam, len(some)), int(np.median(measured["whole"].tokens))
    for row in rows:
        search = case.search(said) if memory else None
        row |= disk_and_peak(models[row["model"]], some.source, search)
    caption = f"What the models need; memory by {case.name}, {said} tokens a sentence."
    n = f"{len(test)} sentences ({test.name}), for memory {len(some)} of them together"
    return Table.of(caption, COST, rows, n=n)


def _cost(models: Mapping[str, Translator], test: ParallelText) -> list[Record]:
    """Return the columns of `COST` that are counted; no rows for foreign models."""
    rows: list[Record] = []
    for name, model in models.items():
        if not isinstance(model, TransformerTranslator):
            continue
        settings, layout = model.network.settings, model.layout
        vocabulary = model.network.output_table.shape[0]
        attention = forward = tokens = 0
        for batch in model.batches(test.source, test.target):
            stages = stage_costs(settings, layout, batch, model.network.units)
            attention += sum(it.memory + it.mixing + it.output for it in stages)
            forward += forward_cost(settings, layout, vocabulary, batch, model.network.units)
            tokens += int(batch.labels.real.sum())
        weights = list(model.network.parameters())
        row: Record = {
            "model": name,
            "parameters": sum(it.numel() for it in weights),
            "weights": sum(it.numel() * it.element_size() for it in weights),
            "attention": attention / tokens,
            "forward": forward / tokens,
        }
        first = rows[0] if rows else row
        shares = {f"{key}_left": row[key] / first[key] for key in ("attention", "forward")}
        rows.append(row | shares)
    return rows


def _tried_record(trial: Trial) -> Record:
    """Return one row of `TRIED`."""
    return {
        "heads_left": trial.heads,
        "bleu": trial.bleu,
        "bleu_difference": trial.difference.difference,
        "difference_low": trial.difference.low,
        "difference_high": trial.difference.high,
        "nll": trial.nll,
        "accepted": trial.accepted,
        "seconds": trial.seconds,
    }


def _kept(trial: Trial, layout: HeadLayout) -> list[Record]:
    """Return the rows of `KEPT`, in the order of the whole model's layout."""
    steps = {head: step for step, head in enumerate(trial.chosen.order, 1)}
    return [
        {**head._asdict(), "kept": head in trial.model.layout, "step": steps.get(head)}
        for head in layout
    ]


def _history(trial: Trial) -> tuple[list[Record], list[Record]]:
    """Return the rows of `GATES` and `TRAJECTORY`; none where nothing was trained."""
    history = trial.chosen.history
    gates = [{column.name: it[column.name] for column in GATES} for it in history]
    trajectory = [
        {"update": it["update"], **head._asdict(), "strength": strength}
        for it in history
        for head, strength in zip(trial.chosen.candidates, it["strengths"], strict=True)
    ]
    return gates, trajectory
