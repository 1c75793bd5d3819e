"""How many multiplications a forward needs, and leave-one-out of every head at the least.

Counted are the matrix products: a linear layer costs tokens x inputs x outputs, attention
queries x keys x features twice. The rest (softmax, norms, activations, the loss) is a small
share, and no product can be spared without sparing its share of the rest.

The floor of leave-one-out is what is left when nothing is computed twice. With a head closed,
one needs again: the head's own part of the output projection, the feed-forward network above
it, every sublayer that this reaches, and the projection to the vocabulary. Not the layers
below, not the other heads' outputs, not the encoder for a head of the decoder, not keys and
values of an unchanged memory, not the first decoder attention for a head of the encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...models.batch import Batch
from ...models.gates import Attention, HeadLayout
from ...models.network import NetworkSettings
from ...models.units import FeedForward, UnitLayout


@dataclass(frozen=True)
class StageCost:
    """Multiplications of one attention and what follows it up to the next.

    Args:
        name: the attention.
        heads: how many it has.
        memory: keys and values of the encoder's output; 0 in self-attention.
        mixing: the other projections of the input, scores and weighted means.
        output: the output projection of all heads.
        after: the feed-forward network, 0 where none follows.
    """

    name: Attention
    heads: int
    memory: int
    mixing: int
    output: int
    after: int


def stage_costs(
    settings: NetworkSettings, layout: HeadLayout, batch: Batch, units: UnitLayout | None = None
) -> list[StageCost]:
    """Return the cost of every attention of a forward of `batch`, padding included.

    Args:
        units: which feed-forward units there are; None for all.
    """
    sentences, source = batch.source.ids.shape
    target = batch.target.ids.shape[1]
    width, units = settings.width, settings.full_units() if units is None else units
    costs = []
    for name, ids in layout.by_attention:
        features = len(ids) * settings.width_of_head()
        queries = source if name.site == "encoder" else target
        keys = target if name.site == "decoder" else source
        cross = name.site == "cross"
        side = "encoder" if name.site == "encoder" else "decoder"
        inner = len(units[FeedForward(side, name.layer)])
        projected = queries * width * features * (1 if cross else 3)
        costs.append(
            StageCost(
                name,
                len(ids),
                memory=sentences * 2 * source * width * features if cross else 0,
                mixing=sentences * (projected + 2 * queries * keys * features),
                output=sentences * queries * features * width,
                after=0 if name.site == "decoder" else sentences * queries * 2 * width * inner,
            )
        )
    return costs


def projection_cost(settings: NetworkSettings, vocabulary: int, batch: Batch) -> int:
    """Return the cost of all logits of `batch`, padding included."""
    return batch.target.ids.numel() * settings.width * vocabulary


def forward_cost(
    settings: NetworkSettings,
    layout: HeadLayout,
    vocabulary: int,
    batch: Batch,
    units: UnitLayout | None = None,
) -> int:
    """Return the multiplications of a forward of `batch` up to its logits."""
    stages = stage_costs(settings, layout, batch, units)
    each = (it.memory + it.mixing + it.output + it.after for it in stages)
    return sum(each) + projection_cost(settings, vocabulary, batch)


def leave_one_out_cost(
    settings: NetworkSettings, layout: HeadLayout, vocabulary: int, batch: Batch
) -> int:
    """Return the floor of leave-one-out of every head, the open forward included."""
    stages = stage_costs(settings, layout, batch)
    total = forward_cost(settings, layout, vocabulary, batch)
    for stage in stages:
        if stage.heads:
            own = stage.output // stage.heads + stage.after
            above = sum(_again(it, stage.name) for it in stages)
            total += stage.heads * (own + above + projection_cost(settings, vocabulary, batch))
    return total


def set_cost(settings: NetworkSettings, layout: HeadLayout, vocabulary: int, batch: Batch) -> int:
    """Return what every set of open heads costs at least, whatever it shares with others.

    Two sets whose last states differ share nothing that follows the last attention.
    """
    last = stage_costs(settings, layout, batch)[-1]
    return last.after + projection_cost(settings, vocabulary, batch)


def _again(stage: StageCost, closed: Attention) -> int:
    """Return what a stage costs again when a head of another one is closed."""
    if not _reached(stage.name, closed):
        return 0
    memory = stage.memory if closed.site == "encoder" else 0
    return memory + stage.mixing + stage.output + stage.after


def _reached(name: Attention, closed: Attention) -> bool:
    """Return whether the input of an attention depends on a head of another one."""
    depth: Sequence[str] = ("decoder", "cross")
    if closed.site == "encoder":
        if name.site == "encoder":
            return name.layer > closed.layer
        return name.site == "cross" or name.layer > 0
    if name.site == "encoder":
        return False
    return (name.layer, depth.index(name.site)) > (closed.layer, depth.index(closed.site))
