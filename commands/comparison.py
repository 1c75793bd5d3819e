"""`headcount prune --compare`: the curve of several ways of choosing heads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .goal_options import collected
from .options import Decorated, echo_json
from .run_options import assigned

if TYPE_CHECKING:
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result
    from ..analyses.run_folder import RunFolder
    from ..analyses.ways import Training, WaysSettings
    from ..models.gates import HeadLayout

COMPARED = ("seeds", "points", "apart", "by_site")
"""Options that make sense with `--compare` alone."""
_ALLOWED = {*COMPARED, "finetune", "distil", "sites", "minimum", "assignments", "control"}
_STANDARD = "standard"


def comparison_options(function: Decorated) -> Decorated:
    """Add the options of a comparison; `given_goal` has the values."""
    for option in reversed(_OPTIONS):
        option(function)
    return function


def compare_ways(
    pipeline: Pipeline,
    names: Sequence[str],
    given: Mapping[str, Any],
    curve: Mapping[str, Any],
    output: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Compare ways of choosing heads, keep the Result, and show it.

    Args:
        names: the ways.
        given: options of smaller models; those that say how one is made hold for all ways.
        curve: draws, sentences and jobs, where they were given.
        output: keeps the Result, and what an interrupted comparison needs to go on; None is
            the run itself.

    Raises:
        UsageError: an option that has no meaning here, or a folder that holds something else.
    """
    from ..analyses.ways import check_alike

    repetitions, runs = _repetitions(given.get("seeds", ()))
    values = {**given, "seeds": repetitions} if "seeds" in given else given
    settings = _settings(names, values, curve, pipeline.translator.layout)
    settings.check(pipeline.translator.layout)
    others = [_training(path, pipeline) for path in runs]
    check_alike(pipeline.translator, others)

    def compared(scratch: Path) -> Result:
        return _compared(pipeline, settings, seed, scratch, others)

    if output is None:
        inputs = _inputs(pipeline, settings, seed, others)
        result = _of_run(pipeline.run, inputs, compared)
    else:
        result = _apart(output, compared)
    _show(result, as_json)


def _repetitions(words: Sequence[str]) -> tuple[int | None, list[Path]]:
    """Read what was said of repetitions: a number, and runs that trained the network again.

    Returns:
        repetitions of each training, one where only runs were given; None where nothing was.

    Raises:
        UsageError: several numbers, one below 1, or one that is the name of a run here too: what
            it means must not depend on which folders there happen to be.
    """
    numeric = [word for word in words if re.fullmatch(r"[+-]?[0-9]+", word)]
    for word in numeric:
        if word[0].isdigit() and (Path(word) / "run.json").exists():
            raise UsageError(
                f"--seeds {word}: a run here has this name; write ./{word} for the run, or "
                f"+{word} for so many repetitions"
            )
    numbers = [int(word) for word in numeric]
    runs = [Path(word) for word in words if word not in numeric]
    if len(numbers) > 1 or any(number < 1 for number in numbers):
        raise UsageError("--seeds: give one number, at least 1, and runs of other seeds")
    if not words:
        return None, []
    return numbers[0] if numbers else 1, runs


def _training(path: Path, pipeline: Pipeline) -> Training:
    """Return the model of another run of the same network."""
    from ..analyses.pipeline import Pipeline, open_run
    from ..analyses.ways import Training

    other = Pipeline(open_run(path), pipeline.translator.device)
    return Training(path.resolve().name, other.translator, other.settings.recipe)


def _inputs(
    pipeline: Pipeline, settings: WaysSettings, seed: int, others: Sequence[Training]
) -> dict[str, str]:
    """Return fingerprints of all that a comparison kept in the run depends on."""
    from ..analyses.pipeline import MEASURING
    from ..analyses.provenance import code_fingerprint, fingerprint
    from ..models.files import sha256_of

    roles = pipeline.run.result("roles") / "result.json"
    asked = settings.model_dump(mode="json", exclude={"jobs"})  # jobs change no number
    recipes = [pipeline.settings.recipe, *(it.recipe for it in others)]
    return {
        "settings": fingerprint([asked, seed, [it.name for it in others]]),
        "recipes": fingerprint([repr(it) for it in recipes]),
        "roles": sha256_of(roles) if roles.exists() else "none",
        "weights": fingerprint(
            [pipeline.translator.fingerprint, *(it.translator.fingerprint for it in others)]
        ),
        "text": fingerprint([pipeline.corpus.valid.fingerprint, pipeline.corpus.test.fingerprint]),
        "code": code_fingerprint(*MEASURING),
    }


def _of_run(
    run: RunFolder, inputs: Mapping[str, str], compared: Callable[[Path], Result]
) -> Result:
    """Make the comparison a stage of the run, which is left alone when nothing has changed."""
    from ..analyses.result import Result

    made = run.result("ways")
    run.stage("ways", inputs, [made], lambda stage: compared(stage.scratch).save(made))
    return Result.load(made)


def _apart(output: Path, compared: Callable[[Path], Result]) -> Result:
    """Keep the comparison in a folder of its own."""
    import shutil

    scratch = output / "scratch"
    if output.exists() and (not output.is_dir() or set(output.iterdir()) - {scratch}):
        raise UsageError(f"{output} is there already; choose another folder with -o")
    result = compared(scratch)
    result.save(output)
    shutil.rmtree(scratch, ignore_errors=True)
    return result


