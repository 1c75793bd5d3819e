"""Writing a model as ONNX.

A folder holds `encoder.onnx`, `step.onnx` (see `graphs.py`), the vocabularies, and, written
last, `onnx.json`: which heads there are, the shapes of the caches, and the hash of every file.

Pitfall: tracing looks at one example. Whatever depended on its sizes would be wrong for others,
so what is written is to be proven (`proof.py`) on sentences of many lengths, and on batches of
many sizes.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import Dim

from ..errors import UsageError
from ..files import replacing, sha256_of, write_json
from ..transformer import TransformerTranslator
from .graphs import EncoderGraph, StepGraph
from .onnx_translator import DESCRIPTION, FORMAT, GRAPHS, VOCABULARIES

LIBRARIES = ("onnx", "onnxruntime", "onnxscript")
OPEN = Dim.DYNAMIC
AXES = {
    "visible": ("batch", "source"),
    "prefix": ("batch", "", "slot", ""),
    "source": ("batch", "source"),  # of source_0 the second axis is the heads, which is not open
    "token": ("batch", ""),
}
"""Names of the open axes of the inputs, by what the inputs' names begin with."""


def need_libraries() -> None:
    """Refuse when a library that ONNX needs is not installed.

    Raises:
        UsageError: it is missing; says what to type.
    """
    missing = [name for name in LIBRARIES if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"writing ONNX needs {', '.join(missing)}: pip install 'headcount[export]', or in a "
            "checkout pip install -e '.[export]'"
        )


def save_onnx(translator: TransformerTranslator, folder: Path) -> None:
    """Write both graphs, the vocabularies, and last what makes them a model.

    Args:
        translator: a float32 model; uneven heads and sublayers without heads are welcome.
        folder: where to write.

    Raises:
        UsageError: a library is missing, or no head looks at the source.
    """
    need_libraries()
    if not any(head.site == "cross" for head in translator.layout):
        raise UsageError("no cross-attention head is left, so the model never sees its source")
    own = translator.in_precision(torch.float32)
    network, layout = own.network.cpu(), own.layout
    ids = torch.full((3, 5), 4)  # [batch, source]
    visible = torch.ones(3, 5, dtype=torch.bool)
    encoder, step = EncoderGraph(network), StepGraph(network)
    source = [part.contiguous() for part in encoder(ids, visible)]
    heads = {site: layout.to_dict()[site] for site in ("decoder", "cross")}
    own_heads = [len(it) for it in heads["decoder"] if it for _ in range(2)]
    width = network.settings.width_of_head()
    prefix = [torch.zeros(3, number, 2, width) for number in own_heads]
    names = {
        "source": [f"source_{number}" for number in range(len(source))],
        "prefix": [f"prefix_{number}" for number in range(len(prefix))],
    }
    both = {0: OPEN, 1: OPEN}
    cache = {0: OPEN, 2: OPEN}
    folder.mkdir(parents=True, exist_ok=True)
    _write(
        folder / GRAPHS["encoder"],
        encoder,
        (ids, visible),
        (both, both),
        (["source", "visible"], names["source"]),
    )
    _write(
        folder / GRAPHS["step"],
        step,
        (ids[:, :1], torch.tensor([2]), visible, source, prefix),
        ({0: OPEN}, None, both, [cache] * len(source), [cache] * len(prefix)),
        (
            ["token", "position", "visible", *names["source"], *names["prefix"]],
            ["logits", *(f"grown_{number}" for number in range(len(prefix)))],
        ),
    )
    for side, vocabulary in translator.vocabularies.items():
        vocabulary.save(folder / VOCABULARIES[side])
    files = [*GRAPHS.values(), *VOCABULARIES.values()]
    described = {
        "format": FORMAT,
        "model": translator.fingerprint,
        "heads": layout.to_dict(),
        "head_width": width,
        "max_positions": network.settings.max_positions,
        "prefix_heads": own_heads,
        "sha256": {name: sha256_of(folder / name) for name in files},
    }
    write_json(folder / DESCRIPTION, described)


def _write(
    path: Path,
    graph: nn.Module,
    example: tuple[Any, ...],
    open_axes: tuple[Any, ...],
    names: tuple[Sequence[str], Sequence[str]],
) -> None:
    """Trace a graph and write it, atomically."""
    with _quiet(), torch.no_grad():
        program = torch.onnx.export(
            graph.eval(),
            example,
            input_names=names[0],
            output_names=names[1],
            dynamic_shapes=open_axes,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    with replacing(path) as temporary:
        program.save(str(temporary))
        _name_axes(temporary)


def _name_axes(path: Path) -> None:
    """Call the open axes of a graph by their names instead of by numbers of the tracer."""
    import onnx

    model = onnx.load(path)
    names: dict[str, str] = {}
    for value in model.graph.input:
        kind = value.name.partition("_")[0]
        for dim, name in zip(value.type.tensor_type.shape.dim, AXES.get(kind, ()), strict=False):
            if dim.dim_param and name:
                names.setdefault(dim.dim_param, name)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = re.sub(r"\w+", lambda it: names.get(it[0], it[0]), dim.dim_param)
    onnx.save(model, path)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep to ourselves what the exporter says about libraries that nobody asked for."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
