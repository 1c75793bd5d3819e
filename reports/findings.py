"""The Results of one run, as the sections of a page ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..analyses.result import Result, Table
from ..models.errors import DataError


@dataclass(frozen=True)
class Findings:
    """What is known of a run.

    Args:
        run: the run's name, which is its folder's.
        results: every finished Result by the name of its analysis, in alphabetical order.
        figures: paths of drawn figures relative to the run folder.
        files: names of further files in the run folder that the page may point at.
        allowed_loss: the loss of BLEU, in points, that the reader is ready to pay.
    """

    run: str
    results: Mapping[str, Result]
    figures: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    allowed_loss: float = 1.0

    @classmethod
    def of_run(cls, folder: Path, allowed_loss: float = 1.0) -> Findings:
        """Read `results/*/` of a run folder; analyses that did not finish are left out.

        Raises:
            DataError: there is no such folder, it holds no finished Result, or one is damaged.
        """
        finished = sorted(path.parent for path in folder.glob("results/*/result.json"))
        if not finished:
            what = "holds no finished results" if folder.is_dir() else "is not a folder"
            raise DataError(f"{folder} {what}: name a folder that `headcount run -o` wrote")
        figures = sorted((folder / "figures").glob("*.*"))
        return cls(
            run=folder.resolve().name,
            results={path.name: Result.load(path) for path in finished},
            figures=frozenset(f"figures/{path.name}" for path in figures),
            files=frozenset(path.name for path in folder.glob("*.*") if path.is_file()),
            allowed_loss=allowed_loss,
        )

    def __contains__(self, analysis: str) -> bool:
        return analysis in self.results

    def table(self, analysis: str, name: str) -> Table | None:
        """Return a table, or None where the run does not have it or it has no rows."""
        result = self.results.get(analysis)
        table = result.tables.get(name) if result else None
        return table if table is not None and len(table.rows) else None

    def rows(self, analysis: str, name: str) -> pd.DataFrame:
        """Return the rows of a table that is known to be there."""
        return self.results[analysis].tables[name].rows

    def records(self, analysis: str, name: str) -> list[dict[str, Any]]:
        """Return the rows of a table as dictionaries; none where the run does not have it."""
        return records(self.rows(analysis, name)) if self.table(analysis, name) else []

    def names_of(self, analysis: str, table: str) -> list[str]:
        """Return the names of all Results of an analysis that have rows in a table."""
        return [
            name
            for name, result in self.results.items()
            if result.analysis == analysis and self.table(name, table) is not None
        ]

    def signature(self, analysis: str, measure: str = "bleu") -> str:
        """Return the signature under which a quality measure was computed, or nothing."""
        result = self.results.get(analysis)
        return result.provenance.signatures.get(measure, "") if result else ""


def records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dictionaries by column name."""
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def csv_of(analysis: str, table: str) -> str:
    """Return the path of a table's CSV relative to the page."""
    return f"results/{analysis}/{table}.csv"
