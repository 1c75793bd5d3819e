"""Where every number came from, and how to write and cite it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from ...analyses.result import Provenance, Result, leaves
from ..findings import Findings
from ..literature import bibtex
from ..methods import methods_paragraph
from ..rendering import Sheet, render
from ..wording import duration, short_commit, title_of
from . import section


@section("provenance", title="Provenance", place=900, needs=())
def provenance(findings: Findings) -> Markup:
    """Commands, versions, seeds, hashes, hardware, times, signatures, licences, citations."""
    results = findings.results
    return render(
        "provenance.html",
        {
            "stages": _stages(results),
            "facts": [*_corpus(findings), *_facts(results)],
            "hashes": _hashes(results),
            "settings": [
                (title_of(name), _flat(result.settings)) for name, result in results.items()
            ],
            "remarks": [(title_of(n), r.remarks) for n, r in results.items() if r.remarks],
            "files": [name for name in ("config.toml", "run.json") if name in findings.files],
            "methods": methods_paragraph(findings),
            "bibtex": bibtex(findings),
        },
    )


def _stages(results: Mapping[str, Result]) -> Sheet:
    """Return one row an analysis, in the order in which they were started."""
    by_start = sorted(results.items(), key=lambda item: (item[1].provenance.started, item[0]))
    printed = [
        [
            title_of(name),
            result.provenance.started[:16].replace("T", " "),
            duration(result.provenance.seconds),
            f"{result.provenance.seed}",
            result.provenance.version,
            short_commit(result.provenance.commit) or "–",
            result.provenance.model[:12] or "–",
        ]
        for name, result in by_start
    ]
    columns = ["Analysis", "Started (UTC)", "Time", "Seed", "Version", "Commit", "Model (SHA-256)"]
    return Sheet("Analyses of this run", columns, printed, 1, frozenset({0, 4, 5, 6}))


def _facts(results: Mapping[str, Result]) -> list[tuple[str, list[str]]]:
    """Return what all analyses share, each different value once."""

    def values(of: Callable[[Provenance], str]) -> list[str]:
        return list(dict.fromkeys(filter(None, (of(r.provenance) for r in results.values()))))

    libraries = values(lambda p: ", ".join(f"{n} {v}" for n, v in sorted(p.libraries.items())))
    signatures = dict.fromkeys(
        f"{title_of(name)}: {text}"
        for result in results.values()
        for name, text in sorted(result.provenance.signatures.items())
        if text
    )
    facts = [
        ("Command", values(lambda p: p.command)),
        ("Hardware", values(lambda p: p.hardware)),
        ("Libraries", libraries),
        ("Commit", values(lambda p: p.commit)),
        ("Signatures", list(signatures)),
    ]
    return [(name, found) for name, found in facts if found]


def _corpus(findings: Findings) -> list[tuple[str, list[str]]]:
    """Return what is known of the text: its name, languages, size and licence."""
    rows = findings.records("evaluate", "corpus")
    return [(row["property"].capitalize(), [row["value"]]) for row in rows]


def _hashes(results: Mapping[str, Result]) -> Sheet:
    """Return the SHA-256 of every text and model, and which analyses read it."""
    readers: dict[tuple[str, str], list[str]] = {}
    for name, result in results.items():
        read = {f"text “{text}”": digest for text, digest in result.provenance.data.items()}
        for what, digest in (read | {"model": result.provenance.model}).items():
            if digest:
                readers.setdefault((what, digest), []).append(name)
    printed = [
        [what, digest, ", ".join(names)] for (what, digest), names in sorted(readers.items())
    ]
    columns = ["What", "SHA-256", "Read by"]
    return Sheet("What was read", columns, printed, 1, frozenset({0, 1, 2}))


def _flat(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, f"{value}") for key, value in leaves(settings)]
