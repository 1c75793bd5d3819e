"""What to cite for what a run used: methods, and the works that describe them.

A method is an analysis, a metric, a measure, a way of choosing heads or a kind of vocabulary, by
the name it has in the Results. A method without a work of its own has no line here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analyses.result import Provenance
from .bibliography import BIBTEX
from .findings import Findings

OF_METHOD = {
    "train": ("vaswani2017", "loshchilov2019"),
    "bpe": ("sennrich2016",),
    "merge dropout": ("provilkov2020",),
    "consistency": ("liang2021",),
    "multi30k": ("elliott2016",),
    "bleu": ("papineni2002", "post2018", "koehn2004"),
    "chrf": ("popovic2015",),
    "confidence": ("voita2019",),
    "gradient": ("michel2019",),
    "attention_norm": ("kobayashi2020",),
    "entropy": ("ghader2017",),
    "fisher": ("kwon2022",),
    "leave_one_out": ("michel2019",),
    "lrp": ("bach2015", "voita2019"),
    "attnlrp": ("achtibat2024",),
    "integrated_gradients": ("sundararajan2017",),
    "kernel_shap": ("lundberg2017",),
    "shapley": ("castro2009",),
    "relevance": ("bach2015", "voita2021"),
    "prune": ("voita2019", "michel2019"),
    "l0": ("louizos2018", "voita2019"),
    "subset": ("li2021",),
    "group_lasso": ("behnke2021",),
    "early": ("behnke2020",),
    "ways": ("zhu2017",),
    "distil": ("hinton2015",),
    "roles": ("voita2019", "clark2019"),
    "layers": ("tenney2019", "hewitt2019", "voita2020"),
    "structural": ("hewitt2019structural",),
    "cka": ("kornblith2019",),
}


def methods_of(findings: Findings) -> list[str]:
    """Return the methods that a run used, as keys of `OF_METHOD` as far as there is a work."""
    return list(dict.fromkeys(_methods(findings)))


def _methods(findings: Findings) -> Iterator[str]:
    yield from findings.results
    if "train" in findings:
        settings = findings.results["train"].settings
        yield str(settings.get("vocabulary", {}).get("kind", ""))
        if settings.get("training", {}).get("merge_dropout"):
            yield "merge dropout"
        if settings.get("training", {}).get("consistency"):
            yield "consistency"
    for row in findings.records("evaluate", "corpus"):
        if row["property"] == "corpus":
            yield row["value"]
    for analysis, table, column in (
        ("evaluate", "quality", "measure"),
        ("score", "heads", "metric"),
        ("ways", "curve", "order"),
    ):
        if findings.table(analysis, table) is not None and column in findings.rows(analysis, table):
            yield from findings.rows(analysis, table)[column].astype(str).unique()
    if "prune" in findings:
        yield "bleu"
    for result in findings.results.values():
        if result.analysis == "smaller":
            yield str(result.settings.get("way", ""))
        pruned = result.analysis in ("ways", "smaller")
        if pruned and result.settings.get("finish", {}).get("distil"):
            yield "distil"
    if "relevance" in findings:
        yield str(findings.results["relevance"].settings.get("rule", ""))
    for table, method in (("structure", "structural"), ("likeness", "cka")):
        if findings.table("layers", table) is not None:
            yield method


def bibtex(findings: Findings) -> str:
    """Return headcount itself and the works of the methods that a run used, each once."""
    wanted = {key for method in methods_of(findings) for key in OF_METHOD.get(method, ())}
    first = next(iter(findings.results.values())).provenance
    works = (entry for key, entry in BIBTEX.items() if key in wanted)
    return "\n\n".join([_software(first), *works])


def _software(origin: Provenance) -> str:
    """Return the entry of headcount, as CITATION.cff has it, in the version that was used."""
    note = f",\n  note = {{commit {origin.commit[:12]}}}" if origin.commit else ""
    return (
        "@software{headcount,\n"
        "  title = {headcount: how many heads does your translator really need?},\n"
        "  author = {{The headcount authors}},\n"
        f"  version = {{{origin.version}}},\n"
        "  year = {2026},\n"
        f"  license = {{Apache-2.0}}{note}\n}}"
    )
