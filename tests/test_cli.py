"""The front door: fast to open, one line for every error, the promised exit codes."""

import errno
import subprocess
import sys
import time
from importlib import import_module
from types import SimpleNamespace

import click
import pytest

from headcount import __version__, cli
from headcount.commands.options import debug_option, json_option, resume_with, seed_option
from headcount.models.errors import DataError, ThresholdError, UsageError


def python(code, **keywords):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, **keywords
    )


@pytest.fixture
def add_command(monkeypatch):
    """Put a function behind the front door as the command `trial`."""

    def add(function, *decorators):
        command = click.command()(function)
        for decorate in decorators:
            command = decorate(command)
        monkeypatch.setitem(cli.COMMANDS, "trial", "Try something.")
        module = SimpleNamespace(command=command)
        monkeypatch.setitem(sys.modules, "headcount.commands.trial", module)

    return add


def raising(error):
    def trial():
        raise error

    return trial


def test_help_answers_without_the_heavy_libraries():
    code = (
        "import sys\nfrom headcount.cli import run\ncode = run(['--help'])\n"
        "heavy = {'torch', 'pandas', 'numpy', 'matplotlib', 'sklearn', 'pydantic'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)), code)"
    )
    answer = python(code)
    assert answer.stdout.splitlines()[-1] == "loaded: [] 0"
    for name in cli.COMMANDS:
        assert f"\n  {name}" in answer.stdout


def test_help_answers_at_once():
    start = time.perf_counter()
    python("from headcount.cli import main; main(['--help'])")
    assert time.perf_counter() - start < 2


def test_no_words_at_all_show_the_help(capsys):
    assert cli.run([]) == 0
    assert "Commands:" in capsys.readouterr().out


def test_the_version(capsys):
    assert cli.run(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_of_the_table_has_its_file_help_and_examples(name, capsys):
    command = import_module(f"headcount.commands.{name}").command
    assert isinstance(command, click.Command)
    assert cli.run([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples:" in shown
    assert f"headcount {name}" in shown.partition("Examples:")[2]


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (DataError("line 3 is empty"), 1, "error: line 3 is empty"),
        (UsageError("no such preset"), 2, "error: no such preset"),
        (ThresholdError("BLEU 80 < 85"), 3, "error: BLEU 80 < 85"),
        (click.UsageError("Bad words."), 2, "error: Bad words (see headcount trial --help)"),
        (click.FileError("a.txt", "gone"), 1, "error: Could not open file 'a.txt': gone"),
        (FileNotFoundError(2, "Not there", "a"), 1, "error: a: not there; check the path"),
        (DataError("two\n  lines"), 1, "error: two lines"),
        (ValueError("odd"), 1, "error: unexpected ValueError: odd (--debug shows where)"),
        (ZeroDivisionError(), 1, "error: unexpected ZeroDivisionError (--debug shows where)"),
        (KeyboardInterrupt(), 130, "interrupted; run the same command again to go on"),
    ],
)
def test_every_error_is_one_line_and_its_exit_code(add_command, capsys, error, code, line):
    add_command(raising(error))
    assert cli.run(["trial"]) == code
    shown = capsys.readouterr()
    assert shown.err.strip() == line
    assert shown.out == ""


def test_an_interruption_says_how_to_go_on(add_command, capsys):
    def trial():
        resume_with("headcount run -o runs/x")
        raise KeyboardInterrupt

    add_command(trial)
    assert cli.run(["trial"]) == 130
    assert capsys.readouterr().err == "interrupted; go on with: headcount run -o runs/x\n"


@pytest.mark.parametrize("words", [["--debug", "trial"], ["trial", "--debug"]])
def test_debug_shows_the_traceback_wherever_it_stands(add_command, capsys, words):
    add_command(raising(DataError("line 3 is empty")))
    assert cli.run(words) == 1
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert shown.endswith("error: line 3 is empty\n")


def test_a_command_that_names_debug_itself_is_not_given_it_twice(add_command, capsys):
    add_command(raising(DataError("x")), debug_option)
    assert cli.run(["trial", "--help"]) == 0
    assert capsys.readouterr().out.count("--debug") == 1


def test_an_unknown_command_names_the_closest(capsys):
    assert cli.run(["docter"]) == 2
    assert capsys.readouterr().err == "error: unknown command 'docter' (did you mean 'doctor'?)\n"


def test_a_wrong_option_points_to_the_help_of_its_command(capsys):
    assert cli.run(["doctor", "--jsn"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: No such option '--jsn'")
    assert shown.endswith("(see headcount doctor --help)\n")
    assert shown.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            NotADirectoryError(errno.ENOTDIR, "Not a directory", "a/b"),
            "a/b: not a directory; a part of this path is a file, choose another path",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "the standard output: no space left on device; free some space, or choose another "
            "place",
        ),
        (FileNotFoundError(errno.ENOENT, "No such file", "c"), "c: no such file; check the path"),
        (OSError("odd"), "odd"),
    ],
)
def test_what_the_system_says_comes_with_a_remedy(add_command, capsys, error, line):
    def trial():
        raise error

    add_command(trial)
    assert cli.run(["trial"]) == 1
    assert capsys.readouterr().err == f"error: {line}\n"


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-"])
def test_a_stream_that_the_shell_closed_is_an_empty_one(closed):
    line = f'"{sys.executable}" -m headcount --version {closed}'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_seed_has_32_bits(add_command, capsys):
    add_command(lambda seed: click.echo(seed), seed_option)
    assert cli.run(["trial", "--seed", str(2**32 - 1)]) == 0
    assert cli.run(["trial", "--seed", str(2**32)]) == 2
    assert "4294967296 is not in the range" in capsys.readouterr().err


def test_shared_options_have_one_meaning(add_command, capsys):
    def trial(seed, as_json):
        click.echo(f"{seed} {as_json}")

    add_command(trial, seed_option, json_option)
    assert cli.run(["trial"]) == 0
    assert cli.run(["trial", "--seed", "7", "--json"]) == 0
    assert capsys.readouterr().out == "0 False\n7 True\n"
    assert cli.run(["trial", "--seed", "-1"]) == 2


def test_a_reader_that_leaves_early_hears_no_complaint():
    code = (
        "import sys, types, click\nfrom headcount import cli\n"
        "@click.command()\ndef command():\n"
        "    for number in range(100_000): click.echo(number)\n"
        "cli.COMMANDS['trial'] = 'x'\n"
        "sys.modules['headcount.commands.trial'] = types.SimpleNamespace(command=command)\n"
        "cli.main(['trial'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == b"0"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) == 1
    process.stderr.close()


def test_the_package_runs_as_a_module():
    answer = subprocess.run(
        [sys.executable, "-m", "headcount", "--version"], capture_output=True, text=True
    )
    assert (answer.returncode, answer.stdout.split()[-1]) == (0, __version__)
