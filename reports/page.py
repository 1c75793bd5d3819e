"""The page of a run: one HTML file that needs nothing else.

Style, script and charts stand in the file; the content-security policy allows that one
script and that one style by their hashes and forbids every request, so text from a corpus
could do nothing even if it were not escaped. There is no date of writing and no random id
on the page: the same Results give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from markupsafe import Markup

from ..models.files import write_text
from .drawing.palette import DARK_BACKGROUND, LIGHT_BACKGROUND, style_sheet
from .findings import Findings
from .rendering import FOLDER, render
from .sections import in_order

NAME = "report.html"


def build_page(run_folder: Path, *, allowed_loss: float = 1.0) -> Path:
    """Write `report.html` of a run and return its path.

    Sections whose Results do not exist are left out.

    Args:
        run_folder: a run folder with at least one finished Result in `results/`.
        allowed_loss: the loss of BLEU, in points, within which a smaller model is good enough.

    Raises:
        DataError: the folder holds no finished Result, or a damaged one.
    """
    page = page_of(Findings.of_run(run_folder, allowed_loss))
    path = run_folder / NAME
    write_text(path, page)
    return path


def page_of(findings: Findings) -> str:
    """Return the page of some findings as HTML."""
    style = (FOLDER / "styles" / "page.css").read_text(encoding="utf-8") + style_sheet()
    script = (FOLDER / "scripts" / "page.js").read_text(encoding="utf-8")
    drawn = []
    for name, section in in_order():
        if all(analysis in findings for analysis in section.needs):
            body = section.draw(findings)
            if body is not None:
                drawn.append((name, section.title, body))
    first = next(iter(findings.results.values())).provenance
    return str(
        render(
            "page.html",
            {
                "run": findings.run,
                "provenance": first,
                "sections": drawn,
                "policy": _policy(style, script),
                "style": Markup(style),
                "script": Markup(script),
                "backgrounds": (LIGHT_BACKGROUND, DARK_BACKGROUND),
            },
        )
    )


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
