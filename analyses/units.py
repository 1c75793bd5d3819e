"""A second step of pruning: which feed-forward units can go as well? The `units` analysis.

Heads are half of the story of a small model: most multiplications that are left are in the
feed-forward networks. After heads were removed, blocks of feed-forward units are ranked by the
importance of their gates (`probe/units.py`) on validation text, the least important are cut out
of the weights, and the model is trained on once more. The table `outcome` shows the whole
model, the one without heads, and the one without units apart, on the same test sentences.

All layers are ranked together, so some lose more than others; every layer keeps a block.

Pitfall: neither importance knows what blocks do together. As for heads, the order is one-shot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from ..models.data.parallel_text import ParallelText
from ..models.data.vocabulary import EOS
from ..models.quality import RESAMPLES, paired, quality, signature
from ..models.settings import Settings
from ..models.transformer import TransformerTranslator
from ..models.translator import SearchSettings
from ..models.units import Block
from ..probe.units import unit_importance
from .bench.parts import ATTENTION, FEED_FORWARD, WHOLE, multiplications
from .columns import BLEU, BLEU_DIFFERENCE, NLL
from .points import Measured, measure
from .provenance import Stopwatch, provenance
from .pruning.finish import Finish
from .pruning.way import Task
from .result import Column, Result, Table

Record = dict[str, Any]

OUTCOME = (
    Column("model", "text", "whole, heads removed, or units removed too"),
    Column("heads", "whole", "heads, all sites together"),
    Column("units", "whole", "feed-forward units, all layers together"),
    Column("parameters", "whole", "parameters"),
    *BLEU,
    *BLEU_DIFFERENCE,
    Column("chrf", "number", "corpus chrF", "chrF points"),
    NLL,
    Column("products", "number", "a greedy search's over the whole model's", "share"),
    Column("attention_products", "number", "those of attention, likewise", "share"),
    Column("feed_forward_products", "number", "those of feed-forward networks", "share"),
)
LAYERS = (
    Column("side", "text", "encoder or decoder"),
    Column("layer", "whole", "layer, 0-based"),
    Column("units", "whole", "feed-forward units before"),
    Column("units_left", "whole", "feed-forward units after"),
)
BLOCKS = (
    Column("side", "text", "encoder or decoder"),
    Column("layer", "whole", "layer, 0-based"),
    Column("first_unit", "whole", "original number of the first unit of the block"),
    Column("units", "whole", "units of the block"),
    Column("importance", "number", "nats (taylor), nats a token (leave_one_out)", "nats"),
    Column("kept", "truth", "whether the smaller model has the block"),
)
PROOF = (
    Column("sentences", "whole", "sentences compared"),
    Column("largest_logit_difference", "number", "largest |masked - cut| over all logits"),
    Column("largest_logit", "number", "largest |logit| of the cut model, to compare"),
)


class UnitsSettings(Settings):
    """How units are removed.

    Args:
        keep: share of the units that is left, at least.
        block: units that are removed together. Single ones choose best: on a Multi30k model of
            which half of the units were removed, nothing being trained on, the token NLL rose
            by 0.07 in units of one, by 0.13 in blocks of 16 and 0.15 of 64 (by chance, 0.25).
        importance: `taylor`, or `leave_one_out`, which takes a pass a block and wants large ones.
        sentences: validation sentences that rank the blocks; None for all.
        finish: what is done after they are gone.
        test_sentences: test sentences that judge; None for all.
        search: how to translate; greedy by default.
        resamples: bootstrap resamples of the sentences.
        proof_sentences: on which closed gates are compared with the cut.
    """

    keep: float = Field(default=0.5, gt=0, le=1)
    block: int = Field(default=1, ge=1)
    importance: str = "taylor"
    sentences: int | None = Field(default=200, ge=1)
    finish: Finish = Finish()
    test_sentences: int | None = Field(default=None, ge=1)
    search: SearchSettings = SearchSettings(beam=1)
    resamples: int = RESAMPLES
    proof_sentences: int = 32


def without_units(
    model: TransformerTranslator, task: Task, settings: UnitsSettings
) -> tuple[TransformerTranslator, Result]:
    """Remove feed-forward units of a model from which heads may be gone already.

    Args:
        model: stays as it is.
        task: the whole model, its text, and where trainings are kept.
        settings: how many units, and how they are chosen.

    Returns:
        The smaller model, after fine-tuning, and what was found.
    """
    stopwatch = Stopwatch()
    valid, test = (
        text if count is None else text.head(count)
        for text, count in (
            (task.corpus.valid, settings.sentences),
            (task.corpus.test, settings.test_sentences),
        )
    )
    blocks = model.network.units.blocks(settings.block)
    importance = unit_importance[settings.importance](model, valid, settings.block)  # [block]
    gone = least_important(blocks, importance, settings.keep)
    cut = model.without_units(gone)
    finished = settings.finish.finished(task, cut, "units")
    assert isinstance(finished, TransformerTranslator)
    whole = task.translator
    assert isinstance(whole, TransformerTranslator)
    models = {"whole": whole, "heads removed": model, "units removed too": finished}
    outcome = _outcome(models, test, settings, task.seed)
    proof = masked_against_cut(model, gone, settings.block, valid.head(settings.proof_sentences))
    n = f"{len(test)} sentences ({test.name})"
    how = f"95 % percentile bootstrap over sentences, {settings.resamples} resamples"
    tables = {
        "outcome": Table.of("The models on test text.", OUTCOME, outcome, n=n, interval=how),
        "layers": Table.of("What is left of every layer.", LAYERS, _layers(model, cut)),
        "blocks": Table.of(
            "Every block of units, and whether it stays.",
            BLOCKS,
            _blocks(blocks, importance, gone),
            n=f"{len(valid)} sentences ({valid.name})",
        ),
        "proof": Table.of("Closed gates against units cut out of the weights.", PROOF, [proof]),
    }
    origin = provenance(
        stopwatch,
        seed=task.seed,
        model=model.fingerprint,
        data={"valid": valid.fingerprint, "test": test.fingerprint},
        device=model.device,
        signatures={"bleu": signature("bleu", test.target), "chrf": signature("chrf", test.target)},
    )
    remarks = ("Units were chosen on validation text; test text only judged.",)
    return finished, Result("units", tables, settings.model_dump(mode="json"), origin, remarks)


def least_important(blocks: Sequence[Block], importance: Tensor, keep: float) -> tuple[Block, ...]:
    """Return the blocks that go, the least important in front; every layer keeps one.

    Args:
        blocks: all blocks of a model.
        importance: of every block [block]
        keep: share of the units that has to be left, at least.
    """
    total = sum(len(block.units) for block in blocks)
    left = {block.name: sum(it.name == block.name for it in blocks) for block in blocks}
    spare = total - keep * total + 1e-9  # units that may go
    gone: list[Block] = []
    for number in importance.argsort(stable=True).tolist():
        block = blocks[number]
        if len(block.units) <= spare and left[block.name] > 1:
            gone.append(block)
            spare -= len(block.units)
            left[block.name] -= 1
    return tuple(gone)


@torch.no_grad()
def masked_against_cut(
    translator: TransformerTranslator, gone: Sequence[Block], block: int, data: ParallelText
) -> Record:
    """Compare the model whose gates are closed with the one whose blocks are cut.

    Args:
        translator: before anything is removed.
        gone: blocks to remove.
        block: units of a block.
        data: some sentences; padding is left out of the comparison.
    """
    blocks = translator.network.units.blocks(block)
    gates = torch.tensor([[float(it not in set(gone)) for it in blocks]])  # [1, block]
    cut = translator.without_units(gone)
    difference = largest = 0.0
    for batch in translator.batches(data.source, data.target):
        masked = translator.logits_of_units(batch, gates, block)[batch.labels.real]
        own = cut.logits(batch)[batch.labels.real]  # [token, vocabulary]
        difference = max(difference, float((masked - own).abs().max()))
        largest = max(largest, float(own.abs().max()))
    return {
        "sentences": len(data),
        "largest_logit_difference": difference,
        "largest_logit": largest,
    }


def _outcome(
    models: Mapping[str, TransformerTranslator],
    test: ParallelText,
    settings: UnitsSettings,
    seed: int,
) -> list[Record]:
    """Return the rows of `OUTCOME`."""
    some = [
        [*it, EOS]
        for it in next(iter(models.values())).vocabularies["source"].encode_ids(test.source[:8])
    ]
    fixed = SearchSettings(min_tokens=12, max_ratio=0, max_extra=12)  # the same work for all
    measured = {name: measure(it, (), test, settings.search) for name, it in models.items()}
    counted = {name: multiplications(it.network, [some], fixed) for name, it in models.items()}
    first = next(iter(models))
    rows = []
    for name, model in models.items():
        shares = {
            column: counted[name][part] / counted[first][part] if counted[first][part] else None
            for column, part in (
                ("products", WHOLE),
                ("attention_products", ATTENTION),
                ("feed_forward_products", FEED_FORWARD),
            )
        }
        shape = {
            "model": name,
            "heads": len(model.layout),
            "units": len(model.network.units),
            "parameters": measured[name].parameters,
        }
        sides = (measured[first], measured[name])
        rows.append({**shape, **_quality(*sides, test, seed, settings.resamples), **shares})
    return rows


def _quality(
    whole: Measured, own: Measured, test: ParallelText, seed: int, resamples: int
) -> Record:
    """Return quality and its difference from the whole model's, with intervals."""
    said = (own.translations, test.target)
    found = quality("bleu", *said, np.random.default_rng(seed), resamples=resamples)
    both = (whole.translations, *said, np.random.default_rng(seed))
    difference = paired("bleu", *both, resamples=resamples)
    return {
        "bleu": found.score,
        "bleu_low": found.low,
        "bleu_high": found.high,
        "bleu_difference": difference.difference,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "chrf": quality("chrf", *said, np.random.default_rng(seed), resamples=1).score,
        "nll": own.nll,
    }


def _layers(before: TransformerTranslator, after: TransformerTranslator) -> list[Record]:
    return [
        {**name._asdict(), "units": len(units), "units_left": len(after.network.units[name])}
        for name, units in before.network.units.by_layer
    ]


def _blocks(blocks: Sequence[Block], importance: Tensor, gone: Sequence[Block]) -> list[Record]:
    closed = set(gone)
    return [
        {
            **block.name._asdict(),
            "first_unit": block.units[0],
            "units": len(block.units),
            "importance": value,
            "kept": block not in closed,
        }
        for block, value in zip(blocks, importance.tolist(), strict=True)
    ]
