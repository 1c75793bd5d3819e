import hashlib
import json
import shutil
import subprocess
import sys

import pytest
import torch

from headcount.analyses import provenance as module
from headcount.analyses.provenance import (
    ROOT,
    Stopwatch,
    code_fingerprint,
    command_line,
    commit,
    fingerprint,
    hardware,
    library_versions,
    provenance,
)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A tiny package of two rooms in place of the real one."""
    for name, text in {"models/a.py": "A = 1\n", "probe/b.py": "B = 2\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    code_fingerprint.cache_clear()
    commit.cache_clear()
    yield tmp_path
    code_fingerprint.cache_clear()
    commit.cache_clear()


def fresh(*parts):
    code_fingerprint.cache_clear()
    return code_fingerprint(*parts)


def test_the_order_of_keys_does_not_count_but_values_and_kinds_do():
    assert fingerprint({"a": 1, "b": [2, 3]}) == fingerprint({"b": [2, 3], "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})
    assert fingerprint({"a": 1}) != fingerprint({"a": 1.0})
    assert fingerprint("ä") == hashlib.sha256('"ä"'.encode()).hexdigest()


def test_the_code_fingerprint_of_a_room_sees_that_room_only(package):
    models, probe = fresh("models"), fresh("probe")
    (package / "probe/b.py").write_text("B = 3\n")
    assert fresh("models") == models
    assert fresh("probe") != probe


def test_a_renamed_file_changes_the_fingerprint(package):
    before = fresh("models")
    (package / "models/a.py").rename(package / "models/c.py")
    assert fresh("models") != before


def test_compiled_and_hidden_files_do_not_count(package):
    before = fresh("models")
    (package / "models/__pycache__").mkdir()
    (package / "models/__pycache__/a.pyc").write_bytes(b"x")
    (package / "models/.a.py.swp").write_bytes(b"x")
    assert fresh("models") == before


def test_a_part_that_is_not_there_is_an_error(package):
    with pytest.raises(ValueError, match="modles"):
        fresh("modles")


def test_every_room_counts_by_default():
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders <= set(module.ROOMS) | {"tests"}


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_the_commit_says_whether_files_differ_from_it(package):
    def git(*words):
        name = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", "-C", package, *name, *words], check=True, capture_output=True)

    assert commit() == ""
    git("init")
    git("add", ".")
    git("commit", "-m", "First")
    commit.cache_clear()
    first = commit()
    assert len(first) == 40
    (package / "models/a.py").write_text("A = 5\n")
    commit.cache_clear()
    assert commit() == first + "+changes"


def test_a_copy_inside_another_repository_has_no_commit(package, monkeypatch):
    subprocess.run(["git", "init", package], check=True, capture_output=True)
    monkeypatch.setattr(module, "ROOT", package / "models")
    commit.cache_clear()
    assert commit() == ""


def test_the_command_line_can_be_typed_again(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/x/bin/headcount", "run", "-o", "my run"])
    assert command_line() == "headcount run -o 'my run'"
    monkeypatch.setattr(sys, "argv", ["/x/headcount/__main__.py", "doctor"])
    assert command_line() == "headcount doctor"


def test_provenance_holds_everything_and_is_json():
    stopwatch = Stopwatch()
    whole = provenance(stopwatch, seed=0, model="m", data={"test": "d"}, command="headcount x")
    assert (whole.seed, whole.model, whole.data, whole.command) == (
        0,
        "m",
        {"test": "d"},
        "headcount x",
    )
    assert whole.started == stopwatch.started
    assert 0 <= whole.seconds < 60
    assert whole.libraries["torch"] == torch.__version__
    json.dumps(vars(whole), allow_nan=False)


def test_a_library_that_is_not_there_is_recorded_as_missing(monkeypatch):
    monkeypatch.setattr(module, "LIBRARIES", ("numpy", "no-such-library"))
    assert library_versions()["no-such-library"] == "missing"


def test_the_hardware_line_counts_the_threads():
    assert f" {torch.get_num_threads()} thread" in hardware("cpu")
