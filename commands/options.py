"""Options that commands share, so that one word means the same thing everywhere.

    @click.command()
    @seed_option
    @device_option
    @json_option
    def command(seed: int, device: str, as_json: bool) -> None: ...

`--debug` needs no decorator: `cli.py` gives it to every command.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.types import IntParamType

Decorated = TypeVar("Decorated", bound="Callable[..., Any] | click.Command")

_RESUME = "headcount.resume"
_SEEDS = click.IntRange(min=0, max=2**32 - 1)


class _Seed(IntParamType):
    """A whole number of 32 bits, whose range is no part of the help."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, or refuse it."""
        return int(_SEEDS.convert(value, param, ctx))


SEED = _Seed()
"""What a seed can be; see `models.settings.Seed`."""


def seed_option(function: Decorated) -> Decorated:
    """Add `--seed N`; the value is recorded in whatever the command writes."""
    return click.option(
        "--seed",
        type=SEED,
        default=0,
        show_default=True,
        help="Seed of everything random; recorded with the results.",
    )(function)


def device_option(function: Decorated) -> Decorated:
    """Add `--device NAME`; `auto` takes the first GPU, else the CPU."""
    return click.option(
        "--device",
        metavar="NAME",
        default="auto",
        show_default=True,
        help="Where to compute: auto, cpu, cuda, cuda:1, mps.",
    )(function)


def json_option(function: Decorated) -> Decorated:
    """Add `--json`, passed as `as_json`: the answer as one JSON object for programs."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON object instead of text."
    )(function)


def metrics_option(what: str) -> Callable[[Decorated], Decorated]:
    """Add `--metrics NAME,...`, passed as a tuple of words that may hold several names.

    Args:
        what: the start of the help, such as `Measure these, or all`.
    """
    return click.option(
        "--metrics",
        "--metric",
        "metrics",
        multiple=True,
        metavar="NAME,...",
        help=f"{what}; names with commas between, or repeat the option.",
    )


def treebank_option(function: Decorated) -> Decorated:
    """Add `--treebank FILE`."""
    return click.option(
        "--treebank",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Annotated sentences of the source language (.conllu, or .conllulex with "
        "supersenses).",
    )(function)


def debug_option(function: Decorated) -> Decorated:
    """Add `--debug`, which `cli.py` reads: show the traceback of an error."""
    return click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        help="Show the traceback of an error.",
    )(function)


def echo_json(value: Any) -> None:
    """Print a value as indented JSON; NaN is an error, for JSON has no word for it."""
    click.echo(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))


def resume_with(line: str) -> None:
    """Say what to type to go on, should the command that runs now be interrupted.

    Args:
        line: a whole command line, such as `headcount run -o runs/small`.
    """
    click.get_current_context().meta[_RESUME] = line


def resume_hint(context: click.Context) -> str:
    """Return how to go on after an interruption."""
    line = context.meta.get(_RESUME)
    return f"go on with: {line}" if line else "run the same command again to go on"
