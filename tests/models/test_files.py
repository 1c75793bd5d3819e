import hashlib
import json
import math

import pytest

from headcount.models.files import replacing, sha256_of, write_json, write_text


def test_a_file_is_written_whole_with_its_folders(tmp_path):
    write_text(tmp_path / "a/b/c.txt", "ß\n")
    assert (tmp_path / "a/b/c.txt").read_bytes() == "ß\n".encode()


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "weights"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text("ha")
        assert path.read_text() == "old"
        raise ZeroDivisionError
    assert [file.name for file in tmp_path.iterdir()] == ["weights"]
    assert path.read_text() == "old"


def test_the_new_file_appears_only_when_it_is_whole(tmp_path):
    path = tmp_path / "weights"
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert not path.exists()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o644


def test_json_is_for_people_too_and_knows_no_nan(tmp_path):
    write_json(tmp_path / "a.json", {"word": "Bär", "n": 1})
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n "word": "Bär",\n "n": 1\n}\n'
    with pytest.raises(ValueError):
        write_json(tmp_path / "a.json", {"n": math.nan})
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["n"] == 1


def test_the_hash_is_sha256(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 100_000)
    assert sha256_of(tmp_path / "a") == hashlib.sha256(b"x" * 100_000).hexdigest()
