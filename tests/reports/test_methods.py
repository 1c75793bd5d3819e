"""The paragraph for a paper and the BibTeX say what this run did, and nothing that it did not."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from made_results import made_evaluate, made_prune, made_score, made_train, provenance

from headcount.analyses.result import Result, Table
from headcount.analyses.train import OUTCOME
from headcount.models.data.vocabulary import VocabularySettings
from headcount.models.network import NetworkSettings
from headcount.models.training.settings import TrainingSettings
from headcount.reports.bibliography import BIBTEX
from headcount.reports.findings import Findings
from headcount.reports.literature import OF_METHOD, bibtex
from headcount.reports.methods import listed, methods_paragraph


@pytest.fixture
def trained():
    settings = {
        "network": NetworkSettings(width=48, heads=6, decoder_layers=2).model_dump(mode="json"),
        "vocabulary": VocabularySettings(size=1234).model_dump(mode="json"),
        "training": TrainingSettings(
            micro_batches=3,
            cooldown=0.4,
            merge_dropout=0.1,
            consistency=2.5,
            consistency_after=10,
        ).model_dump(mode="json"),
    }
    outcome = {"updates": 777, "averaged": 4, "seconds": 1.0}
    tables = {**made_train().tables, "outcome": Table.of("The end.", OUTCOME, [outcome])}
    return replace(made_train(), tables=tables, settings=settings)


def findings_of(*results):
    return Findings("made", {result.analysis: result for result in results})


def test_the_recipe_is_the_one_of_the_run(trained):
    said = methods_paragraph(findings_of(trained, made_evaluate()))
    assert "3 encoder and 2 decoder layers, 6 heads in every attention, width 48" in said
    assert "1,204,224 parameters" in said
    assert "joint BPE vocabulary of at most 1,234 entries" in said
    assert "trained for 777 updates of at most 6,144 padded tokens" in said  # 3 x 2,048
    assert "falls to zero over the last 40 % of the updates" in said
    assert "its symmetric divergence (R-Drop), from epoch 11 on." in said
    assert "probability 0.1 (BPE-dropout)." in said and "last 4 checkpoints were averaged" in said
    assert "Heads were removed" not in said and "importance" not in said


def test_a_gradient_that_was_not_clipped_has_no_limit(trained):
    assert "weight decay 0, gradient norm at most 1) and" in methods_paragraph(findings_of(trained))
    training = {**trained.settings["training"], "clip": 0.0}
    free = replace(trained, settings={**trained.settings, "training": training})
    assert "weight decay 0) and label smoothing" in methods_paragraph(findings_of(free))


def test_what_was_removed_by_what_is_said():
    said = methods_paragraph(findings_of(made_prune(), made_score()))
    assert "measured by leave-one-out, gradient and confidence on 200 sentences" in said
    assert "by leave-one-out, gradient and confidence, and in 10 random orders" in said
    assert "9 head counts on 500 sentences" in said
    assert "(seed 7)" in said and "took 49.0 s" in said  # 40 and 9


def test_every_commit_is_named():
    other = replace(made_score(), provenance=provenance(commit="f" * 40 + "+changes"))
    said = methods_paragraph(findings_of(made_prune(), other))
    assert "commits 0123456789ab and ffffffffffff+changes" in said


def test_only_what_was_used_is_cited(trained):
    cited = re.findall(r"^@\w+\{(\w+),", bibtex(findings_of(trained)), re.MULTILINE)
    training = ["vaswani2017", "sennrich2016", "provilkov2020", "liang2021", "loshchilov2019"]
    assert cited == ["headcount", *training]
    score = made_score(["gradient"])
    cited = re.findall(r"^@\w+\{(\w+),", bibtex(findings_of(score)), re.MULTILINE)
    assert cited == ["headcount", "michel2019"]
    relevance = Result("relevance", {}, {"rule": "attnlrp"}, provenance())
    assert {"bach2015", "voita2021", "achtibat2024"} <= set(
        re.findall(r"^@\w+\{(\w+),", bibtex(findings_of(relevance)), re.MULTILINE)
    )


def test_every_entry_is_used_and_well_formed():
    assert {key for keys in OF_METHOD.values() for key in keys} == set(BIBTEX)
    for key, entry in BIBTEX.items():
        assert re.match(rf"@\w+\{{{key},\n", entry) and entry.endswith("\n}")
        assert entry.count("{") == entry.count("}")
        fields = re.findall(r"^  (\w+) = \{", entry, re.MULTILINE)
        assert {"title", "author", "year"} <= set(fields) and len(set(fields)) == len(fields)
        assert re.search(r"year = \{(19|20)\d\d\}", entry)


def test_the_software_is_cited_as_its_citation_file_says():
    citation = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    entry = bibtex(findings_of(made_score()))
    title = re.search(r'^title: "(.*)"', citation, re.MULTILINE)[1]
    author = re.search(r'- name: "(.*)"', citation)[1]
    licence = re.search(r"^license: (.*)", citation, re.MULTILINE)[1]
    for fact in (title, author, licence):
        assert fact in entry
    assert "commit 0123456789ab}" in entry


def test_lists_read_as_a_sentence():
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
