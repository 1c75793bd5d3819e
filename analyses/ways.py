"""Which way of choosing heads keeps most of the quality? The `ways` analysis.

Every way chooses heads at the same numbers of heads, the heads are cut out of the weights, all
smaller models are trained on for equally long (or not at all), whatever it took to choose
their heads, and all translate the same test sentences. By default each smaller model is made
from the one before (`pruning/descent`), which makes a curve as cheap as a model. Ways are
repeated with several seeds, and random orders show what chance gives; a control of the same
shapes from random weights shows what the shape gives.

The table `curve` is that of the `prune` analysis with chrF, one row a way, repetition and
number of heads; `summary` has the mean over repetitions with its interval over sentences and
repetitions; `against` compares every two ways; `overview` judges a way over all numbers of
heads and has its price; `groups` and `gone` say in which order sites and roles vanish.

Repetitions are of the choice and of the fine-tuning, with other seeds. Given the same network
trained from other seeds, each is of another whole model too, and the interval says what another
training would give; a difference from the whole model is from its own.

Pitfall: with one trained model the interval leaves out what another training would give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import Field

from ..models.data.parallel_text import Corpus
from ..models.errors import UsageError, did_you_mean
from ..models.gates import SITES, Head, HeadLayout
from ..models.quality import RESAMPLES, signature
from ..models.settings import Settings
from ..models.training.from_corpus import Recipe
from ..models.translator import SearchSettings, Translator
from .analysis import Progress, silent
from .points import measure
from .provenance import Stopwatch, provenance
from .pruning.arms import SCRATCH, Arm, ArmPoint, run_arms
from .pruning.finish import Finish
from .pruning.goal import Goal, way_of
from .pruning.way import Task, Way, fewest
from .pruning.way_tables import way_tables
from .removal import RANDOM, head_counts
from .result import Result

UNTRAINED_DRAWS = 10
"""Random orders where a model costs its measuring alone."""


@dataclass(frozen=True)
class Training:
    """One training of the network.

    Args:
        name: of the run.
        translator: the whole model.
        recipe: how it was trained.
    """

    name: str
    translator: Translator
    recipe: Recipe


class WaysSettings(Settings):
    """Which ways, at how many heads, how often, on how much text.

    Args:
        ways: members of the `way` family, or metrics, whose order is then followed.
        options: options of single ways, `{"l0": {"share": 0.5}}`.
        finish: what is done at every point after its heads are gone, for all ways alike.
        chained: whether each smaller model is made from the one before, and not from the
            whole one. Ways that begin a training of their own make each apart anyway.
        shares: of the heads, how many are left at each point; the whole model is added.
        sites: where heads may go.
        by_site: whether curves on which one site alone loses heads are added.
        seeds: repetitions of what depends on a seed, of each training of the network.
        draws: random orders, where `random` is among the ways; None is `seeds`, and 10 where
            nothing is trained after.
        control: the way whose shapes are also trained from scratch.
        sentences: the first so many of the main test split.
        search: how to translate; greedy by default.
        resamples: bootstrap resamples of the sentences.
        jobs: processes; 0 takes one a core on a CPU and one on a GPU.
    """

    ways: tuple[str, ...] = ("leave_one_out", "greedy", "l0", "subset", "random")
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)
    finish: Finish = Finish(share=0.04, rate=0.2, average=1, validations=1)
    chained: bool = True
    shares: tuple[float, ...] = (7 / 8, 3 / 4, 5 / 8, 1 / 2, 3 / 8, 1 / 4, 1 / 6, 1 / 8)
    sites: tuple[str, ...] = SITES
    by_site: bool = False
    seeds: int = Field(default=3, ge=1)
    draws: int | None = Field(default=None, ge=1)
    control: str | None = None
    sentences: int = Field(default=300, ge=1)
    search: SearchSettings = SearchSettings(beam=1)
    resamples: int = RESAMPLES
    jobs: int = Field(default=0, ge=0)

    def members(self) -> dict[str, Way]:
        """Return every way by its name.

        Raises:
            UsageError: an unknown way or option, options of a way that is not compared, or
                the control of one.
        """
        for name in (*self.options, *([self.control] if self.control else [])):
            if name not in self.ways:
                raise UsageError(
                    f"'{name}' is not among the ways that are compared"
                    + did_you_mean(name, self.ways)
                )
        return {name: way_of(name, self.options.get(name, {})) for name in self.ways}

    def check(self, layout: HeadLayout) -> None:
        """Refuse what could not be compared on a model, before anything is read or written.

        Raises:
            UsageError: see `members`; sites without heads, or shares that are none.
        """
        candidates = Goal(sites=self.sites).candidates(layout)
        counts = head_counts(len(candidates), self.shares)[1:]
        for name, member in self.members().items():
            least = member.least(candidates, layout)
            if member.minimum and (low := [it for it in counts if it < least]):
                raise UsageError(
                    f"{low[0]} heads cannot be left by {name} where every sublayer keeps "
                    f"{member.minimum} (--minimum): {least} have to stay"
                )


def ways(
    translator: Translator,
    corpus: Corpus,
    settings: WaysSettings,
    seed: int,
    progress: Progress = silent,
    *,
    recipe: Recipe,
    folder: Path | None = None,
    roles: Mapping[str, Sequence[Head]] | None = None,
    others: Sequence[Training] = (),
) -> Result:
    """Measure the curve of quality against heads for every way.

    Args:
        recipe: how the model was trained.
        folder: keeps finished points and trainings, so that a killed comparison goes on.
        roles: heads that have a role, by its family, to tell in which order roles vanish; they
            belong to one training of the network and are left out where there are others.
        others: the same network trained from other seeds, each repeated as the first is.

    Raises:
        UsageError: an unknown way or option, or a model that is no other training of the network.
    """
    stopwatch = Stopwatch()
    layout = translator.layout
    settings.check(layout)
    check_alike(translator, others)
    data = corpus.test.head(settings.sentences)
    with nullcontext(str(folder)) if folder else TemporaryDirectory() as place:
        about = (layout.heads, seed)
        tasks = [
            Task(it.translator, corpus, it.recipe, *about, Path(place) / f"model-{number}")
            for number, it in enumerate([Training("", translator, recipe), *others])
        ]
        groups = _arms(tasks, settings)
        total = sum(len(counts) * (1 + arm.control) for arms, counts in groups for arm in arms)
        points: list[ArmPoint] = []
        progress("ways", 0, total)
        search, jobs = settings.search, settings.jobs
        for arms, counts in groups:
            found: list[ArmPoint] = []
            for point in run_arms(arms, counts, data, search, Path(place) / "points", jobs):
                found.append(point)
                done = len(points) + len(found)
                progress("ways", done, total, f"{point.name}, {point.heads} heads")
            place_of = {name: at for at, name in enumerate([*settings.ways, SCRATCH])}
            points += sorted(found, key=lambda it: (place_of[it.name], it.draw))
    wholes = [measure(task.translator, (), data, settings.search) for task in tasks]
    known = {} if others else roles or {}
    tables = way_tables(points, wholes, layout, data, settings.resamples, seed, known)
    origin = provenance(
        stopwatch,
        seed=seed,
        model=translator.fingerprint,
        data={
            "valid": corpus.valid.fingerprint,
            "test": data.fingerprint,
            **{f"model of {it.name}": it.translator.fingerprint for it in others},
        },
        device=translator.device,
        signatures={name: signature(name, data.target) for name in ("bleu", "chrf")},
    )
    described = settings.model_dump(mode="json")
    return Result("ways", tables, described, origin, _remarks(settings, recipe, others))


def check_alike(translator: Translator, others: Sequence[Training]) -> None:
    """Refuse models that are no other training of the same network, or one that comes twice.

    Raises:
        UsageError: one of these.
    """
    seen = {translator.fingerprint}
    for it in others:
        if it.translator.layout != translator.layout:
            raise UsageError(f"{it.name} has other heads: compare trainings of the same network")
        if it.translator.fingerprint in seen:
            raise UsageError(f"{it.name} has the weights of another run that was given")
        seen.add(it.translator.fingerprint)


def _remarks(settings: WaysSettings, recipe: Recipe, others: Sequence[Training]) -> tuple[str, ...]:
    updates = round(recipe.training.updates * settings.finish.updates())
    made, gates = "the whole model", ""
    if settings.chained:
        made = "the one before"
        gates = " Gates choose at every quarter of the heads, and there the model is theirs."
    return (
        "Heads were chosen on training and validation text; test text only judged.",
        f"Each smaller model was made from {made}, with {updates} updates of training on; what a "
        f"way trains to choose comes on top, and the overview counts it.{gates}",
        "Repetitions are other seeds of the choice and of the fine-tuning"
        + (
            f" of {1 + len(others)} trainings of the network, the run's own and those of "
            f"{', '.join(it.name for it in others)}."
            if others
            else " of one whole model."
        ),
    )


def _arms(tasks: Sequence[Task], settings: WaysSettings) -> list[tuple[list[Arm], list[int]]]:
    """Return for each choice of sites one arm a way, model and repetition, and the counts."""
    members = settings.members()
    if settings.finish.updates() or any(member.trains for member in members.values()):
        tasks = [replace(task, encoded=task.text) for task in tasks]
    layout = tasks[0].translator.layout
    chosen = [site for site in SITES if site in settings.sites]
    places = {"all" if len(chosen) == len(SITES) else "+".join(chosen): settings.sites}
    if settings.by_site:
        places |= {site: (site,) for site in chosen}
    groups = []
    for where, sites in places.items():
        candidates = Goal(sites=sites).candidates(layout)
        least = fewest(layout, len(candidates))
        counts = head_counts(len(candidates), settings.shares)[1:]
        own = [replace(task, candidates=candidates, folder=task.folder / where) for task in tasks]
        arms = [
            arm
            for name, member in members.items()
            for arm in _repeated(name, member, own, settings)
        ]
        named = [replace(arm, where=where) for arm in arms]
        groups.append((named, [it for it in counts if it >= least]))
    return groups


def _repeated(name: str, member: Way, tasks: Sequence[Task], settings: WaysSettings) -> list[Arm]:
    """Return the arms of one way, in folders of their own, as many for every model."""
    finish = settings.finish
    trained = finish.updates() > 0
    if member.begins and trained:  # it is trained to its end, as any training is
        finish = Finish(finetune=finish.finetune, distil=finish.distil)
    repetitions = settings.seeds if trained or member.seeded else 1
    if name == RANDOM:
        repetitions = settings.draws or (settings.seeds if trained else UNTRAINED_DRAWS)
    arms = []
    for draw in range(len(tasks) * repetitions):
        model = draw // repetitions
        task = tasks[model]
        own = replace(task, seed=task.seed + draw, folder=task.folder / f"{name}-{draw}")
        arms.append(
            Arm(
                name,
                draw,
                member,
                own,
                finish,
                control=name == settings.control,
                chained=settings.chained and not member.begins,
                model=model,
            )
        )
    return arms
