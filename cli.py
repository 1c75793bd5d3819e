"""The front door: `headcount COMMAND`.

The table `COMMANDS` names every command with one line of help; the file of a command, and
with it torch or pandas, is imported only when that command is called, so that
`headcount --help` answers at once. A command is an object called `command` in a file of
`commands/`, made with `@click.command()` or `@click.group()`.

What can go wrong is said here, for all commands alike:

| exit code | meaning |
| --- | --- |
| 0 | done |
| 1 | failed: data, files or a model cannot be used, or something unexpected |
| 2 | a wrong option, argument, name or setting |
| 3 | a threshold that was asked for is not met |
| 130 | interrupted; the line says how to go on |

Errors are one line on the standard error that begins with `error:`. `--debug` adds the
traceback. When the reader of a pipe leaves early (`headcount ... | head`), the command ends
without a word.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from . import __version__
from .commands.options import debug_option, resume_hint
from .models.errors import HeadcountError, UsageError, did_you_mean, system_says

COMMANDS: dict[str, str] = {
    "run": "Go the whole way: train, evaluate, score, prune, and write the page.",
    "train": "Train a model, on one device or on several.",
    "translate": "Translate the standard input, line by line.",
    "score": "Show how much every head matters.",
    "relevance": "Show what each output word relied on, source against words before.",
    "roles": "Show what each head looks at: positions, relations, meaning, translations.",
    "layers": "Show what each layer knows of syntax and semantics.",
    "trust": "Say which importance metric can be believed, and why.",
    "prune": "Show BLEU against heads left, and save a smaller model.",
    "export": "Write a model for others, as safetensors or ONNX, and prove it.",
    "bench": "Measure speed and memory of smaller models and of the metrics.",
    "report": "Write the page of a run again, and its figures for papers.",
    "compare": "Set several runs side by side: differences, curves, heads, settings, costs.",
    "data": "List, fetch and show corpora.",
    "doctor": "Show versions, devices, data found, and what is missing.",
}
"""Every command, in the order of `headcount --help`: its name is its file in `commands/`."""


_REMEDIES = {
    errno.ENOTDIR: "a part of this path is a file, choose another path",
    errno.EISDIR: "name a file",
    errno.EACCES: "choose a place that you may use, or change its permissions",
    errno.EPERM: "choose a place that you may use, or change its permissions",
    errno.EROFS: "choose a place that you may write to",
    errno.ENOSPC: "free some space, or choose another place",
}
"""What can be done about an error of the file system."""


class InterruptionError(HeadcountError):
    """Ctrl-C, with what to type to go on."""

    exit_code = 130


class FrontDoor(click.Group):
    """A group whose commands are imported when they are called, not before."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import the file of a command; None for a name that is not in the table."""
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f".commands.{name}", __package__).command
        command.name = name
        _accept_debug(command)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that was typed, or say which one may have been meant."""
        name = arguments[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise UsageError(f"unknown command '{name}'" + did_you_mean(name, COMMANDS))
        return super().resolve_command(context, arguments)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the help of the table, importing none of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, context: click.Context) -> Any:
        """Call the command; after Ctrl-C say how to go on."""
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            raise InterruptionError(f"interrupted; {resume_hint(context)}") from None


@click.command(
    cls=FrontDoor,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `headcount run`; every command has examples in its --help.",
)
@click.version_option(__version__, prog_name="headcount")
@debug_option
@click.pass_context
def front_door(context: click.Context) -> None:
    """How many heads does your translator really need?

    Train a translation Transformer, find out how much every attention head matters, remove
    the heads that are not needed, and see the price in BLEU, speed and memory on one page.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every error becomes one line."""
    _open_streams()
    try:
        code = front_door.main(list(arguments), prog_name="headcount", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 1
    except BrokenPipeError:
        # Python flushes the standard output once more at exit; that must not fail aloud.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except BaseException as error:
        if "--debug" in arguments:
            traceback.print_exc()
        line, code = _say(error, arguments)
        click.echo(f"error: {line}" if code != InterruptionError.exit_code else line, err=True)
        return code


def _open_streams() -> None:
    """Let a stream that the shell has closed be an empty one: `headcount ... >&-`."""
    nowhere = Path(os.devnull)
    sys.stdin = sys.stdin or nowhere.open(encoding="utf-8")
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")


def _say(error: BaseException, arguments: Sequence[str]) -> tuple[str, int]:
    """Return the one line for an error, and its exit code."""
    match error:
        case HeadcountError():
            line, code = str(error), error.exit_code
        case click.UsageError():
            path = error.ctx.command_path if error.ctx else _called(arguments)
            line = error.format_message().rstrip(".") + f" (see {path} --help)"
            code = UsageError.exit_code
        case click.ClickException():
            line, code = error.format_message(), error.exit_code
        case click.Abort() | KeyboardInterrupt():
            line, code = "interrupted", InterruptionError.exit_code
        case OSError():
            line, code = _of_files(error), 1
        case _:
            what = f"{type(error).__name__}: {error}".rstrip(": ")
            line, code = f"unexpected {what} (--debug shows where)", 1
    return " ".join(line.split()), code


def _called(arguments: Sequence[str]) -> str:
    """Return the command that the arguments name, for an error that does not know it."""
    words: list[str] = []
    command: click.Command | None = front_door
    for word in arguments:
        if isinstance(command, click.Group):
            command = command.get_command(click.Context(command), word)
            words += [word] if command else []
    return " ".join(["headcount", *words])


def _of_files(error: OSError) -> str:
    """Say what the system said of a file, and what can be done."""
    where = error.filename or "the standard output"
    if not error.strerror:
        return str(error)
    return f"{where}: {system_says(error)}; {_REMEDIES.get(error.errno or 0, 'check the path')}"


def _accept_debug(command: click.Command) -> None:
    """Let `--debug` stand behind any command, however deep, without each one saying so."""
    if all(parameter.name != "debug" for parameter in command.params):
        debug_option(command)
    if isinstance(command, click.Group):
        for member in command.commands.values():
            _accept_debug(member)
