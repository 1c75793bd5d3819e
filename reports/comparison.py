"""The page of a comparison: several runs side by side, in the style of a run's own page."""

from __future__ import annotations

from pathlib import Path

from ..analyses.result import Result
from ..models.files import write_text
from .comparison_sections import COMPARE, SECTIONS
from .figures import draw_figures
from .findings import Findings
from .page import NAME, assembled


def build_comparison(folder: Path, result: Result) -> Path:
    """Write a comparison's tables, figures and page into a folder and return the page's path.

    Args:
        result: what `compare` found.
    """
    result.save(folder / "results" / COMPARE)
    draw_figures(folder)
    page = comparison_of(Findings.of_run(folder))
    write_text(folder / NAME, page)
    return folder / NAME


def comparison_of(findings: Findings) -> str:
    """Return the page of a comparison as HTML."""
    result = findings.results[COMPARE]
    drawn = []
    for name, title, section in SECTIONS:
        body = section(findings)
        if body is not None:
            drawn.append((name, title, body))
    values = {
        "run": findings.run,
        "runs": result.settings["runs"],
        "provenance": result.provenance,
        "sections": drawn,
    }
    return assembled("comparison.html", values)
