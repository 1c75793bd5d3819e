"""`--layer`: how commands read a treebank and what other files say of its sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..models.errors import UsageError

if TYPE_CHECKING:
    from ..probe.annotations import LayerReader, Treebank

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def layer_option(function: Decorated) -> Decorated:
    """Add `--layer FORMAT=FILE[,FILE...]`, repeatable, as `layers`."""
    return click.option(
        "--layer",
        "layers",
        multiple=True,
        metavar="FORMAT=FILE[,FILE]",
        help="More annotation of the treebank's sentences: supersenses=FILE (STREUSLE), "
        "uner=FILE[,MAP], constituents=FILE, uds=IDS,FILE[,FILE...], gum-entities, "
        "miniature-gold; repeatable.",
    )(function)


def read_treebank(path: Path, layers: Sequence[str] = ()) -> Treebank:
    """Read a treebank by the ending of its name, and put layers of annotation on it.

    Args:
        path: `.conllu`, or `.conllulex` with supersenses; also gzipped.
        layers: as the option takes them.

    Raises:
        UsageError: no such format, or files missing.
        DataError: damaged files, or annotation of other sentences.
    """
    from ..probe.annotations import ConllulexReader, ConlluReader, read_annotations

    kind = ConllulexReader if ".conllulex" in path.suffixes else ConlluReader
    return read_annotations(kind(path=path), [_layer(it) for it in layers])


def _layer(text: str) -> LayerReader:
    """Read one `FORMAT=FILE[,FILE...]`."""
    from ..probe.annotations import LayerReader, reader

    name, _, rest = text.partition("=")
    kind = reader[name]
    if not issubclass(kind, LayerReader):
        raise UsageError(f"--layer: '{name}' is no layer of a treebank but a text of its own")
    files = [Path(it) for it in rest.split(",") if it]
    fields = list(kind.model_fields)
    needed = [key for key, it in kind.model_fields.items() if it.is_required()]
    given: dict[str, Any] = {}
    if name == "uds":  # one file of ids, and any number with judgements
        given = {"ids": files[0], "paths": tuple(files[1:])} if len(files) > 1 else {}
    elif len(files) <= len(fields):
        given = dict(zip(fields, files, strict=False))
    if any(key not in given for key in needed):
        wanted = "uds=IDS,FILE[,FILE...]" if name == "uds" else f"{name}={','.join(fields).upper()}"
        raise UsageError(f"--layer {text}: files are missing or too many; it is {wanted}")
    return kind(**given)
