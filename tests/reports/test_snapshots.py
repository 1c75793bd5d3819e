"""The outlines of the sections, as somebody looked at them last.

An outline has every element of a section with its id, class and role, and the words that the
section says itself: headings, captions, labels, notes; runs of equal lines are counted. What
the Results say is held by the other tests. After a change that was looked at in a browser:

    HEADCOUNT_SNAPSHOTS=write pytest tests/reports/test_snapshots.py
"""

import os
from pathlib import Path

import pytest
from made_heads import made_attention, made_roles
from made_results import whole_run, write_run
from reading import read

from headcount.reports.page import build_page

FOLDER = Path(__file__).parent / "snapshots"
SAID = {"h2", "h3", "h4", "caption", "summary", "label", "legend", "dt", "figcaption", "optgroup"}
NAMED = ("id", "class", "role", "aria-label", "tabindex", "hidden")
INSIDE = {"svg", "script", "tr"}  # of these it is enough that they are there


def outline(node, depth=0):
    """Yield one line an element."""
    marks = [
        f"{name}={node.attributes[name]}" for name in NAMED if node.attributes.get(name) is not None
    ]
    if node.tag == "tr" and "id" in node.attributes:
        marks = ["id=..."]
    words = ""
    if node.tag in SAID:
        words = " ".join("".join(it for it in node.inside if isinstance(it, str)).split())
    yield "  " * depth + " ".join([node.tag, *marks, f"“{words}”" if words else ""]).rstrip()
    if node.tag not in INSIDE:
        for inner in node.inside:
            if not isinstance(inner, str):
                yield from outline(inner, depth + 1)


def counted(lines):
    """Write lines that follow each other and are equal once, with their number."""
    told = []
    for line in lines:
        if told and told[-1][0] == line:
            told[-1][1] += 1
        else:
            told.append([line, 1])
    return "".join(f"{line}{f' × {count}' if count > 1 else ''}\n" for line, count in told)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    run = whole_run(tmp_path_factory.mktemp("runs") / "made")
    return read(build_page(write_run(run, made_roles(), made_attention())).read_text("utf-8"))


SECTIONS = ("answer", "curve", "heads", "translations", "metrics", "quality", "training")
SECTIONS += ("proofs", "provenance")


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_is_built_as_it_was_looked_at(page, name):
    found = counted(outline(page.one("section", id=name)))
    path = FOLDER / f"{name}.txt"
    if os.environ.get("HEADCOUNT_SNAPSHOTS") == "write":
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8")
