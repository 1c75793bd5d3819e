"""Metrics whose proofs fail on a run, which the page must not show as numbers."""

from __future__ import annotations

from .findings import Findings
from .wording import missing, significant


def unproven(findings: Findings) -> dict[str, str]:
    """Return why each metric with a failed proof is not shown, by the metric's name.

    A metric that gives no proof is not among them: nothing speaks against its numbers.
    """
    reasons: dict[str, list[str]] = {}
    for row in findings.records("score", "proofs"):
        if missing(row["holds"]) or not row["holds"]:
            unit = f" {row['unit']}" if row["unit"] else ""
            error = (
                "the error is not a number"
                if missing(row["error"])
                else f"the error is {significant(row['error'], 2)}{unit}"
            )
            allowed = significant(row["tolerance"], 2)
            claim = f"“{row['claim']}” does not hold: {error}, allowed is {allowed}"
            reasons.setdefault(row["metric"], []).append(claim)
    return {metric: "; ".join(claims) for metric, claims in reasons.items()}
