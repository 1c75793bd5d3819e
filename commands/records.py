"""Tables of a Result as JSON has them. Not in `options.py`, which must not know pandas."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..analyses.result import Result

Record = dict[str, Any]


def records_of(result: Result, *names: str) -> dict[str, list[Record]]:
    """Return the rows of the named tables, or of all, as `records` does."""
    return {name: records(result.tables[name].rows) for name in names or result.tables}


def records(rows: pd.DataFrame) -> list[Record]:
    """Return rows as dictionaries; what is missing is None, for JSON has no NaN."""
    return [
        {str(column): None if pd.isna(value) else value for column, value in row.items()}
        for row in rows.to_dict("records")
    ]
