"""All tasks on all layers of one side of one model.

Tasks that are about the same words read the same matrix, so they are fitted together
(`stacked.py`): first every task with every penalty, then the control tasks with the penalty
that validation chose, then the blocks of the online code. A task with few examples, such as
word senses, would drag all other words along; it gets a matrix of its own.

Layers are independent, so they are shared out to processes of one thread each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, cpu_count, delayed
from numpy.typing import NDArray

from ...models.settings import Settings
from .control import control_labels, unseen_types
from .examples import Examples, Numbers, Split
from .features import Features
from .logistic import PENALTIES, Chosen, Labels, fit_chosen, judged, predict
from .mdl import Code, online_codes
from .measures import Judged
from .stacked import ABSENT, ITERATIONS, ROUGH, Problem, solve
from .store import StateStore

SPARSE = 0.4
"""A task with fewer of the words than this share is fitted alone."""


class SurveySettings(Settings):
    """How much effort each probe gets.

    Args:
        penalties: offered to every task and layer.
        tolerance: largest absolute entry of the gradient of a fitted probe, by default what
            scikit-learn asks. On 5,000 words of EWT a tenth of it moved log-loss by at most
            0.003 bits and accuracy by 0.2 points, for up to three times the work.
        iterations: evaluations after which a fit is given up as it is.
        controls: draws of the control task; 0 leaves it out.
        codes: whether to measure the online code.
        code_penalty: of the probes of the online code, the same for all layers and tasks, as a
            code must be agreed on before it is sent. On 3,000 words of EWT (Multi30k model) 10
            gave the shortest code of parts of speech on every layer, and 100 that of
            supersenses, 6 % shorter than 10 with the layers in the same order; at 100 the
            layers of parts of speech stand the other way round, so codes of different
            penalties cannot be compared.
        memory: bytes of states that may be held in memory while layers are probed.
        processes: layers probed at once, each with one thread; 0 is one a core.
    """

    penalties: tuple[float, ...] = PENALTIES
    tolerance: float = 1e-4
    iterations: int = ITERATIONS
    controls: int = 3
    codes: bool = True
    code_penalty: float = 10.0
    memory: int = 1 << 29
    processes: int = 0

    @property
    def workers(self) -> int:
        """Return how many processes that is here."""
        return self.processes or int(cpu_count())


@dataclass(frozen=True)
class Finding:
    """What one task found on one layer.

    Args:
        task: name of the task.
        layer: place among the units of the store; 0 is what enters the first layer.
        chosen: the probe.
        test: its predictions on the test part.
        unseen: which of these are of word types that training lacks; None for sentences.
        control: accuracy of the control task, one a draw.
        code: what the training labels cost to send; None where it was not measured.
    """

    task: str
    layer: int
    chosen: Chosen
    test: Judged
    unseen: NDArray[np.bool_] | None
    control: tuple[float, ...]
    code: Code | None


@dataclass(frozen=True)
class Asking:
    """What is asked of one store.

    Args:
        store: the states.
        questions: the tasks' examples, without rare labels (`Examples.learnable`).
        split: the parts of the sentences.
        plain: whether to leave out control tasks and codes.
    """

    store: StateStore
    questions: Sequence[Examples]
    split: Split
    plain: bool = False


def _silent(done: int, total: int) -> None:
    """Say nothing of how many layers are done."""


def surveys(
    work: Sequence[Asking],
    settings: SurveySettings,
    seed: int,
    progress: Callable[[int, int], None] = _silent,
) -> list[list[Finding]]:
    """Probe all layers of all stores for all tasks; findings come store by store.

    All layers of all stores wait in one line, so that no process is idle before the last.

    Args:
        seed: of the control tasks and the order of sentences in the code; the same for all
            layers, so that layers can be compared.
        progress: told how many layers are done, and of how many.
    """
    layers = [
        (place, layer) for place, it in enumerate(work) for layer in range(len(it.store.units))
    ]
    count = min(settings.workers, len(layers))
    whole = settings.with_changes(memory=settings.memory // count)
    plain = whole.with_changes(controls=0, codes=False)
    calls = [
        delayed(probe_layer)(
            it.store, layer, it.questions, it.split, plain if it.plain else whole, seed
        )
        for it, layer in ((work[place], layer) for place, layer in layers)
    ]
    found: list[list[Finding]] = [[] for _ in work]
    for done, findings in enumerate(Parallel(n_jobs=count, return_as="generator")(calls)):
        found[layers[done][0]] += findings
        progress(done + 1, len(layers))
    return found


def probe_layer(
    store: StateStore,
    layer: int,
    questions: Sequence[Examples],
    split: Split,
    settings: SurveySettings,
    seed: int,
) -> list[Finding]:
    """Probe one layer for all tasks; see `surveys`."""
    found: dict[str, Finding] = {}
    for group in groups_of(questions):
        whole = store.sentence_means(layer) if group.unit == "sentence" else store.layer(layer)
        for finding in _probe_group(group, whole, layer, split, settings, seed):
            found[finding.task] = finding
    return [found[it.task] for it in questions]


@dataclass(frozen=True)
class Group:
    """Tasks that read the same rows.

    Args:
        unit: what a row is.
        rows, partners, sentences: of all examples of any of the tasks  # each [example]
        tasks: the members.
        places: where each task's examples are among the rows  # each [example of the task]
    """

    unit: str
    rows: Numbers
    partners: Numbers | None
    sentences: Numbers
    tasks: tuple[Examples, ...]
    places: tuple[Numbers, ...]

    def spread(self, index: int, labels: Numbers) -> Numbers:
        """Put a task's labels on the rows, -1 where it has none  # [example]."""
        spread = np.full(len(self.rows), ABSENT)
        spread[self.places[index]] = labels
        return spread

    @classmethod
    def of(cls, tasks: Sequence[Examples]) -> Group:
        """Join tasks of one unit."""
        keys = [
            np.column_stack([it.rows, it.rows if it.partners is None else it.partners])
            for it in tasks
        ]
        together = np.concatenate(keys)  # [example of any task, 2]
        sentences = np.concatenate([it.sentences for it in tasks])
        unique, first, place = np.unique(together, axis=0, return_index=True, return_inverse=True)
        ends = np.cumsum([len(it) for it in tasks])[:-1]
        partners = None if tasks[0].partners is None else unique[:, 1]
        places = tuple(np.split(place.reshape(-1), ends))
        rows = unique[:, 0]
        return cls(tasks[0].unit, rows, partners, sentences[first], tuple(tasks), places)


