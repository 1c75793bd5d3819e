"""Greedy backward elimination: remove the head that costs least, again and again.

It is the strong and expensive baseline. A step is told in `elimination.py`; this way keeps the
steps that are done, so that a smaller model goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from ...models.files import write_json
from ...models.gates import Head
from ..elimination import cheapest_first
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
            ranked = cheapest_first(translator, batches, removed, rest)
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


def _read(path: Path) -> tuple[list[Head], list[Head]] | None:
    if not path.exists():
        return None
    kept = json.loads(path.read_text(encoding="utf-8"))
    removed, rest = ([Head.parse(name) for name in kept[key]] for key in ("removed", "rest"))
    return removed, rest


def _write(path: Path, removed: Sequence[Head], rest: Sequence[Head]) -> None:
    write_json(path, {"removed": list(map(str, removed)), "rest": list(map(str, rest))})
