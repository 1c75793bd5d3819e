"""Which smaller model meets a goal, and what does it cost? The `smaller` analysis.

Heads are chosen by one way of the `way` family, cut out of the weights, and the smaller model
is trained on if that was asked for. Everything that chooses reads validation text; then the
model that was reached is measured once on the main test split beside the whole model, and, on
request, beside a model of the same shape that was trained from scratch.

It returns the smaller model with its Result. The table `outcome` is the answer, `tried` shows
every model on the way to it, `kept` every head with its place in the order, `gates` and
`trajectory` how a choice by training came about, and `proof` that cutting the heads out was
closing their gates.

Pitfall: a goal that was met on validation text can be missed on test text; both are shown.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..models.data.parallel_text import Corpus, ParallelText
from ..models.errors import UsageError
from ..models.pruning.plan import PruningPlan
from ..models.quality import RESAMPLES, signature
from ..models.settings import Settings
from ..models.training.from_corpus import Recipe
from ..models.translator import SearchSettings, Translator
from .analysis import Progress, silent
from .proof import PROOF_BEAM, compared
from .provenance import Stopwatch, provenance
from .pruning.finish import Finish, from_scratch
from .pruning.goal import Goal, Planned, way_of
from .pruning.search import Search, Trial
from .pruning.tables import smaller_tables
from .pruning.way import Task
from .result import Result


class SmallerSettings(Settings):
    """What to make, how, and how much text to measure it on.

    Args:
        goal: how small the model shall be.
        way: a member of the `way` family, or a metric, whose order is then followed.
        options: the way's own.
        finish: what is done after the heads are gone.
        control: whether the same shape is also trained from scratch.
        sentences: validation sentences that decide; None for all.
        test_sentences: test sentences that judge; None for all.
        search: how to translate; greedy by default.
        resamples: bootstrap resamples of the sentences.
        proof_sentences: on which closed gates are compared with the cut, by a beam.
        memory: whether to measure the peak of memory of every model, in processes of their own.
    """

    goal: Goal
    way: str = "leave_one_out"
    options: dict[str, Any] = {}
    finish: Finish = Finish()
    control: bool = False
    sentences: int | None = None
    test_sentences: int | None = None
    search: SearchSettings = SearchSettings(beam=1)
    resamples: int = RESAMPLES
    proof_sentences: int = 32
    memory: bool = True


def smaller(
    translator: Translator,
    corpus: Corpus,
    settings: SmallerSettings,
    seed: int,
    progress: Progress = silent,
    *,
    recipe: Recipe,
    folder: Path,
    plan: PruningPlan | None = None,
    start: Translator | None = None,
) -> tuple[Translator, PruningPlan, Result]:
    """Make the smaller model that the goal asks for.

    Args:
        recipe: how the model was trained.
        folder: keeps the states of trainings, so that an interrupted search goes on.
        plan: heads to remove, instead of a way and a number.
        start: a smaller model that was made of this one, from which more heads go; what is
            reached is compared with the whole one, which also teaches.

    Raises:
        ThresholdError: no model meets the goal.
        UsageError: a goal, a way, an option, a plan or a start that does not fit the model.
    """
    stopwatch = Stopwatch()
    first = translator if start is None else start
    layout, model = first.layout, translator.fingerprint
    if not set(layout) <= set(translator.layout):
        raise UsageError("the model to start from has heads that the run's does not have")
    goal, way = settings.goal, None
    if plan is not None:
        _check_alone(settings)
        plan.check(first.fingerprint, layout)
        sites = tuple(dict.fromkeys(head.site for head in layout))
        goal = goal.with_changes(heads=len(layout) - len(plan.removed), sites=sites)
        way = Planned.by(plan)
    goal.count(layout)
    candidates = goal.candidates(layout)
    task = Task(first, corpus, recipe, candidates, seed, folder, progress, reference=translator)
    search = Search(
        task,
        way or way_of(settings.way, settings.options),
        settings.finish,
        goal,
        _head(corpus.valid, settings.sentences),
        settings.search,
        settings.resamples,
    )
    trial, why = search.run()
    models = {"whole": translator, "smaller": trial.model}
    if settings.control:
        models["from scratch"] = from_scratch(task, trial.model, str(trial.heads))
    test = _head(corpus.test, settings.test_sentences)
    some = search.data.head(settings.proof_sentences)
    beam = settings.search.with_changes(beam=max(PROOF_BEAM, settings.search.beam))
    proof = compared(trial.chosen.translator, trial.removed, some, beam)
    arguments = (search, trial, why, models, test, seed, proof)
    tables = smaller_tables(*arguments, memory=settings.memory)
    origin = provenance(
        stopwatch,
        seed=seed,
        model=model,
        data={"valid": search.data.fingerprint, "test": test.fingerprint},
        device=translator.device,
        signatures={"bleu": signature("bleu", test.target), "chrf": signature("chrf", test.target)},
    )
    described = settings.with_changes(goal=goal.model_dump()).model_dump(mode="json")
    gone = tuple(head for head in translator.layout if head not in layout)
    removed = (*gone, *trial.removed)
    made = PruningPlan(model, plan.way if plan else settings.way, removed)
    return trial.model, made, Result("smaller", tables, described, origin, _remarks(trial))


def _check_alone(settings: SmallerSettings) -> None:
    """Refuse what would be said beside a plan, which names the heads."""
    goal = settings.goal
    numbers = (goal.heads, goal.keep, goal.speedup)
    if any(it is not None for it in numbers) or goal.sites != Goal().sites or settings.options:
        raise UsageError(
            "a plan names the heads that go: leave out how many, where and how they are chosen"
        )


def _head(text: ParallelText, sentences: int | None) -> ParallelText:
    return text if sentences is None else text.head(sentences)


def _remarks(trial: Trial) -> tuple[str, ...]:
    remarks = ["Everything was chosen on training and validation text; test text only judged."]
    if trial.chosen.trained < 1:
        had = f"{trial.chosen.trained:.0%}"
        remarks.append(f"The heads were cut from a model that had {had} of its training.")
    if trial.chosen.history:
        undecided = trial.chosen.history[-1]["undecided"]
        remarks.append(f"When the choice ended, {undecided:.0%} of the heads were undecided.")
    return tuple(remarks)
