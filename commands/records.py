"""Tables of a Result as JSON has them. Not in `options.py`, which must not know pandas."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..analyses.result import Result


def records_of(result: Result) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of all tables; what is missing is None, for JSON has no NaN."""
    return {
        name: [
            {str(column): None if pd.isna(value) else value for column, value in row.items()}
            for row in table.rows.to_dict("records")
        ]
        for name, table in result.tables.items()
    }
