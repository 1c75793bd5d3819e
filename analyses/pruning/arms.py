"""Arms of a comparison of ways: one way with one seed, at every number of heads.

A point of an arm is a smaller model, chosen, cut, trained on and measured on test text. A
finished point is a file, written atomically by the process that made it, whose name holds all
that it depends on; so arms can go on side by side, and a comparison that was killed does again
only the points that it lacks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import joblib

from ...models.data.parallel_text import ParallelText
from ...models.files import write_json
from ...models.gates import Head
from ...models.translator import SearchSettings
from ..points import Measured, measure
from ..provenance import fingerprint, usable_cores
from .finish import Finish, from_scratch
from .way import Chosen, Task, Way

SCRATCH = "from scratch"
"""What the control is called beside the ways."""


@dataclass(frozen=True)
class Arm:
    """One way with one seed.

    Args:
        name: of the way in tables.
        draw: which repetition.
        way: how heads are chosen.
        task: the model and its text, with the seed of this repetition.
        finish: what is done after the heads are gone.
        control: whether each shape is trained from scratch too.
    """

    name: str
    draw: int
    way: Way
    task: Task
    finish: Finish
    control: bool = False


@dataclass(frozen=True)
class ArmPoint:
    """One measured model of an arm.

    Args:
        name: the way, or `from scratch`.
        draw: which repetition.
        heads: heads that are left at the sites that may be pruned.
        kept: all heads that are left.
        measured: what the model does on test text.
        undecided: share of the heads that were undecided when a choice by training ended.
    """

    name: str
    draw: int
    heads: int
    kept: tuple[Head, ...]
    measured: Measured
    undecided: float | None = None


def run_arms(
    arms: Sequence[Arm],
    counts: Sequence[int],
    data: ParallelText,
    search: SearchSettings,
    folder: Path,
    jobs: int,
) -> Iterator[ArmPoint]:
    """Yield every point of every arm, arms side by side in processes.

    Args:
        counts: numbers of heads that are left, from many to few.
        data: test sentences.
        search: how to translate them.
        folder: keeps finished points.
        jobs: processes; 0 takes one a core on a CPU and one on a GPU.
    """
    on_cpu = all(arm.task.translator.device.type == "cpu" for arm in arms)
    jobs = min(jobs or (usable_cores() if on_cpu else 1), max(1, len(arms)))
    if jobs == 1:
        for arm in arms:
            yield from _points(arm, counts, data, search, folder)
        return
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator")  # in the order of the arms
    todo = (joblib.delayed(_all_points)(arm, counts, data, search, folder) for arm in arms)
    for points in parallel(todo):
        yield from points


def _all_points(
    arm: Arm, counts: Sequence[int], data: ParallelText, search: SearchSettings, folder: Path
) -> list[ArmPoint]:
    return list(_points(arm, counts, data, search, folder))


def _points(
    arm: Arm, counts: Sequence[int], data: ParallelText, search: SearchSettings, folder: Path
) -> Iterator[ArmPoint]:
    """Yield the points of one arm, and those of its control."""
    order: Chosen | None = None
    for heads in counts:
        paths = [folder / f"{_name(arm, heads, data, search, control)}.json" for control in (0, 1)]
        wanted = paths if arm.control else paths[:1]
        if not all(path.exists() for path in wanted):
            if order is None or not arm.way.one_order:
                order = arm.way.choice(arm.task, heads)
            cut = order.translator.without(order.removed(heads))
            model = arm.finish.finished(arm.task, cut, str(heads), converged=order.converged)
            undecided = order.history[-1]["undecided"] if order.history else None
            kept = cut.layout.heads
            found = measure(model, (), data, search)
            _write(paths[0], ArmPoint(arm.name, arm.draw, heads, kept, found, undecided))
            if arm.control:
                control = from_scratch(arm.task, cut, str(heads))
                found = measure(control, (), data, search)
                _write(paths[1], ArmPoint(SCRATCH, arm.draw, heads, kept, found))
        for path in wanted:
            yield _read(path)


def _name(arm: Arm, heads: int, data: ParallelText, search: SearchSettings, control: int) -> str:
    """Return a name for all that a point depends on."""
    task = arm.task
    about: list[Any] = [
        arm.name,
        arm.draw,
        arm.way.model_dump(mode="json"),
        arm.finish.model_dump(mode="json"),
        task.translator.fingerprint,
        [str(head) for head in task.candidates],
        task.seed,
        task.corpus.train.fingerprint,
        task.corpus.valid.fingerprint,
        data.fingerprint,
        search.model_dump(mode="json"),
        heads,
        control,
    ]
    return fingerprint(about)[:32]


def _write(path: Path, point: ArmPoint) -> None:
    write_json(path, {**asdict(point), "kept": [str(head) for head in point.kept]})


def _read(path: Path) -> ArmPoint:
    found = json.loads(path.read_text(encoding="utf-8"))
    found["kept"] = tuple(Head.parse(name) for name in found["kept"])
    found["measured"] = Measured(**found["measured"])
    return ArmPoint(**found)
