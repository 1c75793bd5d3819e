"""`headcount export`: what is written is read back and proven before it is kept."""

import io
import json
import sys

import pytest

from headcount import cli
from headcount.models.export import onnx_files, proof
from headcount.models.transformer import TransformerTranslator


def test_an_exported_model_is_the_same_model(finished, capsys, tmp_path):
    shipped = tmp_path / "new" / "shipped"
    assert cli.run(["export", str(finished), "-o", str(shipped), "--sentences", "8", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["equal"] == said["sentences"] == 8
    assert said["difference"] == 0
    assert said["text"] == "test"
    own, again = (TransformerTranslator.load(it) for it in (finished / "model", shipped))
    assert own.fingerprint == again.fingerprint
    assert said["bytes"] == sum(file.stat().st_size for file in shipped.iterdir())
    assert [it.name for it in shipped.parent.iterdir()] == ["shipped"]
    assert cli.run(["export", str(finished), "-o", str(shipped)]) == 2
    assert "is there already" in capsys.readouterr().err


def test_a_model_without_a_run_is_proven_on_given_or_drawn_words(finished, capsys, tmp_path):
    alone, text = tmp_path / "alone", tmp_path / "text"
    TransformerTranslator.load(finished / "model").save(alone)
    text.write_text("a b\n\nc\n", encoding="utf-8")
    assert cli.run(["export", str(alone), "-o", str(tmp_path / "one"), "--sentences", "3"]) == 0
    assert "3 of 3 greedy translations are equal (drawn words)" in capsys.readouterr().out
    words = ["export", str(alone), "-o", str(tmp_path / "two"), "--text", str(text)]
    assert cli.run(words) == 0
    assert f"2 of 2 greedy translations are equal ({text})" in capsys.readouterr().out


def test_what_is_not_the_same_is_not_kept(finished, capsys, tmp_path, monkeypatch):
    def worse(*_):
        return proof.Proof(8, 30, 0.5, 9.0, 7)

    monkeypatch.setattr(proof, "proven", worse)
    assert cli.run(["export", str(finished), "-o", str(tmp_path / "x")]) == 1
    assert "only 7 of 8 translations are equal" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_missing_libraries_are_said_before_anything_is_written(
    finished, capsys, tmp_path, monkeypatch
):
    monkeypatch.setattr(onnx_files, "find_spec", lambda name: None)
    words = ["export", str(finished), "-o", str(tmp_path / "x"), "--format", "onnx"]
    assert cli.run(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "pip install 'headcount[export]'" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_graphs_translate_like_the_model(finished, capsys, tmp_path, monkeypatch):
    for library in onnx_files.LIBRARIES:
        pytest.importorskip(library)
    words = ["export", str(finished), "-o", str(tmp_path / "x"), "--format", "onnx"]
    assert cli.run([*words, "--sentences", "24"]) == 0
    assert "24 of 24 greedy translations are equal (test)" in capsys.readouterr().out
    outputs = []
    for folder in (finished, tmp_path / "x"):
        lines = io.TextIOWrapper(io.BytesIO(b"a b c\n\nd\n"), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", lines)
        assert cli.run(["translate", str(folder)]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    words = ["translate", str(tmp_path / "x"), "--without", "encoder.0.0"]
    assert cli.run(words) == 2
    assert "cut first, then export" in capsys.readouterr().err
