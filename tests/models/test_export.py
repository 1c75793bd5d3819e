"""A model written as ONNX says in onnxruntime what it says in torch."""

import json

import pytest
import torch
from made_translators import copies, nano, planted, vocabulary
from tiny import SHAPE

from headcount.models.errors import CheckpointError, UsageError
from headcount.models.export import onnx_files
from headcount.models.export.graphs import EncoderGraph, StepGraph
from headcount.models.export.proof import proven
from headcount.models.gates import Head
from headcount.models.network import Network
from headcount.models.transformer import TransformerTranslator
from headcount.models.translator import SearchSettings

__all__ = ["nano", "planted", "vocabulary"]
GONE = [Head("encoder", 0, 1), Head("cross", 1, 0), Head("cross", 1, 2)]
GONE += [Head("decoder", 0, head) for head in range(3)]
GONE += [Head("cross", 0, head) for head in range(3)]
"""Uneven sublayers, and sublayers without heads at two sites of one layer."""


@pytest.mark.parametrize("place", ["pre", "post"])
@torch.no_grad()
def test_steps_with_growing_caches_are_the_teacher_forced_network(nano, place):
    settings = SHAPE.with_changes(norm_place=place, positions="learned")
    layout = settings.full_layout().without(
        [*(Head("decoder", 1, head) for head in range(4)), Head("cross", 0, 2)]
        + [Head("cross", 1, head) for head in range(4)]
    )
    words = len(nano.vocabularies["source"])
    network = Network(settings, layout, words, words).double()
    network.initialise(torch.Generator().manual_seed(3)).eval()
    translator = TransformerTranslator(network, *nano.vocabularies.values())
    [batch] = translator.batches(["a b c d", "b", "c a"], ["a b", "d c b a", "b"])
    kept = EncoderGraph(network)(batch.source.ids, batch.source.real)
    assert [part.shape[1] for part in kept] == [3, 3]
    prefix = [torch.zeros(3, 4, 0, 4, dtype=torch.double) for _ in range(2)]
    step, logits = StepGraph(network), []
    for at, column in enumerate(batch.target.ids.T):
        place_ = torch.tensor([at])
        said, prefix = step(column[:, None], place_, batch.source.real, kept, prefix)
        logits.append(said)
        assert [part.shape[2] for part in prefix] == [at + 1] * 2
    found, real = torch.stack(logits, 1), batch.target.real
    torch.testing.assert_close(found[real], translator.logits(batch)[real])


def test_without_the_libraries_the_remedy_is_named(nano, tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_files, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'headcount\[export\]'"):
        onnx_files.save_onnx(nano, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.fixture(scope="module")
def cut(planted):
    """The planted model with sublayers that have no head, and uneven ones."""
    return planted.without(GONE)


@pytest.fixture(scope="module")
def folder(cut, tmp_path_factory):
    for library in onnx_files.LIBRARIES:
        pytest.importorskip(library)
    folder = tmp_path_factory.mktemp("onnx")
    onnx_files.save_onnx(cut, folder)
    return folder


@pytest.mark.slow
def test_onnxruntime_says_what_torch_says(cut, folder):
    from headcount.models.export.onnx_translator import OnnxTranslator

    exported = OnnxTranslator.load(folder, threads=1)
    sentences = copies("check", 9, 100).source
    proof = proven(cut, exported, sentences)
    assert proof.sentences == proof.equal == 100
    assert proof.difference < 1e-4 * max(1, proof.largest)
    assert proof.tokens > 100
    # Another batch size, an empty sentence, a limit, and the rest of what a translation says.
    search = SearchSettings(max_ratio=0, max_extra=3, min_tokens=1)
    mine, theirs = (it.translate(["", *sentences[:3]], search) for it in (cut, exported))
    assert [it.text for it in mine] == [it.text for it in theirs]
    assert [it.finished for it in mine] == [it.finished for it in theirs]
    for one, other in zip(mine, theirs, strict=True):
        assert one.log_probability == pytest.approx(other.log_probability, abs=1e-4)
    # Caches are as small as their layers: no heads are left at decoder.0, and none at cross.0.
    inputs = {it.name: it.shape for it in exported.sessions["step"].get_inputs()}
    assert [inputs[name][1] for name in inputs if name.startswith("prefix")] == [3, 3]
    assert [inputs[name][1] for name in inputs if name.startswith("source")] == [1, 1]
    with pytest.raises(UsageError, match="--beam 1"):
        exported.translate(["a"], SearchSettings(beam=2))


@pytest.mark.slow
def test_another_models_graphs_are_found_out(cut, folder):
    from headcount.models.export.onnx_translator import OnnxTranslator

    exported = OnnxTranslator.load(folder, threads=1)
    other = cut.without([Head("cross", 1, 1)])
    proof = proven(other, exported, copies("check", 9, 8).source)
    assert proof.difference > 0.1


@pytest.mark.slow
def test_files_that_were_changed_are_refused(folder, tmp_path):
    from headcount.models.export.onnx_translator import OnnxTranslator

    for file in folder.iterdir():
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
