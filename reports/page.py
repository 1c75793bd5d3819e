"""The page of a run: one HTML file that needs nothing else.

Style, script and charts stand in the file; the content-security policy allows that one
script and that one style by their hashes and forbids every request, so text from a corpus
could do nothing even if it were not escaped. There is no date of writing and no random id
on the page: the same Results give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ..models.errors import DataError, UsageError, did_you_mean
from ..models.files import write_text
from .drawing.palette import DARK_BACKGROUND, LIGHT_BACKGROUND, style_sheet
from .findings import Findings
from .rendering import FOLDER, render
from .sections import Section, in_order

NAME = "report.html"


def build_page(run_folder: Path, *, allowed_loss: float = 1.0, only: Collection[str] = ()) -> Path:
    """Write `report.html` of a run and return its path.

    Sections whose Results do not exist are left out.

    Args:
        run_folder: a run folder with at least one finished Result in `results/`.
        allowed_loss: the loss of BLEU, in points, within which a smaller model is good enough.
        only: names of the sections to show; all of them by default.

    Raises:
        UsageError: there is no section of such a name.
        DataError: the folder holds no finished Result or a damaged one, or nothing for a
            section that was asked for.
    """
    page = page_of(Findings.of_run(run_folder, allowed_loss), only)
    path = run_folder / NAME
    write_text(path, page)
    return path


def page_of(findings: Findings, only: Collection[str] = ()) -> str:
    """Return the page of some findings as HTML; `only` as in `build_page`."""
    known = dict(in_order())
    for name in only:
        if name not in known:
            raise UsageError(f"there is no section '{name}'" + did_you_mean(name, known))
    drawn = []
    for name, section in known.items():
        if only and name not in only:
            continue
        here = all(analysis in findings for analysis in section.needs)
        body = _drawn(section, findings) if here else None
        if body is not None:
            drawn.append((name, section.title, body))
        elif only:
            needs = " and ".join(section.needs)
            raise DataError(
                f"{findings.run} has nothing for the section '{name}'"
                + (f": its results of {needs} are missing or empty" if needs else "")
            )
    first = next(iter(findings.results.values())).provenance
    return assembled("page.html", {"run": findings.run, "provenance": first, "sections": drawn})


def _drawn(section: Section, findings: Findings) -> Markup | None:
    """Draw a section; tables that lack a column were made by another version."""
    try:
        return section.draw(findings)
    except KeyError as error:
        raise DataError(
            f"the section '{section.title}' does not find {error} in the results of "
            f"{findings.run}, which another version has made: measure them again with "
            "`headcount run -o RUN`, or choose others with --sections"
        ) from error


def assembled(template: str, values: Mapping[str, Any]) -> str:
    """Return a whole page: a template with values, and the style and script that all share."""
    style = (FOLDER / "styles" / "page.css").read_text(encoding="utf-8") + style_sheet()
    scripts = sorted((FOLDER / "scripts").glob("*.js"))
    script = "".join(_compact(path.read_text(encoding="utf-8")) for path in scripts)
    return str(
        render(
            template,
            {
                **values,
                "policy": _policy(style, script),
                "style": Markup(style),
                "script": Markup(script),
                "backgrounds": (LIGHT_BACKGROUND, DARK_BACKGROUND),
            },
        )
    )


_LITERAL = r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`|/(?![\s/*])(?:\\.|[^/\\\n])+/\w*)"""
_SHORTER = (
    (r"[ \n]*([=(){}\[\],;:?<>&|*])[ \n]*", r"\1"),
    (r"(?<![+-]) ([+-]) (?![+-])", r"\1"),
    (r",(?=[)\]}])", ""),
    (r";(?=})", ""),
    (r"\((\w+)\)=>", r"\1=>"),
    (r"\bconst\b", "let"),
)


def _compact(script: str) -> str:
    """Leave out what only its readers need: comments, space, marks that end nothing.

    Texts and patterns stay as they are. The scripts end every statement with `;` or `}`, have
    no template inside a template and no empty statement, and a space behind a division.
    """
    lines = (line.strip() for line in script.splitlines())
    parts = re.split(_LITERAL, "\n".join(it for it in lines if it and not it.startswith("//")))
    for pattern, shorter in _SHORTER:
        parts[::2] = [re.sub(pattern, shorter, code) for code in parts[::2]]
    return "".join(parts)


def _policy(style: str, script: str) -> str:
    """Return the content-security policy that allows this style and this script alone."""
    return (
        "default-src 'none'; "
        f"style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
