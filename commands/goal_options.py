"""Options of `headcount prune` that ask for a smaller model, and making it.

As with corpus options, what was given is collected on the side, as changes to
`SmallerSettings`; nothing given means that nobody asked for a smaller model.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import ThresholdError, UsageError
from .options import Decorated, echo_json
from .run_options import assigned

if TYPE_CHECKING:
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result
    from ..analyses.smaller import SmallerSettings
    from ..models.pruning.plan import PruningPlan
    from ..models.transformer import TransformerTranslator

_GIVEN = "headcount.smaller"
_BESIDE_PLAN = ("heads", "keep", "speedup", "price", "way", "minimum", "sites")
"""Options that say which heads go, as a plan does."""
GOALS = ("heads", "keep", "max_bleu_loss", "speedup", "price", "plan")


def goal_options(function: Decorated) -> Decorated:
    """Add the options; `given_goal` has the values."""
    for option in reversed(_OPTIONS):
        option(function)
    return function


def given_goal(*, comparing: bool = False) -> dict[str, Any]:
    """Return the options that were given to the command that runs now, by name.

    Args:
        comparing: whether they are for a comparison of ways, which has no goal.

    Raises:
        UsageError: options of a smaller model without one that says how small.
    """
    given: dict[str, Any] = dict(click.get_current_context().meta.get(_GIVEN, {}))
    if given and not comparing and not any(goal in given for goal in GOALS):
        raise UsageError(
            "say how small the model shall be: --heads, --keep, --max-bleu-loss, --speedup, "
            "--lambda or --plan"
        )
    if "plan" in given and (more := [name for name in _BESIDE_PLAN if name in given]):
        flag = more[0].replace("price", "lambda")
        raise UsageError(f"--plan names the heads that go, so --{flag} has no meaning beside it")
    return given


def make_smaller(pipeline: Pipeline, given: dict[str, Any], seed: int, as_json: bool) -> None:
    """Make the smaller model that was asked for, save it, and say what was reached.

    Args:
        pipeline: of the run.
        given: what `given_goal` returned.
        seed: of trainings and resamples.
        as_json: whether to print one JSON object.

    Raises:
        UsageError: a goal that the model cannot have, or a folder that is not empty.
        ThresholdError: a goal that was not met.
    """
    from ..analyses.provenance import fingerprint
    from ..analyses.smaller import smaller
    from ..models.pruning.plan import PruningPlan
    from .also import remove_units, save_units, show_units, units_settings

    own, translator = pipeline.settings, pipeline.translator
    start = _started(given["model"], translator) if "model" in given else None
    settings = _settings(given)
    units_settings(settings, given)  # refused now, before anything is done
    plan = PruningPlan.load(given["plan"]) if "plan" in given else None
    folder = given.get("save") or pipeline.run.path / "smaller" / _name(given, settings, plan)
    recipe = own.recipe
    about = [
        settings.model_dump(mode="json"),
        (start or translator).fingerprint,
        seed,
        repr(recipe),
        [str(head) for head in plan.removed] if plan else None,
    ]
    with _new_folder(folder) as scratch:
        model, made, result = smaller(
            translator,
            pipeline.corpus,
            settings,
            seed,
            pipeline.progress,
            recipe=recipe,
            folder=scratch / fingerprint(about)[:16],
            plan=plan,
            start=start,
        )
        units = None
        if "also" in given:
            own_scratch = scratch / fingerprint([about, given.get("ffn_keep")])[:16]
            arguments = (pipeline, model, settings, given, seed)
            units = remove_units(*arguments, recipe=recipe, scratch=own_scratch)
        result.save(folder / "results" / "smaller")
        if "save" not in given:  # it lies in the run, so the page of the run shows it
            result.save(pipeline.run.result(f"smaller-{folder.name}"))
        made.save(folder / "plan.json")
        if units:
            save_units(*units, pipeline, folder, own="save" not in given)
        model.save(folder)
    _show(result, folder, as_json)
    if units and not as_json:
        show_units(units[1], folder)


def _settings(given: dict[str, Any]) -> SmallerSettings:
    """Return the settings that the options make."""
    from ..analyses.presets import merged
    from ..analyses.smaller import SmallerSettings

    goal: dict[str, Any] = {
        key: given[key]
        for key in ("heads", "max_bleu_loss", "speedup", "by", "sites")
        if key in given
    }
    if "keep" in given:
        goal |= _kept(given["keep"])
    options = {key: given[key] for key in ("price", "minimum") if key in given}
    finish = {key: given[key] for key in ("finetune", "distil") if key in given}
    values: dict[str, Any] = {"goal": goal, "options": options, "finish": finish}
    values |= {key: given[key] for key in ("way", "control") if key in given}
    for assignment in given.get("assignments", ()):
        values = merged(values, assigned(assignment))
    return SmallerSettings.from_dict(values, "options")


def _kept(text: str) -> dict[str, Any]:
    """Read `25%` as a share and `20` as a number of heads."""
    number = text.strip()
    try:
        if number.endswith("%"):
            return {"keep": float(number[:-1]) / 100}
        return {"heads": int(number)}
    except ValueError:
        raise UsageError(
            f"--keep {text}: write a share such as 25%, or a number of heads"
        ) from None


def _started(folder: Path, whole: TransformerTranslator) -> TransformerTranslator:
    """Return the smaller model that more heads are to be taken from.

    Raises:
        UsageError: it was not made from the whole one.
    """
    from ..models.transformer import TransformerTranslator

    start = TransformerTranslator.load(folder, whole.device)
    own = {side: it.fingerprint for side, it in whole.vocabularies.items()}
    if own != {side: it.fingerprint for side, it in start.vocabularies.items()}:
        raise UsageError(f"{folder} has other vocabularies than the run: name a model made from it")
    return start


def _name(given: dict[str, Any], settings: SmallerSettings, plan: PruningPlan | None) -> str:
    """Return the name of the folder of a model nobody named."""
    from ..analyses.provenance import fingerprint

    goal = settings.goal
    before = f"{given['model'].resolve().name}-" if "model" in given else ""
    if plan is not None:
        named = fingerprint([plan.model, [str(head) for head in plan.removed]])
        return f"{before}plan-{named[:8]}"
    if goal.heads is not None:
        wanted = f"heads-{goal.heads}"
    elif goal.keep is not None:
        wanted = f"keep-{100 * goal.keep:g}"
    elif goal.speedup is not None:
        wanted = f"speedup-{goal.speedup:g}"
    elif goal.max_bleu_loss is not None:
        wanted = f"loss-{goal.max_bleu_loss:g}"
    else:
        wanted = f"lambda-{settings.options.get('price', 0):g}"
    return f"{before}{settings.way}-{wanted}"


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
    """Yield a scratch folder in a folder that is new, or was left by an interruption.

    When the goal is not met or makes no sense, nothing is left on disk; when the work is
    interrupted, the trainings are kept for the next try.

    Raises:
        UsageError: there is something else in the folder.
    """
    scratch = folder / "scratch"
    if folder.exists() and (not folder.is_dir() or set(folder.iterdir()) - {scratch}):
        raise UsageError(f"{folder} is there already; choose another folder with --save")
    try:
        yield scratch
    except (UsageError, ThresholdError):
        shutil.rmtree(scratch, ignore_errors=True)
        for empty in (folder, folder.parent if folder.parent.name == "smaller" else folder):
            if empty.is_dir() and not any(empty.iterdir()):
                empty.rmdir()
        raise
    shutil.rmtree(scratch, ignore_errors=True)


def _show(result: Result, folder: Path, as_json: bool) -> None:
    """Say what was reached, why the search stopped, and what it costs on test text."""
    from .records import records, records_of

    tables = {name: result.tables[name] for name in ("answer", "outcome", "cost", "tried", "kept")}
    if as_json:
        echo_json(
            {**records_of(result, *tables), "folder": str(folder), "remarks": list(result.remarks)}
        )
        return
    for row in records(tables["answer"].rows):
        click.echo(f"{row['property']}: {row['value']}")
    click.echo(f"on {tables['outcome'].n}:")
    for row in records(tables["outcome"].rows):
        loss, *bounds = (
            0.0 - row[column] for column in ("bleu_difference", "difference_high", "difference_low")
        )
        click.echo(
            f"  {row['model']:12} {row['heads']:3} heads  {row['parameters']:,} parameters  "
            f"BLEU {row['bleu']:.1f} [{row['bleu_low']:.1f}, {row['bleu_high']:.1f}]  "
            f"loss {loss:.2f} [{bounds[0]:.2f}, {bounds[1]:.2f}]  "
            f"chrF {row['chrf']:.1f}  NLL {row['nll']:.3f}"
        )
    for row in records(tables["cost"].rows):
        peak = "" if row["peak"] is None else f", peak of memory {row['peak'] / 2**20:.1f} MiB"
        click.echo(
            f"  {row['model']:12} {row['attention_left']:.0%} of the multiplications of attention, "
            f"{row['forward_left']:.0%} of all; {row['disk'] / 1e6:.1f} MB on disk{peak}"
        )
    click.echo(f"the model is in {folder}")


def _collect(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep a value that was given, under the name of its setting."""
    if value is None or value is False or value == ():
        return
    if option.name == "sites":
        value = tuple(site.strip() for site in value.split(","))
    context.meta.setdefault(_GIVEN, {})[option.name] = value


