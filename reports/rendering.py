"""From templates and values to markup: jinja2 with everything escaped.

Text from corpora is hostile until proven otherwise. Every value that a template prints is
escaped, unless it is `Markup` that this room built itself; a name that a template does not
know is an error and never an empty string.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import wording
from .findings import Findings, csv_of

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Caption:
    """What stands below a figure or a table: what it shows and what it rests on.

    Args:
        text: what is shown and how it is to be read.
        facts: pairs such as ("Sentences", "500"); empty ones are left out.
        links: pairs of a label and a path relative to the page.
    """

    text: str
    facts: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Sheet:
    """A table as it is printed.

    Args:
        caption: read out and printed above the table.
        columns: headings with their units.
        rows: printed cells; the first `headings` of a row name it.
        words: indices of columns that hold words and are set flush left.
        greyed: indices of rows whose numbers must not be shown.
        ids: of the rows, for links that lead to them; none if empty.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    headings: int = 1
    words: frozenset[int] = frozenset({0})
    greyed: frozenset[int] = frozenset()
    ids: Sequence[str] = ()


def caption_of(
    findings: Findings,
    analysis: str,
    tables: Sequence[str],
    text: str,
    *,
    unit: str,
    measure: str = "",
    figure: str = "",
    n: str = "",
) -> Caption:
    """Gather what a figure rests on from the Result it was drawn from.

    Args:
        tables: the tables it shows; the first one states n and the interval.
        unit: of the values shown.
        measure: the quality measure whose signature is named, if any.
        figure: name of the same figure in `figures/`, if there is one for papers.
        n: where the table does not state it.
    """
    table = findings.results[analysis].tables[tables[0]]
    signature = findings.signature(analysis, measure) if measure else ""
    facts = (
        ("Unit", unit),
        ("n", table.n or n),
        ("Interval", table.interval),
        ("Signature", signature),
    )
    links = [(f"{name}.csv", csv_of(analysis, name)) for name in tables]
    for ending in ("svg", "pdf"):
        path = f"figures/{figure}.{ending}"
        if path in findings.figures:
            links.append((ending.upper(), path))
    return Caption(text, tuple(fact for fact in facts if fact[1]), tuple(links))


def render(template: str, values: Mapping[str, Any]) -> Markup:
    """Fill a template of `templates/` with values."""
    return Markup(_environment().get_template(template).render(values))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for written in (
        wording.title_of,
        wording.fixed,
        wording.signed,
        wording.whole,
        wording.significant,
        wording.duration,
        wording.short_commit,
    ):
        environment.filters[written.__name__] = written
    environment.globals["interval"] = wording.interval
    # Data for the script: short, and the same bytes again.
    short = {"sort_keys": True, "ensure_ascii": False, "separators": (",", ":")}
    environment.policies["json.dumps_kwargs"] = short
    return environment
