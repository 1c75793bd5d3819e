"""Settings as TOML text that reads back as the same settings.

Python reads TOML (`tomllib`) but does not write it, and a run needs only a small part of the
language: tables, strings, numbers, truth values and lists.

Pitfall: TOML has no word for "none". A setting that is None is left out, so a setting whose
default is something else cannot be set to None in a file.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(settings: Mapping[str, Any]) -> str:
    """Return settings as TOML, scalars before tables, in the order given.

    Args:
        settings: strings, whole numbers, numbers, truth values, paths, None, and lists and
            mappings of these; keys are strings.

    Raises:
        TypeError: a value that TOML cannot hold, named by its key.
    """
    return "\n".join(_table(settings, ())).strip("\n") + "\n"


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    """Return the lines of one table and of the tables within it."""
    scalars = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    lines = [
        f"{_key(key)} = {_value(value, (*path, key))}"
        for key, value in scalars.items()
        if value is not None
    ]
    for key, value in table.items():
        if isinstance(value, Mapping):
            inner = (*path, key)
            lines += ["", f"[{'.'.join(map(_key, inner))}]", *_table(value, inner)]
    return lines


def _key(key: str) -> str:
    """Return a key, quoted when it holds more than letters, digits, `_` and `-`."""
    if not isinstance(key, str):
        raise TypeError(f"a key of the settings is no string: {key!r}")
    return key if _BARE_KEY.fullmatch(key) else _string(key)


def _value(value: Any, path: tuple[str, ...]) -> str:
    """Return one value; a mapping inside a list becomes an inline table."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return _number(float(value))
        case str():
            return _string(str(value))
        case PurePath():
            return _string(str(value))
        case Mapping():
            pairs = [
                f"{_key(key)} = {_value(item, (*path, key))}"
                for key, item in value.items()
                if item is not None
            ]
            return "{ " + ", ".join(pairs) + " }" if pairs else "{}"
        case Sequence() if not isinstance(value, bytes):
            return "[" + ", ".join(_value(item, path) for item in value) + "]"
    raise TypeError(f"{'.'.join(path)} cannot be written as TOML: {value!r}")


def _number(value: float) -> str:
    """Return a float so that it reads back as the same float, never as a whole number."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def _string(value: str) -> str:
    """Return a basic string. JSON escapes what TOML must escape, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
