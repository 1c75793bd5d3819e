"""The graphs that are written as ONNX are the network; what they say is in tests/commands."""

import pytest
import torch
from made_translators import nano, vocabulary
from tiny import SHAPE

from headcount.models.errors import UsageError
from headcount.models.export import onnx_files
from headcount.models.export.graphs import EncoderGraph, StepGraph
from headcount.models.gates import Head
from headcount.models.network import Network
from headcount.models.transformer import TransformerTranslator

__all__ = ["nano", "vocabulary"]


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
