"""Arms of a comparison of ways: one way with one seed, at every number of heads.

A point of an arm is a smaller model, chosen, cut, trained on and measured on test text. The
models of an arm are made apart, each from the whole model, or going down, each from the one
before (`descent`).

A finished point is a file, written atomically by the process that made it, whose name holds
all that it depends on; so arms can go on side by side, and a comparison that was killed does
again only the points that it lacks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ...models.data.parallel_text import ParallelText
from ...models.files import write_json
from ...models.gates import Head
from ...models.translator import SearchSettings
from ..points import Measured, measure
from ..provenance import fingerprint
from ..workers import spread, workers_for
from .descent import Descent, Step, proved
from .finish import Finish, from_scratch
from .way import Chosen, Task, Way

Question = tuple[str, str, int]
"""A way, where heads may go, and which training of the network."""
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
        where: says in tables at which sites heads may go.
        control: whether each shape is trained from scratch too.
        chained: whether each model is made from the one before.
        order: what the way says, where it was asked for all repetitions at once.
        ordering: processor time that this took, in seconds, at the first of them.
        model: which training of the network, 0 for the run's own.
    """

    name: str
    draw: int
    way: Way
    task: Task
    finish: Finish
    where: str = "all"
    control: bool = False
    chained: bool = False
    order: Chosen | None = None
    ordering: float = 0.0
    model: int = 0

    @property
    def question(self) -> Question:
        """What a way without a seed is asked once for all repetitions."""
        return self.name, self.where, self.model


@dataclass(frozen=True)
class ArmPoint:
    """One measured model of an arm.

    Args:
        name: the way, or `from scratch`.
        draw: which repetition.
        heads: heads that are left at the sites that may be pruned.
        kept: all heads that are left.
        measured: what the model does on test text.
        where: at which sites heads may go.
        undecided: share of the heads that were undecided when a choice by training ended.
        updates: of all trainings that the model has had since the whole one.
        fresh: updates that this point took, its choice among them where it is the first to
            need it; all points of a curve together took their sum.
        choosing, training, measuring: processor time of this point, in seconds.
        proof: how far the cut was from closed gates; empty for the control.
        model: which training of the network, 0 for the run's own.
    """

    name: str
    draw: int
    heads: int
    kept: tuple[Head, ...]
    measured: Measured
    where: str = "all"
    undecided: float | None = None
    updates: int = 0
    fresh: int = 0
    choosing: float = 0.0
    training: float = 0.0
    measuring: float = 0.0
    proof: Mapping[str, Any] = field(default_factory=dict)
    model: int = 0


