"""What a smaller model costs, counted and not timed.

Seconds depend on the machine and on what else it does; multiplications do not. Counted are
the matrix products of a teacher-forced forward of the test sentences (`bench/flops.py`),
divided by the target tokens, and the bytes of the weights.

Pitfall: fewer multiplications are fewer seconds only as far as the machine was busy
multiplying. Michel et al. 2019 (table 3) gain 2 % of speed at batch 1 from half the heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..models.data.parallel_text import ParallelText
from ..models.gates import Head
from ..models.transformer import TransformerTranslator
from ..models.translator import Translator
from .bench.flops import forward_cost
from .points import Measured
from .prune_tables import CURVE
from .removal import Point
from .result import Column, Table

COSTS = (
    *CURVE[:3],
    Column("weights", "whole", "all weights of the smaller model", "bytes"),
    Column("multiplications", "number", "of a forward, divided by the target tokens", "a token"),
    Column("share", "number", "multiplications / those of the whole model"),
)


def costs_table(
    translator: Translator,
    points: Sequence[Point],
    measured: Mapping[frozenset[Head], Measured],
    data: ParallelText,
) -> dict[str, Table]:
    """Return the table `costs`, or nothing for a model whose products cannot be counted.

    Args:
        translator: the whole model.
        points: every point of every order.
        measured: what each model did, by its removed heads.
        data: the test sentences.
    """
    if not isinstance(translator, TransformerTranslator):
        return {}
    settings, layout = translator.network.settings, translator.layout
    vocabulary = translator.network.output_table.shape[0]
    bytes_each = next(translator.network.parameters()).element_size()
    batches = list(translator.batches(data.source, data.target))
    tokens = sum(int(batch.labels.real.sum()) for batch in batches)
    forward = {
        removed: sum(
            forward_cost(settings, layout.without(removed), vocabulary, batch) for batch in batches
        )
        for removed in {frozenset[Head](), *(point.removed for point in points)}
    }
    whole = forward[frozenset()]
    rows: list[dict[str, Any]] = [
        {
            "order": point.order.name,
            "draw": point.order.draw,
            "heads_left": point.heads_left,
            "weights": measured[point.removed].parameters * bytes_each,
            "multiplications": forward[point.removed] / tokens,
            "share": forward[point.removed] / whole,
        }
        for point in points
    ]
    n = f"{len(data)} test sentences ({data.name}), {tokens} target tokens"
    n += "; what padding costs is counted too"
    return {"costs": Table.of("What the smaller models cost, counted.", COSTS, rows, n=n)}
