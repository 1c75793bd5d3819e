"""`headcount prune --compare`: the curve of several ways of choosing heads."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError
from .options import echo_json
from .run_options import assigned

if TYPE_CHECKING:
    from ..analyses.pipeline import Pipeline
    from ..analyses.result import Result
    from ..analyses.ways import WaysSettings

_ALLOWED = {"finetune", "distil", "sites", "minimum", "assignments"}


def compare_ways(
    pipeline: Pipeline,
    names: Sequence[str],
    given: Mapping[str, Any],
    curve: Mapping[str, Any],
    output: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Compare ways of choosing heads, keep the Result where that was asked for, and show it.

    Args:
        names: the ways.
        given: options of smaller models; those that say how one is made hold for all ways.
        curve: draws, sentences and jobs, where they were given.
        output: keeps the Result, and what an interrupted comparison needs to go on.

    Raises:
        UsageError: an option that has no meaning here, or a folder that holds something else.
    """
    from ..analyses.ways import ways
    from ..models.training.from_corpus import Recipe

    own, settings = pipeline.settings, _settings(names, given, curve)
    if output and output.exists() and set(output.iterdir()) - {output / "scratch"}:
        raise UsageError(f"{output} is there already; choose another folder with -o")
    recipe = Recipe(own.vocabulary, own.network, own.training, own.seed)
    arguments = (pipeline.translator, pipeline.corpus, settings, seed, pipeline.progress)
    scratch = output / "scratch" if output else None
    result = ways(*arguments, recipe=recipe, folder=scratch)
    if output and scratch:
        result.save(output)
        shutil.rmtree(scratch, ignore_errors=True)
    _show(result, as_json)


def _settings(
    names: Sequence[str], given: Mapping[str, Any], curve: Mapping[str, Any]
) -> WaysSettings:
    """Return the settings that the options make."""
    from ..analyses.presets import merged
    from ..analyses.ways import WaysSettings

    if wrong := sorted(set(given) - _ALLOWED):
        flag = wrong[0].replace("_", "-").replace("price", "lambda")
        raise UsageError(f"--{flag} makes one model and has no meaning with --compare")
    finish = {key: given[key] for key in ("finetune", "distil") if key in given}
    values: dict[str, Any] = {**curve, "ways": tuple(names), "finish": finish}
    values |= {key: given[key] for key in ("sites",) if key in given}
    if "minimum" in given:
        values["options"] = {name: {"minimum": given["minimum"]} for name in names}
    for assignment in given.get("assignments", ()):
        values = merged(values, assigned(assignment))
    return WaysSettings.from_dict(values, "options")


def _show(result: Result, as_json: bool) -> None:
    tables = {name: result.tables[name].rows for name in ("curve", "summary", "area", "knee")}
    if as_json:
        rows = {
            name: table.astype(object).where(table.notna(), None).to_dict("records")
            for name, table in tables.items()
        }
        echo_json(rows)
        return
    bleu = tables["summary"].pivot_table(
        index="heads_left", columns="order", values="mean", sort=False
    )
    click.echo(f"BLEU by heads left, {result.tables['curve'].n} (mean of the repetitions)")
    click.echo(bleu.sort_index(ascending=False).to_string(float_format=lambda it: f"{it:.1f}"))
