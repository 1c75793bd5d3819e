"""A snapshot of what stands on the page and where, so that nothing moves or goes unnoticed.

After a change that is meant, write it anew: `HEADCOUNT_SNAPSHOT=write pytest THIS_FILE`.
"""

import os
import re
from pathlib import Path

from made_results import made_evaluate, made_prune, made_score, made_train, write_run
from reading import read

from headcount.reports.page import build_page

SNAPSHOT = Path(__file__).with_suffix(".txt")
SECTIONS = ("translations", "metrics", "quality", "training", "proofs", "provenance")


def outline(section):
    """Headings, figures, columns of tables, terms, captions and summaries, in order."""
    for node in section.all():
        text = re.sub(r"\s+", " ", node.text).strip()
        if node.tag in ("h2", "h3", "caption", "summary", "dt"):
            yield f"{node.tag} {text.removesuffix('#')}"
        elif node.tag == "figure":
            yield f"figure {node.attributes['id']}"
        elif node.tag == "thead":
            yield "columns " + " | ".join(cell.text for cell in node.all("th"))
        elif node.tag == "figcaption":
            yield f"says {node.one('p').text}"


def test_the_outline_is_that_of_the_snapshot(tmp_path):
    run = write_run(tmp_path / "made", made_train(), made_evaluate(), made_score(), made_prune())
    page = read(build_page(run).read_text(encoding="utf-8"))
    lines = []
    for name in SECTIONS:
        lines += [f"[{name}]", *outline(page.one("section", id=name)), ""]
    found = "\n".join(lines)
    if os.environ.get("HEADCOUNT_SNAPSHOT") == "write":
        SNAPSHOT.write_text(found, encoding="utf-8")
    assert found == SNAPSHOT.read_text(encoding="utf-8")