def groups_of(questions: Sequence[Examples]) -> list[Group]:
    """Group tasks by unit; those with few of the rows stand alone."""
    groups = []
    for unit in dict.fromkeys(it.unit for it in questions):
        members = [it for it in questions if it.unit == unit]
        most = max(len(it) for it in members)
        dense = [it for it in members if len(it) >= SPARSE * most]
        groups.append(Group.of(dense))
        groups += [Group.of([it]) for it in members if len(it) < SPARSE * most]
    return groups


def _probe_group(
    group: Group,
    states: NDArray[np.floating],
    layer: int,
    split: Split,
    settings: SurveySettings,
    seed: int,
) -> list[Finding]:
    parts = [split.examples(group.sentences, part) for part in ("train", "valid", "test")]
    features = Features(states, group.rows, group.partners).standardised(parts[0])
    train, valid, test = (features.select(part).held(settings.memory // 2) for part in parts)
    labels = [group.spread(index, it.labels) for index, it in enumerate(group.tasks)]
    sizes = [len(it.classes) for it in group.tasks]
    tasks = [
        Labels(gold[parts[0]], gold[parts[1]], size)
        for gold, size in zip(labels, sizes, strict=True)
    ]
    chosen = fit_chosen(
        train,
        valid,
        tasks,
        settings.penalties,
        tolerance=settings.tolerance,
        iterations=settings.iterations,
    )
    said = predict(test, [it.solution for it in chosen], [it[parts[2]] for it in labels])
    controls = _control(group, chosen, split, parts, (train, test), settings, seed)
    codes: list[Code | None] = [None] * len(tasks)
    if settings.codes:
        order = np.random.default_rng([seed, 1])
        sent = [(it.train, it.classes, settings.code_penalty) for it in tasks]
        codes = list(
            online_codes(
                train,
                sent,
                group.sentences[parts[0]],
                order,
                # Ten fits for one number, which the last digits do not change.
                tolerance=max(settings.tolerance, ROUGH),
                iterations=settings.iterations,
            )
        )
    findings = []
    for index, task in enumerate(group.tasks):
        sentences = group.sentences[parts[2]]
        result = judged(said[index], labels[index][parts[2]], sentences, sizes[index])
        unseen = None
        if task.has_types:
            # By row, as the predictions are, and not in the order of the task's examples.
            marks = group.spread(index, np.isin(np.arange(len(task)), _unseen(task, split)) * 1)
            unseen = marks[parts[2]][labels[index][parts[2]] >= 0] == 1
        own = (task.task, layer, chosen[index], result, unseen, controls[index], codes[index])
        findings.append(Finding(*own))
    return findings


def _unseen(task: Examples, split: Split) -> Numbers:
    """Return the numbers of the test examples whose type training lacks."""
    return split.examples(task.sentences, "test")[unseen_types(task, split)]


def _control(
    group: Group,
    chosen: Sequence[Chosen],
    split: Split,
    parts: Sequence[Numbers],
    features: tuple[Features, Features],
    settings: SurveySettings,
    seed: int,
) -> list[tuple[float, ...]]:
    """Return the accuracies of the control probes of every task."""
    problems, gold, owners = [], [], []
    for index, task in enumerate(group.tasks):
        if not task.has_types:
            continue
        generator = np.random.default_rng([seed, *task.task.encode()])
        for draw in control_labels(task, split, generator, settings.controls):
            labels = group.spread(index, draw)
            penalty = chosen[index].penalty
            problems.append(Problem(labels[parts[0]], len(task.classes), penalty))
            gold.append(labels[parts[2]])
            owners.append(index)
    rough = max(settings.tolerance, ROUGH)  # accuracies need no more
    solutions = solve(features[0], problems, tolerance=rough, iterations=settings.iterations)
    said = predict(features[1], solutions, gold)
    accuracies: list[list[float]] = [[] for _ in group.tasks]
    for index, (predicted, _), labels in zip(owners, said, gold, strict=True):
        there = labels >= 0
        accuracies[index].append(float((predicted == labels)[there].mean()))
    return [tuple(it) for it in accuracies]
