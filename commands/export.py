"""`headcount export`: a trained or cut model for others, proven before it is kept."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..models.errors import CheckpointError, UsageError
from .options import echo_json, json_option, seed_option

if TYPE_CHECKING:
    from ..models.export.proof import Exported
    from ..models.transformer import TransformerTranslator


@click.command(
    epilog="""\b
Examples:
  headcount export runs/miniature -o shipped
  headcount export runs/miniature/smaller/l0-heads-18 -o shipped --format onnx
  echo 'The dog sleeps.' | headcount translate shipped
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="A new folder for the model.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["safetensors", "onnx"]),
    default="safetensors",
    show_default=True,
    help="Weights with settings, or graphs for onnxruntime.",
)
@click.option(
    "--text",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Sentences of the source language for the proof; the run's test split when not given.",
)
@click.option(
    "--sentences",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Sentences of the proof.",
)
@seed_option
@json_option
def command(
    run: Path,
    output: Path,
    kind: str,
    text: Path | None,
    sentences: int,
    seed: int,
    as_json: bool,
) -> None:
    """Write the model of RUN into a folder of its own, and prove what was written.

    RUN is a run folder, or a folder with a saved model such as `headcount prune` makes. The
    model is read back and has to give the same greedy translations as before; the largest
    difference of a logit is printed. `headcount translate` reads both formats. Without text,
    words are drawn from the vocabulary, with --seed.
    """
    from ..models.export.proof import proven
    from ..models.transformer import TransformerTranslator

    folder = run / "model" if (run / "model").is_dir() else run
    if output.exists():
        raise UsageError(f"{output} is there already; choose another folder with -o")
    if kind == "onnx":
        from ..models.export.onnx_files import need_libraries

        need_libraries()
    translator = TransformerTranslator.load(folder)
    some, origin = _sentences(run, text, translator, sentences, seed)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{output.name}.", dir=output.parent) as parent:
        made = Path(parent) / "model"
        proof = proven(translator, _written(translator, made, kind), some)
        if proof.equal < proof.sentences:
            raise CheckpointError(
                f"only {proof.equal} of {proof.sentences} translations are equal after "
                f"exporting (largest logit difference {proof.difference:.2g}): nothing was kept"
            )
        size = sum(file.stat().st_size for file in made.iterdir())
        made.replace(output)
    if as_json:
        echo_json({**asdict(proof), "text": origin, "bytes": size, "folder": str(output)})
        return
    click.echo(
        f"{proof.equal} of {proof.sentences} greedy translations are equal ({origin}); "
        f"largest logit difference {proof.difference:.2g} of {proof.largest:.3g}, over "
        f"{proof.tokens} tokens"
    )
    click.echo(f"{size / 1e6:.1f} MB in {output}")


def _written(translator: TransformerTranslator, folder: Path, kind: str) -> Exported:
    """Write the model and read it back."""
    if kind == "onnx":
        from ..models.export.onnx_files import save_onnx
        from ..models.export.onnx_translator import OnnxTranslator

        save_onnx(translator, folder)
        return OnnxTranslator.load(folder)
    translator.save(folder)
    return type(translator).load(folder)


def _sentences(
    run: Path, text: Path | None, translator: TransformerTranslator, count: int, seed: int
) -> tuple[list[str], str]:
    """Return sentences for the proof, and where they are from."""
    home = next((it for it in (run, *run.resolve().parents[:2]) if _is_run(it)), None)
    if text is not None:
        from ..models.data.readers import read_lines

        found = [line for line in read_lines(text) if line.strip()]
        return found[:count], str(text)
    if home is not None:
        from ..analyses.presets import RunSettings
        from ..analyses.run_folder import RunFolder
        from ..models.data.corpora import load_corpus

        config = RunFolder.open(home).config
        settings = RunSettings.from_dict(config, str(home / "config.toml"))
        test = load_corpus(settings.corpus).test
        return list(test.source[:count]), test.name
    return _drawn(translator, count, seed), "drawn words"


def _is_run(folder: Path) -> bool:
    return (folder / "run.json").exists()


def _drawn(translator: TransformerTranslator, count: int, seed: int) -> list[str]:
    """Return sentences of words drawn from the vocabulary."""
    import numpy as np

    draw, vocabulary = np.random.default_rng(seed), translator.vocabularies["source"]
    longest = min(20, translator.network.settings.max_positions // 4)
    lengths = draw.integers(1, max(2, longest), count)
    return [vocabulary.decode(draw.integers(4, len(vocabulary), it).tolist()) for it in lengths]
