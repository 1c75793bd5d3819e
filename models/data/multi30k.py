"""Multi30k, task 1: English image captions and their German translations.

Elliott, Frank, Sima'an & Specia 2016, arXiv:1605.00459. Untokenised text in its original case.
The captions are short (11.9 English words) and their world is small, so that a small model
learns them well within minutes.

Every file is known by its SHA-256: whatever is loaded, from the net, from a folder or from
the cache, is the same text, so that BLEU scores can be compared.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import DataError
from ..files import expanded, sha256_of
from .fetch import Fetchable, RemoteFile, fetchable

SPLITS = ("train", "val", "test_2016_flickr")
LICENCE = (
    "Multi30k: no open licence; for non-commercial research and education only "
    "(captions derived from Flickr30K; https://github.com/multi30k/dataset)"
)
COMMIT = "a3d2e0d26b56f3846f66a952536ffed4e401d05a"
ADDRESS = f"https://raw.githubusercontent.com/multi30k/dataset/{COMMIT}/data/task1/raw/"

_KNOWN = {
    "train.en.gz": (
        568929,
        "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    ),
    "train.de.gz": (
        637044,
        "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    ),
    "val.en.gz": (
        21650,
        "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    ),
    "val.de.gz": (
        24681,
        "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    ),
    "test_2016_flickr.en.gz": (
        21077,
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    ),
    "test_2016_flickr.de.gz": (
        22890,
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    ),
}
FILES = [RemoteFile(name, ADDRESS + name, *known) for name, known in _KNOWN.items()]
fetchable("multi30k")(Fetchable(LICENCE, FILES))


def locate(cache: Path, from_folder: str | Path | None = None) -> Path:
    """Return the folder that holds the checked files of Multi30k.

    The first of these that has any of them: `from_folder` when given, else `multi30k/` in the
    cache, else in the read-only folder `HEADCOUNT_SHARED` of a site (or its `data/`).

    Raises:
        DataError: a file is missing or differs from the published one.
    """
    if from_folder is not None:
        return _checked(expanded(from_folder), "give the folder with the original files")
    if folder := found(cache):
        return _checked(folder, "run: headcount data fetch multi30k")
    raise DataError(
        f"multi30k is not in {cache}: run headcount data fetch multi30k, or take it from a "
        "local folder with headcount data fetch multi30k --from DIR"
    )


def found(cache: Path) -> Path | None:
    """Return the folder that `locate` takes, whole or not; None where there is no file."""
    shared = os.environ.get("HEADCOUNT_SHARED")
    places = [cache, Path(shared), Path(shared) / "data"] if shared else [cache]
    folders = (place / "multi30k" for place in places)
    return next((it for it in folders if any((it / file.name).exists() for file in FILES)), None)


def _checked(folder: Path, remedy: str) -> Path:
    """Refuse a folder in which a file is missing or is not the published one."""
    for file in FILES:
        path = folder / file.name
        if not path.is_file():
            raise DataError(f"{path}: no such file; {remedy}")
        if sha256_of(path) != file.sha256:
            raise DataError(f"{path}: checksum differs from the published file; {remedy}")
    return folder
