"""The checkout is the package: what setuptools is told must be what lies there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import headcount

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("analyses", "commands", "models", "probe", "reports")


def read_toml(name):
    with (ROOT / name).open("rb") as file:
        return tomllib.load(file)


PROJECT = read_toml("pyproject.toml")
PRODUCT = sorted(
    [*ROOT.glob("*.py"), *(file for room in ROOMS for file in (ROOT / room).rglob("*.py"))]
)


def name_of(folder):
    return ".".join(["headcount", *folder.relative_to(ROOT).parts])


def test_the_tests_run_against_this_checkout():
    assert Path(headcount.__file__).resolve() == ROOT / "__init__.py"


def test_every_package_is_listed_and_every_listed_package_is_there():
    there = {name_of(file.parent) for file in PRODUCT if file.name == "__init__.py"}
    assert sorted(PROJECT["tool"]["setuptools"]["packages"]) == sorted(there)


def test_no_module_lies_in_a_folder_that_is_no_package():
    lost = [file for file in PRODUCT if not (file.parent / "__init__.py").exists()]
    assert lost == []


def test_every_room_is_a_top_level_folder_of_code():
    hidden = {"tests", "benchmarks", "docs", "build", "runs"}
    folders = {
        file.parent.name for file in ROOT.glob("*/*.py") if not file.parent.name.startswith(".")
    }
    assert folders - hidden == set(ROOMS)


def test_files_beside_the_code_travel_with_their_package():
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    carried = set()
    for package, globs in patterns.items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        carried |= {file for glob in globs for file in folder.glob(glob)}
    beside = {
        file
        for room in ROOMS
        for file in (ROOT / room).rglob("*")
        if file.is_file() and file.suffix != ".py" and "__pycache__" not in file.parts
    }
    assert beside - carried == set()
    assert ROOT / "py.typed" in carried


@pytest.mark.parametrize("file", PRODUCT, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_product_code_imports_its_siblings_relatively(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        assert all(name.split(".")[0] != "headcount" for name in names), f"line {node.lineno}"


@pytest.mark.parametrize("file", PRODUCT, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_every_module_says_what_it_is(file):
    assert ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))


def test_tests_are_no_package_and_no_two_share_a_name():
    assert list((ROOT / "tests").rglob("__init__.py")) == []
    assert not (ROOT / "conftest.py").exists()
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) == len(set(names))


def test_the_version_is_said_once_and_cited_as_it_is():
    assert "version" in PROJECT["project"]["dynamic"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited and cited[1] == headcount.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", headcount.__version__)


def test_the_tested_versions_lie_within_the_ranges():
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    lines = [
        line for line in (ROOT / "constraints.txt").read_text().splitlines() if line[:1] != "#"
    ]
    tested = {canonicalize_name(Requirement(line).name): Requirement(line) for line in lines}
    extras = PROJECT["project"]["optional-dependencies"]
    for line in [*PROJECT["project"]["dependencies"], *extras["dev"]]:
        wanted = Requirement(line)
        pin = next(iter(tested[canonicalize_name(wanted.name)].specifier))
        assert pin.operator == "==", line
        assert wanted.specifier.contains(pin.version), line
