"""`headcount data`: which corpora there are, getting them, and looking at them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..models.errors import UsageError, system_says
from .corpus_options import corpus_options, given_corpus
from .options import echo_json, json_option, seed_option

if TYPE_CHECKING:
    from ..models.data.corpora import Corpus, CorpusSettings, ParallelText
    from ..models.data.fetch import Progress


@click.group()
def command() -> None:
    """List, fetch and show corpora.

    \b
    Examples:
      headcount data list
      headcount data fetch multi30k
      headcount data show miniature -n 3
    """


@command.command("list")
@json_option
def list_corpora(as_json: bool) -> None:
    """List the corpora that can be named, and where each one is.

    \b
    Examples:
      headcount data list
      headcount data list --json
    """
    from ..models.data.corpora import cache_folder, corpus, whereabouts

    cache = cache_folder()
    rows = [
        {"name": name, "about": corpus.summary(name), "where": whereabouts(name, cache)}
        for name in corpus
    ]
    if as_json:
        echo_json({"cache": str(cache), "corpora": rows})
        return
    for row in rows:
        click.echo(f"{row['name']:10} {row['about']}")
        click.echo(f"{'':10} {row['where'] or 'not here; headcount data fetch ' + row['name']}")


@command.command("fetch")
@click.argument("corpus")
@click.option(
    "--from",
    "from_folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Take the files from this folder instead of the network, after the same checks.",
)
def fetch_corpus(corpus: str, from_folder: Path | None) -> None:
    """Download a corpus into the cache.

    Every file is checked by its SHA-256, and a download that was cut off resumes. The cache is
    HEADCOUNT_DATA when it is set, else the folder `headcount` in the user's cache folder.

    \b
    Examples:
      headcount data fetch multi30k
      headcount data fetch multi30k --from ~/Downloads/multi30k
      HEADCOUNT_DATA=/data headcount data fetch multi30k
    """
    from ..models.data.corpora import cache_folder
    from ..models.data.fetch import copy_from, fetch, fetchable

    wanted = fetchable[corpus]
    folder = cache_folder() / corpus
    click.echo(wanted.licence, err=True)
    try:
        if from_folder is not None:
            copy_from(wanted.files, from_folder, folder)
        else:
            with _progress_bar() as progress:
                fetch(wanted.files, folder, progress=progress)
    except (FileExistsError, NotADirectoryError, FileNotFoundError, PermissionError) as error:
        raise UsageError(
            f"{folder} cannot be written: {system_says(error)}; set HEADCOUNT_DATA to a folder of "
            "your own"
        ) from None
    click.echo(f"{corpus} is in {folder}")


@command.command("show")
@click.argument("corpus", required=False)
@click.option(
    "-n",
    "count",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Sentence pairs to print.",
)
@click.option(
    "--split",
    default="test",
    show_default=True,
    help="train, valid, test (the main test split) or the name of a test split.",
)
@corpus_options
@click.option(
    "--conllu",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write the gold annotation of miniature into this folder instead.",
)
@seed_option
@json_option
def show_corpus(
    corpus: str | None, count: int, split: str, conllu: Path | None, seed: int, as_json: bool
) -> None:
    """Show sentence pairs of a corpus, after all its checks.

    \b
    Examples:
      headcount data show miniature -n 3
      headcount data show multi30k --split train --json
      headcount data show --train a.en a.de --valid b.en b.de --test c.en c.de
      headcount data show miniature --conllu gold/
    """
    from ..models.data.corpora import CorpusSettings, load_corpus

    named = {"name": corpus} if corpus else {}
    settings = CorpusSettings.from_dict({"seed": seed, **given_corpus(), **named}, "data show")
    if conllu is not None:
        _write_conllu(settings, conllu)
        return
    loaded = load_corpus(settings)
    text = loaded.split(split)
    if as_json:
        echo_json(_as_json(loaded, text, count))
    else:
        click.echo("\n".join(_as_lines(loaded, text, count)))


def _as_json(corpus: Corpus, text: ParallelText, count: int) -> dict[str, Any]:
    """Return the sizes of all splits and the pairs of one."""
    shown = text.head(count)
    return {
        "corpus": corpus.name,
        "source_language": corpus.source_language,
        "target_language": corpus.target_language,
        "licence": corpus.licence,
        "fingerprint": corpus.fingerprint,
        "splits": {
            name: {"sentences": len(it), "skipped": it.skipped, "fingerprint": it.fingerprint}
            for name, it in corpus.splits.items()
        },
        "pairs": [
            {"source": source, "target": target}
            for source, target in zip(shown.source, shown.target, strict=True)
        ],
    }


def _as_lines(corpus: Corpus, text: ParallelText, count: int) -> Iterator[str]:
    """Say the sizes of all splits and the pairs of one, for people."""
    languages = f"{corpus.source_language} to {corpus.target_language}"
    sizes = ", ".join(f"{name} {len(it):,}" for name, it in corpus.splits.items())
    yield f"{corpus.name}, {languages}: {sizes} sentence pairs"
    yield corpus.licence
    if text.skipped:
        yield f"{text.name}: {text.skipped:,} pairs with an empty side left out"
    shown = text.head(count)
    yield f"\n{text.name}, the first {len(shown)} of {len(text):,}"
    for source, target in zip(shown.source, shown.target, strict=True):
        yield f"\n  {corpus.source_language}  {source}\n  {corpus.target_language}  {target}"


def _write_conllu(settings: CorpusSettings, folder: Path) -> None:
    """Write the gold annotation of the built-in corpus."""
    from ..models.data.corpora import made_miniature

    if settings.name != "miniature":
        raise UsageError(f"--conllu: only miniature has gold annotation, not {settings.name}")
    from ..models.data.miniature import write_gold

    for path in write_gold(made_miniature(settings), folder):
        click.echo(path)


@contextmanager
def _progress_bar() -> Iterator[Progress]:
    """Yield what a download reports to; a bar a file, silent when not a terminal."""
    from tqdm import tqdm

    bars: dict[str, tqdm[Any]] = {}

    def report(name: str, have: int, size: int) -> None:
        if name not in bars:
            bars[name] = tqdm(
                desc=name, total=size, unit="B", unit_scale=True, disable=None, leave=True
            )
        bars[name].update(have - bars[name].n)

    try:
        yield report
    finally:
        for bar in bars.values():
            bar.close()
