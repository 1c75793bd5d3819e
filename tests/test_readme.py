"""The commands and the Python of README.md are run as they stand there, in smoke size."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from headcount import cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FIRST_SCREEN = README.partition("\n## ")[0]


def lines_of(text, language):
    """The command lines of all blocks in one language, without remarks."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


MAKE = lines_of(FIRST_SCREEN, "sh")
BY_HAND = lines_of(FIRST_SCREEN, "bash")
TOUR = lines_of(README.partition("\n## The commands\n")[2].partition("\n## ")[0], "sh")


def shell(line, folder):
    """Run a line as bash would, with this environment's `headcount` found first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # A make above this one would have the inner one announce the folders that it enters.
    outer = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}
    environment = {name: value for name, value in os.environ.items() if name not in outer}
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=folder,
        env={**environment, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )


def page_of(answer):
    """The page that the last line of the output names."""
    return Path(answer.stdout.strip().splitlines()[-1].split()[-1])


def test_the_first_screen_has_the_two_commands_and_fits():
    assert MAKE == ["make run", "make test"]
    assert len(FIRST_SCREEN.splitlines()) < 50


def test_the_way_by_hand_installs_what_make_installs():
    assert len(BY_HAND) == 3
    for step in ('pip install -c constraints.txt -e ".[dev]"', "venv .venv"):
        assert step in BY_HAND[0]
    install = 'pip install --quiet -c constraints.txt -e ".[dev]"'
    assert install in MAKEFILE
    targets = dict(
        re.findall(r"^(run|test): .*\n\t@\$\(python\) -m (.*) \$\(ARGS\)", MAKEFILE, re.M)
    )
    assert [line.partition(" -m ")[2] for line in BY_HAND[1:]] == [targets["run"], targets["test"]]


def test_every_command_of_the_tour_is_one_of_the_table():
    named = {re.search(r"\bheadcount (\w+)", line)[1] for line in TOUR}
    assert {"run", "doctor"} <= named <= set(cli.COMMANDS)


@pytest.fixture
def make():
    """Run make in the checkout with the environment that is there, installing nothing."""
    if not shutil.which("make") or not (ROOT / ".venv").is_dir():
        pytest.skip("needs make and an installed .venv")

    def run(line, arguments):
        words = line.removeprefix("make")
        return shell(f"make -o .venv/installed {words} ARGS={shlex.quote(arguments)}", ROOT)

    return run


@pytest.mark.slow
def test_make_test_runs_tests(make):
    answer = make(MAKE[1], "tests/test_packaging.py -q -k version")
    assert answer.returncode == 0, answer.stderr
    assert re.search(r"^\d+ passed", answer.stdout, re.MULTILINE)


@pytest.mark.slow
def test_make_run_ends_by_naming_the_page_and_the_tour_goes_on_from_there(make, tmp_path):
    run = tmp_path / "runs" / "first"
    answer = make(MAKE[0], f"--preset nano -o {run}")
    assert answer.returncode == 0, answer.stderr
    assert page_of(answer) == run / "report.html"
    assert page_of(answer).stat().st_size > 10_000
    # The tour begins with the same run, which is finished now and is left alone.
    assert TOUR[0].partition(" run ")[2] == "--preset nano -o runs/first"
    for line in TOUR:
        answer = shell(line, tmp_path)
        assert answer.returncode == 0, f"{line}\n{answer.stderr}"
    (tmp_path / "sketch.py").write_text("\n".join(python_blocks()), encoding="utf-8")
    answer = shell("python sketch.py", tmp_path)
    assert answer.returncode == 0, answer.stderr


def python_blocks():
    """The Python of the README."""
    return re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
