"""`headcount export`: what is written is read back and proven before it is kept."""

import io
import json
import sys

import pytest
from made_translators import copies, planted, vocabulary

from headcount import cli
from headcount.models.errors import CheckpointError
from headcount.models.export import onnx_files, proof
from headcount.models.export.onnx_translator import OnnxTranslator
from headcount.models.gates import Head
from headcount.models.transformer import TransformerTranslator
from headcount.models.translator import SearchSettings

__all__ = ["planted", "vocabulary"]


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


@pytest.fixture(scope="module")
def cut(planted):
    """Uneven sublayers, and sublayers without heads at two sites of one layer."""
    gone = [Head("encoder", 0, 1), Head("cross", 1, 0), Head("cross", 1, 2)]
    gone += [Head(site, 0, head) for site in ("decoder", "cross") for head in range(3)]
    return planted.without(gone)


SENTENCES = copies("check", 9, 100).source


@pytest.fixture(scope="module")
def onnx(cut, tmp_path_factory):
    """The folder of the same model as graphs, written by the command."""
    for library in onnx_files.LIBRARIES:
        pytest.importorskip(library)
    folder = tmp_path_factory.mktemp("onnx")
    cut.save(folder / "cut")
    text = folder / "text"
    text.write_text("\n".join(SENTENCES), encoding="utf-8")
    words = ["export", str(folder / "cut"), "-o", str(folder / "onnx"), "--format", "onnx"]
    assert cli.run([*words, "--text", str(text)]) == 0
    return folder / "onnx"


@pytest.mark.slow
def test_onnxruntime_says_what_torch_says(cut, onnx):
    exported = OnnxTranslator.load(onnx, threads=1)
    found = proof.proven(cut, exported, SENTENCES)
    assert found.sentences == found.equal == 100
    assert found.difference < 1e-4 * max(1, found.largest)
    assert found.tokens > 100
    # An empty sentence, a limit, a shortest length, and the rest of what a translation says.
    search = SearchSettings(max_ratio=0, max_extra=3, min_tokens=1, log_probability=True)
    mine, theirs = (it.translate(["", *SENTENCES[:3]], search) for it in (cut, exported))
    assert [it.text for it in mine] == [it.text for it in theirs]
    assert [it.finished for it in mine] == [it.finished for it in theirs]
    for one, other in zip(mine, theirs, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
    # Caches are as small as their layers: no heads are left at decoder.0, and none at cross.0.
    inputs = {it.name: it.shape for it in exported.sessions["step"].get_inputs()}
    assert [inputs[name][1] for name in inputs if name.startswith("prefix")] == [3, 3]
    assert [inputs[name][1] for name in inputs if name.startswith("source")] == [1, 1]
    assert inputs["prefix_0"][:3] == ["batch", 3, "slot"]
    assert inputs["visible"] == ["batch", "source"]
    # Another model's graphs are found out.
    other = cut.without([Head("cross", 1, 1)])
    assert proof.proven(other, exported, SENTENCES[:8]).difference > 0.1


@pytest.mark.slow
def test_translate_reads_graphs_and_refuses_what_they_cannot_do(
    cut, onnx, capsys, tmp_path, monkeypatch
):
    cut.save(tmp_path)
    outputs = []
    for folder in (tmp_path, onnx):
        lines = f"{SENTENCES[0]}\n\n{SENTENCES[1]}\n".encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines), encoding="utf-8"))
        assert cli.run(["translate", str(folder)]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0] == outputs[1]
    assert outputs[0].count("\n") == 3
    for words, message in (
        (["--without", "encoder.0.0"], "cut first, then export"),
        (["--beam", "2"], "ask for --beam 1"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n"), encoding="utf-8"))
        assert cli.run(["translate", str(onnx), *words]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_files_that_were_changed_are_refused(onnx, tmp_path):
    for file in onnx.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (tmp_path / "step.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(CheckpointError, match=r"step\.onnx was changed"):
        OnnxTranslator.load(tmp_path)
    (tmp_path / "step.onnx").unlink()
    with pytest.raises(CheckpointError, match=r"step\.onnx is missing"):
        OnnxTranslator.load(tmp_path)
    described = json.loads((tmp_path / "onnx.json").read_text())
    (tmp_path / "onnx.json").write_text(json.dumps({**described, "format": "other"}))
    with pytest.raises(CheckpointError, match="is not a model of format"):
        OnnxTranslator.load(tmp_path)
    with pytest.raises(CheckpointError, match="holds no model as ONNX"):
        OnnxTranslator.load(tmp_path / "nowhere")
