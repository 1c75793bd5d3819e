"""The Result: what an analysis found, with units, and where it came from.

An analysis is a pure function `(translator, data, settings, generator) -> Result`. A Result
is a handful of tidy tables: one observation a row, every column with its unit and meaning.
It is written as one folder, `result.json` (everything but the rows) beside one CSV a table,
and reading that folder gives the same Result back. Reports read Results and nothing else.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..models.errors import DataError
from ..models.files import write_json, write_text

_KINDS = {"text": "string", "whole": "Int64", "number": "float64", "truth": "boolean"}
# Python reads the digits that it wrote back to the same float, which pandas' parser may not.
_READERS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "whole": int,
    "number": float,
    "truth": {"True": True, "False": False}.__getitem__,
}


@dataclass(frozen=True)
class Column:
    """One column: its kind (`text`, `whole`, `number`, `truth`), unit and meaning."""

    name: str
    kind: str
    meaning: str
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """A tidy table.

    Args:
        caption: what the table shows, in one or two sentences.
        columns: every column of `rows`, in order.
        rows: one observation a row.
        n: how many of what the numbers rest on, such as `500 sentences`.
        interval: how the bounds in `*_low` and `*_high` columns were made; empty if none.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: pd.DataFrame
    n: str = ""
    interval: str = ""

    @classmethod
    def of(
        cls,
        caption: str,
        columns: Sequence[Column],
        records: Sequence[Mapping[str, Any]],
        *,
        n: str = "",
        interval: str = "",
    ) -> Table:
        """Build a table from records and give every column its kind."""
        names = [column.name for column in columns]
        # As objects first: pandas would take whole numbers with a gap for floats and round them.
        rows = pd.DataFrame([dict(record) for record in records], columns=names, dtype=object)
        rows = rows.astype({column.name: _KINDS[column.kind] for column in columns})
        return cls(caption, tuple(columns), rows, n, interval)

    def as_json(self) -> dict[str, Any]:
        """Return the table for JSON, which has no word for a value that is missing: null."""
        rows = self.rows.astype(object).where(self.rows.notna(), None)
        return {
            "caption": self.caption,
            "n": self.n,
            "interval": self.interval,
            "columns": [asdict(column) for column in self.columns],
            "rows": rows.to_dict("records"),
        }


@dataclass(frozen=True)
class Provenance:
    """Where numbers came from, so that they can be repeated and cited.

    Args:
        signatures: for every quality measure its signature, such as sacrebleu's.
        data: SHA-256 of every text that was read, by name.
        seconds: how long the analysis took, wall-clock.
    """

    version: str
    commit: str
    command: str
    seed: int
    model: str
    data: Mapping[str, str]
    hardware: str
    libraries: Mapping[str, str]
    started: str
    seconds: float
    signatures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """The tables of one analysis, the settings that made them, and their provenance.

    Args:
        remarks: sentences a reader must know, such as what was refused and why.
    """

    analysis: str
    tables: Mapping[str, Table]
    settings: Mapping[str, Any]
    provenance: Provenance
    remarks: tuple[str, ...] = ()

    def save(self, folder: Path) -> None:
        """Write CSV tables, then `result.json`; a folder without the latter is unfinished."""
        for name, table in self.tables.items():
            # Every text is quoted, for a carriage return in a bare one would end its row.
            text = table.rows.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
            write_text(folder / f"{name}.csv", text)
        tables = {
            name: {
                "caption": table.caption,
                "n": table.n,
                "interval": table.interval,
                "columns": [asdict(column) for column in table.columns],
            }
            for name, table in self.tables.items()
        }
        whole = {
            "analysis": self.analysis,
            "tables": tables,
            "settings": dict(self.settings),
            "provenance": asdict(self.provenance),
            "remarks": list(self.remarks),
        }
        write_json(folder / "result.json", whole)

    def as_json(self) -> dict[str, Any]:
        """Return everything, rows included, as one object for JSON."""
        return {
            "analysis": self.analysis,
            "tables": {name: table.as_json() for name, table in self.tables.items()},
            "settings": dict(self.settings),
            "provenance": asdict(self.provenance),
            "remarks": list(self.remarks),
        }

    @classmethod
    def load(cls, folder: Path) -> Result:
        """Read what `save` wrote.

        Raises:
            DataError: there is no finished result in `folder`, or it is damaged.
        """
        try:
            whole = json.loads((folder / "result.json").read_text(encoding="utf-8"))
            tables = {name: _read_table(folder, name, it) for name, it in whole["tables"].items()}
            provenance = Provenance(**whole["provenance"])
            remarks = tuple(whole["remarks"])
            return cls(whole["analysis"], tables, whole["settings"], provenance, remarks)
        except FileNotFoundError as error:
            missing = error.filename
            raise DataError(f"{folder} holds no finished result: {missing} is missing") from None
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{folder} holds a damaged result: {error}") from None


def _read_table(folder: Path, name: str, described: Mapping[str, Any]) -> Table:
    """Read one CSV with the column kinds that `result.json` states."""
    columns = tuple(Column(**column) for column in described["columns"])
    text = (folder / f"{name}.csv").read_bytes().decode("utf-8")
    rows = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    names = [column.name for column in columns]
    if list(rows) != names:
        raise ValueError(f"{name}.csv has columns {list(rows)}, expected {names}")
    for column in columns:
        read = _READERS[column.kind]
        values = [
            read(cell) if cell or column.kind == "text" else None for cell in rows[column.name]
        ]
        rows[column.name] = pd.Series(values, dtype=_KINDS[column.kind])
    return Table(described["caption"], columns, rows, described["n"], described["interval"])


def leaves(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every one of a Result's settings with its dotted name."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