def collected(flag: str, name: str, help_: str, **more: Any) -> Any:
    """Return an option whose value is kept on the side, for `given_goal`."""
    return click.option(flag, name, expose_value=False, callback=_collect, help=help_, **more)


_OPTIONS = [
    collected("--heads", "heads", "Make a model with so many heads.", type=int, metavar="N"),
    collected(
        "--keep", "keep", "Make a model with this share of the heads, such as 25%.", metavar="SHARE"
    ),
    collected(
        "--max-bleu-loss",
        "max_bleu_loss",
        "Make the smallest model that loses no more.",
        type=float,
        metavar="POINTS",
    ),
    collected(
        "--speedup",
        "speedup",
        "Make the largest model that decodes so many times as fast.",
        type=float,
        metavar="TIMES",
    ),
    collected(
        "--by",
        "by",
        "What of the loss has to be inside: the upper bound of its interval "
        "(the default), or its mean.",
        type=click.Choice(["bound", "mean"]),
    ),
    collected(
        "--sites", "sites", "Where heads may go; all three when not given.", metavar="SITE,SITE"
    ),
    collected(
        "--way",
        "way",
        "How heads are chosen: importance, greedy, l0, subset, group_lasso, "
        "early, untrained, random, or a metric; leave_one_out when not given.",
        metavar="NAME",
    ),
    collected(
        "--lambda",
        "price",
        "Price of an open head, for l0 and group_lasso.",
        type=float,
        metavar="NATS",
    ),
    collected("--minimum", "minimum", "Heads that stay in every sublayer.", type=int, metavar="N"),
    collected(
        "--finetune",
        "finetune",
        "Train the smaller model on: not at all, for a tenth of "
        "the updates (the default), or for as many as the whole model.",
        type=click.Choice(["none", "short", "full"]),
    ),
    collected("--distil", "distil", "Let it learn from the whole model too.", is_flag=True),
    collected(
        "--control", "control", "Train the same shape from scratch, to compare.", is_flag=True
    ),
    collected(
        "--plan",
        "plan",
        "Remove the heads that plan.json of an earlier model names.",
        type=click.Path(path_type=Path),
        metavar="FILE",
    ),
    collected(
        "--model",
        "model",
        "Take the heads from this smaller model of RUN; what is reached is compared with the "
        "whole one, which also teaches.",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
    ),
    collected(
        "--set",
        "assignments",
        "One setting by its path: --set options.rescore=4. Repeatable.",
        multiple=True,
        metavar="KEY=VALUE",
    ),
    collected(
        "--save",
        "save",
        "The folder of the smaller model; RUN/smaller/NAME when not given.",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
    ),
]
