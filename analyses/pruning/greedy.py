"""Greedy backward elimination: remove the head that costs least, again and again.

At every step each head that is left is closed in turn, beside those that are gone already,
and the one without which the validation NLL is lowest goes. So every removal is judged in the
model that it is made in, by the loss itself. It is the strong and expensive baseline: to the
last head it takes H (H + 1) / 2 readings of the text, which is why the readings share all that
a mask cannot change (`Translator.token_losses_of_masks`).

Pitfall: greedy is not optimal; two heads of which one can stand in for the other are seen
only when the first has gone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import torch
from pydantic import Field

from ...models.batch import Batch
from ...models.files import write_json
from ...models.gates import Head
from ...models.translator import Translator
from ..provenance import fingerprint
from .way import Chosen, Task, Way, spared, way


@way("greedy")
class Greedy(Way):
    """Remove the head without which the validation NLL is lowest, again and again.

    Args:
        sentences: the first so many validation sentences; every step reads them once a head.
    """

    one_order: ClassVar[bool] = False

    sentences: int = Field(default=100, ge=1)

    def choose(self, task: Task, heads: int | None) -> Chosen:
        """Remove head after head until `heads` are left; see `Way.choose`.

        Steps are kept in the folder of the task, so a smaller number goes on from there. The
        heads that are left are ordered as the last step saw them.
        """
        translator, data = task.translator, task.corpus.valid.head(self.sentences)
        batches = list(translator.batches(data.source, data.target))
        path = self._path(task)
        removed, rest = _read(path) or ([], list(task.candidates))
        steps = len(task.candidates) - (heads or 0)
        while len(removed) < steps:
            task.progress("greedy elimination", len(removed), steps)
            losses = losses_without(translator, batches, removed, rest)
            # Sorting is stable: of equals, the last in the layout goes first.
            in_layout = [head for head in reversed(task.candidates) if head in losses]
            ranked = sorted(in_layout, key=losses.__getitem__)
            rest = list(spared(ranked, translator.layout.without(removed), self.minimum))
            removed.append(rest.pop(0))
            _write(path, removed, rest)
        task.progress("greedy elimination", steps, steps)
        return Chosen(translator, (*removed, *rest))

    def _path(self, task: Task) -> Path:
        """Return where the steps are kept: a name for all that they depend on."""
        about = [
            task.translator.fingerprint,
            task.corpus.valid.head(self.sentences).fingerprint,
            [str(head) for head in task.candidates],
            self.minimum,
        ]
        return task.folder / f"greedy-{fingerprint(about)[:16]}.json"


@torch.no_grad()
def losses_without(
    translator: Translator, batches: Sequence[Batch], removed: Sequence[Head], each: Sequence[Head]
) -> dict[Head, float]:
    """Return the summed NLL of all batches without `removed` and one head more, in nats.

    Args:
        batches: validation text.
        removed: heads that are closed in any case.
        each: heads that are closed one at a time.
    """
    layout = translator.layout
    masks = layout.closing(removed).repeat(len(each), 1)  # [mask, head]
    for row, head in enumerate(each):
        masks[row, layout.column_of(head)] = 0
    sums = [0.0] * len(each)
    for batch in batches:
        for row, losses in translator.token_losses_of_masks(batch, masks):
            sums[row] += float(losses.double().sum())
    return dict(zip(each, sums, strict=True))


def _read(path: Path) -> tuple[list[Head], list[Head]] | None:
    if not path.exists():
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))
    removed, rest = ([Head.parse(name) for name in kept[key]] for key in ("removed", "rest"))
    return removed, rest


def _write(path: Path, removed: Sequence[Head], rest: Sequence[Head]) -> None:
    write_json(path, {"removed": list(map(str, removed)), "rest": list(map(str, rest))})
