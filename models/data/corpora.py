"""The corpora that can be named: built in, downloaded, or one's own files.

| name | what | text |
| --- | --- | --- |
| miniature | built-in English-German grammar with gold annotation | made from a seed |
| multi30k | 29,000 + 1,014 + 1,000 image captions (Elliott et al. 2016) | downloaded once |
| files | any text, as aligned files or TSV | your own |

A corpus is always a named language pair; the built-in one and Multi30k go in both directions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field, field_validator, model_validator

from ..errors import DataError, UsageError
from ..files import expanded
from ..registry import Registry
from ..settings import Seed, Settings
from . import multi30k
from .fetch import fetchable
from .parallel_text import Corpus, ParallelText
from .readers import LONGEST_LINE
from .text_store import read_split

if TYPE_CHECKING:
    from .miniature import AnnotatedPair, MiniatureCorpus

_GOLD_TESTS: dict[CorpusSettings, Sequence[AnnotatedPair]] = {}

__all__ = ["Corpus", "CorpusSettings", "ParallelText", "corpus", "load_corpus"]


class CorpusSettings(Settings):
    """Which text to use.

    Args:
        name: a corpus of the registry. Own files need none: `train` makes it `files`.
        source_language, target_language: codes such as `en`. Own files: read from the file
            names (`train.en`) when not given. Other corpora: en to de when not given.
        seed: of the built-in corpus `miniature`; other corpora do not depend on it.
        sentences: training sentences of `miniature`.
        train, valid, test: own files: two aligned files (source, target) or one TSV file.
        drop_empty: leave out pairs with an empty side instead of refusing the files.
        longest_line: characters of the longest sentence that is accepted.
        memory_bytes: a split with more text than this is not held in memory but mapped from
            the cache folder.
        from_folder: take the files of `multi30k` from this folder, not from the cache.
    """

    name: str = "miniature"
    source_language: str | None = None
    target_language: str | None = None
    seed: Seed = 0
    sentences: int = 20_000
    train: tuple[str, ...] | None = None
    valid: tuple[str, ...] | None = None
    test: tuple[str, ...] | None = None
    drop_empty: bool = False
    longest_line: int = LONGEST_LINE
    memory_bytes: int = Field(default=1 << 30, ge=0)
    from_folder: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _own_files(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("train") and "name" not in values:
            return {**values, "name": "files"}
        return values

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_path(cls, value: Any) -> Any:
        return (str(value),) if isinstance(value, str | Path) else value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given = [split for split in ("train", "valid", "test") if getattr(self, split)]
        if given and self.name != "files":
            raise ValueError(f"{given[0]} files go with corpus 'files', not with '{self.name}'")
        if self.longest_line < 1 or self.sentences < 1:
            raise ValueError("longest_line and sentences must be at least 1")
        return self


Load = Callable[[CorpusSettings, Path], Corpus]
corpus: Registry[Load] = Registry("corpus")


def load_corpus(settings: CorpusSettings, cache: Path | None = None) -> Corpus:
    """Load the corpus that the settings name.

    Args:
        settings: which corpus, and how.
        cache: where downloaded corpora lie; `cache_folder()` when not given.

    Raises:
        UsageError: an unknown corpus, or settings that do not fit it.
        DataError: text that is missing or cannot be used, by file, line and remedy.
    """
    return corpus[settings.name](settings, cache or cache_folder())


def whereabouts(name: str, cache: Path) -> str:
    """Return where a corpus is, in words, or what is wrong with it; empty when it is not here."""
    if name not in fetchable:
        return {"miniature": "built in", "files": "where you say"}.get(name, "")
    if multi30k.found(cache) is None:
        return ""
    try:
        return str(multi30k.locate(cache))
    except DataError as error:
        return str(error)


def cache_folder() -> Path:
    """Return where downloaded corpora lie.

    `HEADCOUNT_DATA` when it is set, else `headcount` in the user's cache folder
    (`XDG_CACHE_HOME`, else `~/.cache`).

    Raises:
        UsageError: the home folder that it lies in is not known.
    """
    if own := os.environ.get("HEADCOUNT_DATA"):
        return expanded(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else expanded("~/.cache")) / "headcount"


@corpus("miniature")
def load_miniature(settings: CorpusSettings, cache: Path) -> Corpus:
    """Built-in English-German grammar with gold annotation, 20,000 sentences from a seed."""
    languages = _en_de(settings)
    made = made_miniature(settings)
    texts = {
        name: ParallelText(
            f"miniature {name}",
            [pair.source.text for pair in pairs],
            [pair.target.text for pair in pairs],
        )
        for name, pairs in made.splits.items()
        if pairs  # A tiny training part may know the words of no unseen combination.
    }
    if languages == ("de", "en"):
        texts = {name: text.reversed() for name, text in texts.items()}
    return Corpus(
        name="miniature",
        source_language=languages[0],
        target_language=languages[1],
        train=texts.pop("train"),
        valid=texts.pop("valid"),
        tests=texts,
        licence="part of headcount (Apache-2.0)",
    )


def made_miniature(settings: CorpusSettings) -> MiniatureCorpus:
    """Return the built-in corpus with its gold annotation.

    500 validation, 1,000 test and 500 unseen pairs, fewer when fewer than 2,000 training
    sentences are asked for.
    """
    from .miniature import generate  # Its word lists are read only when they are needed.

    few = max(1, settings.sentences // 4)
    sizes = {"valid": min(500, few), "test": min(1_000, 2 * few), "unseen": min(500, few)}
    made = generate(settings.seed, settings.sentences, **sizes)
    _GOLD_TESTS.clear()
    _GOLD_TESTS[settings] = made.test
    return made


def miniature_test(settings: CorpusSettings) -> Sequence[AnnotatedPair]:
    """Return the built-in corpus' test pairs with their gold annotation.

    Those of the corpus that was made last are still there: whoever loaded its text need not
    wait for all of it a second time.
    """
    return _GOLD_TESTS[settings] if settings in _GOLD_TESTS else made_miniature(settings).test


@corpus("multi30k")
def load_multi30k(settings: CorpusSettings, cache: Path) -> Corpus:
    """Image captions, English-German: 29,000 to train on; fetched once, non-commercial research."""
    languages = _en_de(settings)
    folder = multi30k.locate(cache, settings.from_folder)
    texts = {
        split: _read(
            f"multi30k {split}",
            [str(folder / f"{split}.{language}.gz") for language in languages],
            settings,
            cache,
        )
        for split in multi30k.SPLITS
    }
    return Corpus(
        name="multi30k",
        source_language=languages[0],
        target_language=languages[1],
        train=texts["train"],
        valid=texts["val"],
        tests={"test_2016_flickr": texts["test_2016_flickr"]},
        licence=multi30k.LICENCE,
    )


@corpus("files")
def load_files(settings: CorpusSettings, cache: Path) -> Corpus:
    """Your own text: train, valid and test as aligned files (SRC TGT) or as TSV."""
    for split in ("train", "valid", "test"):
        if not getattr(settings, split):
            raise UsageError(
                f"corpus 'files' needs {split} files: give --{split} SRC TGT, "
                f'or {split} = ["SRC", "TGT"] in the configuration'
            )
    assert settings.train and settings.valid and settings.test
    source_language, target_language = _languages(settings, settings.train)
    return Corpus(
        name="files",
        source_language=source_language,
        target_language=target_language,
        train=_read("train", settings.train, settings, cache),
        valid=_read("valid", settings.valid, settings, cache),
        tests={"test": _read("test", settings.test, settings, cache)},
        licence="your own files; their licence is not known here",
    )


def _en_de(settings: CorpusSettings) -> tuple[str, str]:
    """Return the direction for a corpus that has English and German."""
    source, target = settings.source_language, settings.target_language
    source = source or ("de" if target == "en" else "en")
    target = target or ("en" if source == "de" else "de")
    if {source, target} != {"en", "de"}:
        raise UsageError(f"corpus '{settings.name}' has en and de, not {source} to {target}")
    return source, target


def _languages(settings: CorpusSettings, paths: tuple[str, ...]) -> tuple[str, str]:
    """Take the languages from the settings, or from file names such as `train.en.gz`."""
    named = [settings.source_language, settings.target_language]
    for side in range(2):
        if named[side] is None and len(paths) == 2:
            ending = Path(paths[side].removesuffix(".gz")).suffix.removeprefix(".")
            if ending.isalpha() and 2 <= len(ending) <= 3 and ending != "txt":
                named[side] = ending.lower()
    source, target = named
    if source is None or target is None:
        raise UsageError(
            f"the languages of {' and '.join(paths)} are not known: give source_language "
            "and target_language (--source-language, --target-language)"
        )
    if source == target:
        raise UsageError(f"source and target language are both {source}: name two languages")
    return source, target


def _read(
    name: str, paths: list[str] | tuple[str, ...], settings: CorpusSettings, cache: Path
) -> ParallelText:
    """Read one split as the settings say."""
    return read_split(
        name,
        tuple(expanded(path) for path in paths),
        cache,
        memory_bytes=settings.memory_bytes,
        drop_empty=settings.drop_empty,
        longest=settings.longest_line,
    )