def _compared(
    pipeline: Pipeline,
    settings: WaysSettings,
    seed: int,
    scratch: Path,
    others: Sequence[Training],
) -> Result:
    from ..analyses.pruning.vanishing import roles_of
    from ..analyses.result import Result
    from ..analyses.ways import ways

    made = pipeline.run.result("roles")
    found = (made / "result.json").exists()
    return ways(
        pipeline.translator,
        pipeline.corpus,
        settings,
        seed,
        pipeline.progress,
        recipe=pipeline.settings.recipe,
        folder=scratch,
        roles=roles_of(Result.load(made)) if found else None,
        others=others,
    )


def _settings(
    names: Sequence[str], given: Mapping[str, Any], curve: Mapping[str, Any], layout: HeadLayout
) -> WaysSettings:
    """Return the settings that the options make."""
    from ..analyses.presets import merged
    from ..analyses.pruning.goal import Goal
    from ..analyses.ways import WaysSettings

    if wrong := sorted(set(given) - _ALLOWED):
        flag = wrong[0].replace("_", "-").replace("price", "lambda")
        raise UsageError(f"--{flag} makes one model and has no meaning with --compare")
    values: dict[str, Any] = dict(curve)
    if tuple(names) != (_STANDARD,):
        values["ways"] = tuple(names)
    own = WaysSettings()
    if "finetune" in given:
        values["finish"] = {"finetune": given["finetune"]}
        if "apart" not in given:
            values["finish"] |= {"average": 1, "validations": 1}
    elif "apart" not in given:
        values["finish"] = own.finish.model_dump()
    if "distil" in given:
        values["finish"] = {**values.get("finish", {}), "distil": True}
    values |= {key: given[key] for key in ("sites", "seeds", "by_site") if key in given}
    values["chained"] = "apart" not in given
    if "points" in given:
        sites = Goal.from_dict({key: given[key] for key in ("sites",) if key in given}, "--sites")
        values["shares"] = _shares(given["points"], len(sites.candidates(layout)))
    if "minimum" in given:
        every = values.get("ways", own.ways)
        values["options"] = {name: {"minimum": given["minimum"]} for name in every}
    if "control" in given:
        values["control"] = values.get("ways", own.ways)[0]
    for assignment in given.get("assignments", ()):
        values = merged(values, assigned(assignment))
    return WaysSettings.from_dict(values, "options")


def _shares(text: str, total: int) -> tuple[float, ...]:
    """Read numbers of heads, or shares of them, such as `54,36,18` and `75%,50%`."""
    shares = []
    for word in text.split(","):
        number = word.strip()
        try:
            share = float(number[:-1]) / 100 if number.endswith("%") else int(number) / total
        except ValueError:
            raise UsageError(
                f"--points {text}: write numbers of heads such as 54,36,18, or shares such as 50%"
            ) from None
        if not 0 <= share < 1:
            raise UsageError(f"--points: {number} is not fewer than all {total} heads")
        shares.append(share)
    return tuple(shares)


def _show(result: Result, as_json: bool) -> None:
    names = ("curve", "summary", "against", "overview", "area", "knee", "gone")
    tables = {name: result.tables[name].rows for name in names}
    if as_json:
        from .records import records_of

        echo_json(records_of(result, *names))
        return
    for where, rows in tables["summary"].groupby("where", sort=False):
        bleu = rows.pivot_table(index="heads_left", columns="order", values="bleu", sort=False)
        place = "" if where == "all" else f", only {where} heads may go"
        n = result.tables["curve"].n
        click.echo(f"BLEU by heads left, {n} (mean of the repetitions{place})")
        click.echo(bleu.sort_index(ascending=False).to_string(float_format=lambda it: f"{it:.1f}"))
    for row in tables["overview"].to_dict("records"):
        place = "" if row["where"] == "all" else f" ({row['where']})"
        seconds = row["choosing"] + row["training"] + row["measuring"]
        click.echo(
            f"  {row['order'] + place:20} keeps {row['area']:.3f} "
            f"[{row['area_low']:.3f}, {row['area_high']:.3f}] of the area, knee at "
            f"{row['knee']:.0f} heads; one curve took {row['updates']:.0f} updates and "
            f"{seconds:.0f} s of one processor"
        )


_OPTIONS = [
    collected(
        "--points",
        "points",
        "With --compare: how many heads are left at each point, such as 54,36,18 or 50%,25%.",
        metavar="N,N,...",
    ),
    collected(
        "--seeds",
        "seeds",
        "With --compare: so many repetitions with other seeds, 3 when not given; or a run that "
        "trained the network from another seed, to repeat the choice on; ./3 for a run that is "
        "called 3. Repeatable.",
        multiple=True,
        metavar="N|RUN",
    ),
    collected(
        "--by-site",
        "by_site",
        "With --compare: also curves on which one site alone loses heads.",
        is_flag=True,
    ),
    collected(
        "--apart",
        "apart",
        "With --compare: make every smaller model from the whole one, not from the one before; "
        "takes several times as long.",
        is_flag=True,
    ),
]
