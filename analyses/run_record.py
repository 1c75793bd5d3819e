"""The record of a run (`run.json`), and how a recorded state is compared with the present one."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ..models.errors import DataError, UsageError
from ..models.files import sha256_of
from .toml_text import toml_text

FORMAT = 1
"""Version of `run.json`; raised when a reader of the old form would misunderstand the new."""


def read_record(path: Path) -> dict[str, Any]:
    """Read `run.json` of the run in `path`.

    Raises:
        DataError: it is missing, damaged, or of a newer form.
    """
    file = path / "run.json"
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        version = record["format"]
        if version > FORMAT:
            raise DataError(
                f"{path} was made by headcount {record['version']}, which this one cannot read; "
                "install that version or a newer one"
            )
        record["config"], record["stages"]
    except (FileNotFoundError, NotADirectoryError):
        if not path.is_dir():
            raise DataError(f"{path}: no such folder; check the path") from None
        raise DataError(
            f"{path} holds no run: there is no run.json in it; name a folder that `headcount run` "
            "or `headcount train` has made"
        ) from None
    except (KeyError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise DataError(
            f"{file} is damaged: {what}; restore it, or choose another folder and begin again"
        ) from None
    return dict(record)


def as_json(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as they will read back from `run.json`: paths as texts, tuples as lists."""
    whole: dict[str, Any] = json.loads(json.dumps(config, default=os.fspath))
    return whole


def refuse_edited(file: Path, config: Mapping[str, Any]) -> None:
    """Compare `config.toml` with the recorded settings, which the stages rest on.

    Keys that only the record has are no edit: a process that was killed while it added
    settings to both leaves the file behind the record.

    Raises:
        UsageError: the file says something else.
    """
    try:
        written = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{file} is no longer TOML: {error}") from None
    if first_difference(written, tomllib.loads(toml_text(config))):
        raise UsageError(
            f"{file} was edited, but a run's settings are fixed; copy it elsewhere and "
            "start another run with it"
        )


def is_written(file: Path, config: Mapping[str, Any]) -> bool:
    """Whether `config.toml` holds just these settings."""
    return file.exists() and file.read_text(encoding="utf-8") == toml_text(config)


def is_ours(name: str) -> bool:
    """Whether a file can be what an interrupted `create` left."""
    return name == "config.toml" or name.startswith((".lock", ".config.toml.", ".run.json."))


def first_change(old: Mapping[str, str], new: Mapping[str, str]) -> str | None:
    """Return the first input that is new, gone or different."""
    names = [*new, *(name for name in old if name not in new)]
    return next((name for name in names if old.get(name) != new.get(name)), None)


def first_difference(old: Any, new: Any, path: str = "") -> str | None:
    """Say how settings differ from recorded ones; keys only in `new` are no difference."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key, value in old.items():
            inner = f"{path}.{key}" if path else key
            if key not in new:
                return f"{inner} = {json.dumps(value)}, which this version does not know"
            if found := first_difference(value, new[key], inner):
                return found
        return None
    same = old == new and isinstance(old, bool) == isinstance(new, bool)
    return None if same else f"{path} = {json.dumps(old)}, and now it is {json.dumps(new)}"


def files_of(path: Path) -> list[Path]:
    """Return the files below a folder in order, or the file itself."""
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file())


def seal(file: Path) -> dict[str, Any]:
    """Return size and SHA-256 of a file."""
    return {"bytes": file.stat().st_size, "sha256": sha256_of(file)}


def is_sealed(file: Path, sealed: Mapping[str, Any]) -> bool:
    """Whether a file is still what was sealed; the size is compared first, for speed."""
    return (
        file.is_file()
        and file.stat().st_size == sealed["bytes"]
        and sha256_of(file) == sealed["sha256"]
    )


def set_aside(root: Path, name: str, paths: Sequence[str]) -> Path | None:
    """Move what is there of `paths` into `outdated/TIME-NAME/` and return that folder.

    Args:
        root: the run.
        name: the stage that wrote them.
        paths: files or folders within the run.
    """
    present = [path for path in dict.fromkeys(paths) if (root / path).exists()]
    if not present:
        return None
    first = root / "outdated" / f"{datetime.now():%Y%m%d-%H%M%S}-{name}"
    folder, count = first, 1
    while folder.exists():
        count += 1
        folder = first.with_name(f"{first.name}-{count}")
    for path in present:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        (root / path).rename(target)
    return folder
