"""`headcount translate`: standard input to standard output, line by line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

import click

from ..models.errors import DataError, SentenceTooLongError, UsageError
from .options import device_option

if TYPE_CHECKING:
    from ..models.translator import SearchSettings, Translation


class Translates(Protocol):
    """All that this command asks of a model."""

    def translate(self, sentences: list[str], search: SearchSettings) -> list[Translation]:
        """Translate sentences."""
        ...


@click.command(
    epilog="""\b
Examples:
  headcount translate runs/miniature < in.en > out.de
  headcount translate runs/miniature --beam 5 < in.en > out.de
  echo 'The dog sleeps.' | headcount translate runs/miniature --without encoder.0.1
"""
)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--beam", type=click.IntRange(min=1), default=1, show_default=True, help="1 is greedy."
)
@click.option(
    "--length-penalty",
    type=float,
    default=1.0,
    show_default=True,
    help="Alpha of Wu et al. 2016; 0 ranks by log probability.",
)
@click.option(
    "--without",
    "removed",
    multiple=True,
    metavar="HEAD",
    help="Cut this head out first, such as encoder.0.1; repeatable.",
)
@click.option(
    "--block",
    type=click.IntRange(min=1),
    default=512,
    show_default=True,
    help="Lines read before they are translated together.",
)
@device_option
def command(
    run: Path, beam: int, length_penalty: float, removed: tuple[str, ...], block: int, device: str
) -> None:
    """Translate the lines of the standard input with the model in RUN.

    RUN is a run folder or a folder with a saved or exported model. Every line of the input
    gives one line of the output; empty lines stay empty. Input of any length is read in blocks.
    """
    from ..models.devices import resolve_device
    from ..models.gates import Head
    from ..models.transformer import TransformerTranslator
    from ..models.translator import SearchSettings

    folder = run / "model" if (run / "model").is_dir() else run
    translator: Translates
    if (folder / "onnx.json").exists() and not (folder / "model.json").exists():
        from ..models.export.onnx_translator import OnnxTranslator

        if removed:
            raise UsageError("heads cannot be cut out of graphs: cut first, then export")
        translator = OnnxTranslator.load(folder)
    else:
        whole = TransformerTranslator.load(folder, resolve_device(device))
        translator = whole.without([Head.parse(name) for name in removed]) if removed else whole
    values = {"beam": beam, "length_penalty": length_penalty}
    search = SearchSettings.from_dict(values, "options")
    lines = decoded(sys.stdin.buffer)
    size = 1 if sys.stdin.isatty() else block
    read = 0
    while sentences := list(islice(lines, size)):
        for line in translated(translator, sentences, search, read):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()
        read += len(sentences)


def decoded(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a UTF-8 stream without their ends.

    Only a line feed ends a line (with a carriage return before it, or not), so that the
    other characters that Unicode calls line ends do not change the number of lines. A byte
    order mark at the start is dropped, as where a corpus is read.

    Raises:
        DataError: a line that is no UTF-8, by its number.
    """
    for number, raw in enumerate(stream, 1):
        try:
            line = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"line {number} of the input is not UTF-8 (byte {error.start + 1}); "
                "convert it first, such as with iconv"
            ) from None
        line = line.removeprefix("\N{BYTE ORDER MARK}") if number == 1 else line
        yield line.removesuffix("\n").removesuffix("\r")


def translated(
    translator: Translates, sentences: list[str], search: SearchSettings, before: int = 0
) -> Iterable[str]:
    """Return one line a sentence; empty for one without text.

    Args:
        before: lines of the input that came before these, for messages.

    Raises:
        SentenceTooLongError: a line longer than the model has positions for, by its number.
    """
    from ..models.data.readers import has_text

    full = [number for number, sentence in enumerate(sentences, 1) if has_text(sentence)]
    try:
        texts = [sentences[number - 1] for number in full]
        said = iter(translator.translate(texts, search)) if full else iter(())
    except SentenceTooLongError as error:
        number = before + full[error.number - 1]
        raise SentenceTooLongError(number, error.tokens, error.limit, "line") from None
    for sentence in sentences:
        # A line break inside a translation would shift all lines behind it.
        yield " ".join(next(said).text.splitlines()) if has_text(sentence) else ""
