"""Where every number came from, and how to write and cite it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from markupsafe import Markup

from ...analyses.result import Provenance, Result
from ..findings import Findings
from ..literature import bibtex
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
            "bibtex": bibtex(_methods(findings)),
        },
    )


def _stages(results: Mapping[str, Result]) -> Sheet:
    """Return one row an analysis, in the order in which they were started."""
    by_start = sorted(results.items(), key=lambda item: (item[1].provenance.started, item[0]))
    printed = [
        [
            title_of(name),
            result.provenance.started,
            duration(result.provenance.seconds),
            f"{result.provenance.seed}",
            result.provenance.version,
            short_commit(result.provenance.commit) or "–",
            result.provenance.model[:12] or "–",
        ]
        for name, result in by_start
    ]
    columns = ["Analysis", "Started", "Time", "Seed", "Version", "Commit", "Model (SHA-256)"]
    return Sheet("Analyses of this run", columns, printed, 1, frozenset({0, 1, 4, 5, 6}))


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


def _leaves(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every setting with its dotted name."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _flat(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, f"{value}") for key, value in _leaves(settings)]


def _methods(findings: Findings) -> list[str]:
    """Return which methods were used, as keys of the literature."""
    used = ["training"] if "train" in findings else []
    if findings.table("evaluate", "quality") is not None:
        used += list(findings.rows("evaluate", "quality")["measure"].unique())
    if findings.table("score", "heads") is not None:
        used += list(findings.rows("score", "heads")["metric"].unique())
    return [*used, "pruning", "bleu"] if "prune" in findings else used


def methods_paragraph(findings: Findings) -> str:
    """Return a paragraph for the methods section of a paper, made of the Results alone."""
    sentences: list[str] = []
    if findings.table("score", "heads") is not None:
        table = findings.results["score"].tables["heads"]
        names = [title_of(name).lower() for name in table.rows["metric"].unique()]
        listed = " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
        sentences.append(
            f"The importance of each attention head was measured by {listed} on {table.n}."
        )
    if findings.table("prune", "curve") is not None:
        table = findings.results["prune"].tables["curve"]
        rows = table.rows
        counts, draws = (
            rows["heads_left"].nunique(),
            rows[rows["order"] == "random"]["draw"].nunique(),
        )
        control = f", and in {draws} random orders as a control" if draws else ""
        sentences.append(
            "Heads were removed from the weights in ascending order of importance"
            f"{control}, without further training, and the resulting models were evaluated at "
            f"{counts} head counts on {table.n}."
        )
        signature = findings.signature("prune")
        named = f" (sacrebleu, {signature})" if signature else ""
        bounds = f" with {table.interval}" if table.interval else ""
        sentences.append(f"We report BLEU{named}{bounds}.")
    first = next(iter(findings.results.values())).provenance
    commit = f", commit {short_commit(first.commit)}" if first.commit else ""
    sentences.append(
        f"All numbers were computed with headcount {first.version}{commit} (seed {first.seed})."
    )
    return " ".join(sentences)