def run_arms(
    arms: Sequence[Arm],
    counts: Sequence[int],
    data: ParallelText,
    search: SearchSettings,
    folder: Path,
    jobs: int,
) -> Iterator[ArmPoint]:
    """Yield every point of every arm, arms side by side in processes.

    Arms whose way has to be asked for its order come last.

    Args:
        counts: numbers of heads that are left, from many to few.
        data: test sentences.
        search: how to translate them.
        folder: keeps finished points.
        jobs: processes; 0 takes one a core on a CPU and one on a GPU.
    """
    on_cpu = all(arm.task.translator.device.type == "cpu" for arm in arms)
    workers = workers_for(jobs, len(arms), on_cpu=on_cpu)
    about = (counts, data, search, folder)
    asked = _asked(arms, *about)
    waiting = [arm for arm in arms if arm.question in asked]
    ready = [arm for arm in arms if arm.question not in asked]
    if workers == 1:  # point by point, so that progress is heard
        found = {key: _order(arm, counts[-1]) for key, arm in asked.items()}
        for arm in (*ready, *_with_orders(waiting, asked, found)):
            yield from _points(arm, *about)
        return
    # Arms that wait for no order go on while orders are asked, so that no process is idle.
    todo = [(_order, arm, counts[-1]) for arm in asked.values()]
    first = spread(
        _called, [*todo, *((_all_points, arm, *about) for arm in ready)], workers, ordered=True
    )
    found = {key: next(first) for key in asked}
    for points in first:
        yield from points
    rest = ((arm, *about) for arm in _with_orders(waiting, asked, found))
    for points in spread(_all_points, rest, workers, ordered=True):
        yield from points


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call one of several kinds of work that are spread together."""
    return function(*arguments)


def _asked(
    arms: Sequence[Arm],
    counts: Sequence[int],
    data: ParallelText,
    search: SearchSettings,
    folder: Path,
) -> dict[Question, Arm]:
    """Return one arm of every way whose order no seed changes, to ask it once for all."""
    asked: dict[Question, Arm] = {}
    for arm in arms:
        alike = not (arm.way.seeded or arm.way.trains or arm.way.begins)
        if alike and not _done(arm, counts, data, search, folder):
            asked.setdefault(arm.question, arm)
    return asked


def _with_orders(
    arms: Sequence[Arm],
    asked: Mapping[Question, Arm],
    found: Mapping[Question, tuple[tuple[Head, ...], float]],
) -> list[Arm]:
    """Return arms that know the order of their way, the first of which has its price."""
    ordered = []
    for arm in arms:
        heads, seconds = found[arm.question]
        chosen = Chosen(arm.task.translator, heads)
        first = asked[arm.question] is arm
        ordered.append(replace(arm, order=chosen, ordering=seconds if first else 0.0))
    return ordered


def _order(arm: Arm, heads: int) -> tuple[tuple[Head, ...], float]:
    """Return the order of a way and the processor time that it took, in seconds."""
    clock = time.process_time()
    return arm.way.choice(arm.task, heads).order, time.process_time() - clock


def _all_points(
    arm: Arm, counts: Sequence[int], data: ParallelText, search: SearchSettings, folder: Path
) -> list[ArmPoint]:
    return list(_points(arm, counts, data, search, folder))


def _points(
    arm: Arm, counts: Sequence[int], data: ParallelText, search: SearchSettings, folder: Path
) -> Iterator[ArmPoint]:
    """Yield the points of one arm, and those of its control."""
    paths = _paths(arm, counts, data, search, folder)
    lacking = [at for at in range(len(counts)) if not all(it.exists() for it in paths[at])]
    # What a killed comparison with other settings has left in the same folder is none of its own.
    own = arm.task.folder / _name(arm, counts, data, search, 0)[:12]
    arm = replace(arm, task=replace(arm.task, folder=own))
    steps = _going_down(arm, counts, lacking) if arm.chained else _apart(arm, counts, lacking)
    for at in range(len(counts)):
        if at in lacking:
            _measure(arm, next(steps), data, search, paths[at], at == lacking[0])
        for path in paths[at]:
            yield _read(path)


def _paths(
    arm: Arm, counts: Sequence[int], data: ParallelText, search: SearchSettings, folder: Path
) -> list[list[Path]]:
    """Return where every point is kept, with that of its control."""
    return [
        [
            folder / f"{_name(arm, counts[: at + 1], data, search, control)}.json"
            for control in range(1 + arm.control)
        ]
        for at in range(len(counts))
    ]


def _done(
    arm: Arm, counts: Sequence[int], data: ParallelText, search: SearchSettings, folder: Path
) -> bool:
    """Say whether all points of an arm are there."""
    paths = _paths(arm, counts, data, search, folder)
    return all(path.exists() for of_point in paths for path in of_point)


def _going_down(arm: Arm, counts: Sequence[int], lacking: Sequence[int]) -> Iterator[Step]:
    """Yield the models of the points that are lacking, each made from the one before."""
    if lacking:
        descent = Descent(arm.task, arm.way, arm.finish, counts, arm.order)
        models = descent.models(lacking[0])
        yield from (step for step in models if counts.index(step.heads) in lacking)


def _apart(arm: Arm, counts: Sequence[int], lacking: Sequence[int]) -> Iterator[Step]:
    """Yield the models of the points that are lacking, each made from the whole model."""
    order = arm.order
    own = arm.task.recipe.training.updates
    for heads in (counts[at] for at in lacking):
        clock = time.process_time()
        chosen_before = order is not None and arm.way.one_order
        if order is None or not arm.way.one_order:
            order = arm.way.choice(arm.task, heads)
        removed = order.removed(heads)
        cut = order.translator.without(removed)
        chose = time.process_time()
        model = arm.finish.finished(arm.task, cut, str(heads), trained=order.trained)
        share = arm.finish.updates(order.trained)
        undecided = order.history[-1]["undecided"] if order.history else None
        times = (chose - clock, time.process_time() - chose)
        proof = proved(arm.task, order.translator, removed)
        updates = round(own * (share + order.share))
        fresh = round(own * share) if chosen_before else updates
        yield Step(heads, model, updates, fresh, *times, proof, undecided)


def _measure(
    arm: Arm,
    step: Step,
    data: ParallelText,
    search: SearchSettings,
    paths: Sequence[Path],
    first: bool,
) -> None:
    """Measure a model, and the same shape from scratch where that was asked for."""
    clock = time.process_time()
    found = measure(step.model, (), data, search)
    point = ArmPoint(
        arm.name,
        arm.draw,
        step.heads,
        step.model.layout.heads,
        found,
        where=arm.where,
        undecided=step.undecided,
        updates=step.updates,
        fresh=step.fresh,
        choosing=step.choosing + (arm.ordering if first else 0.0),
        training=step.training,
        measuring=time.process_time() - clock,
        proof=step.proof,
        model=arm.model,
    )
    _write(paths[0], point)
    if arm.control:
        clock = time.process_time()
        control = from_scratch(arm.task, step.model, str(step.heads))
        trained = time.process_time() - clock
        point = ArmPoint(
            SCRATCH,
            arm.draw,
            step.heads,
            point.kept,
            measure(control, (), data, search),
            where=arm.where,
            updates=arm.task.recipe.training.updates,
            fresh=arm.task.recipe.training.updates,
            training=trained,
            measuring=time.process_time() - clock - trained,
            model=arm.model,
        )
        _write(paths[1], point)


def _name(
    arm: Arm, counts: Sequence[int], data: ParallelText, search: SearchSettings, control: int
) -> str:
    """Return a name for all that a point depends on: going down, the points above it too."""
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
        list(counts) if arm.chained else counts[-1],
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
