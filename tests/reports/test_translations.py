"""Who pays for removed heads: the worst losses and the phenomena, as the Results have them."""

import pytest
from made_results import HOSTILE, made_evaluate, made_prune, write_run
from reading import read, sheet

from headcount.analyses.evaluate import PHENOMENA as OF_WHOLE
from headcount.analyses.prune_sentences import LOSSES, PHENOMENA
from headcount.analyses.result import Table
from headcount.reports.page import build_page

COUNTS = (72, 36, 24)


def losses(count):
    return [
        {
            "order": "leave_one_out",
            "heads_left": count,
            "place": place,
            "sentence": place,
            "phenomenon": "sense_adjective",
            "chrf": 40.0,
            "chrf_difference": -60.0 + place,
            "source": text,
            "reference": text,
            "whole": text,
            "translation": f"{text} with {count} heads",
        }
        for place, text in enumerate(HOSTILE, 1)
    ]


def phenomena():
    rows = []
    for name, lost in (("question", 10.0), ("passive", 50.0), ("sense_adjective", 0.5)):
        for step, count in enumerate(COUNTS):
            change = -lost * step
            rows.append(
                {
                    "order": "leave_one_out",
                    "heads_left": count,
                    "phenomenon": name,
                    "sentences": 15,
                    "bleu": 100 + change / 2,
                    "bleu_low": 90 + change / 2,
                    "bleu_high": 100 + change / 2,
                    "bleu_difference": change / 2,
                    "difference_low": change / 2 - 2,
                    "difference_high": change / 2 + 2,
                    "nll": 0.5,
                    "nll_difference": 0.1,
                    "nll_difference_low": 0.05,
                    "nll_difference_high": 0.15,
                }
            )
    return rows


@pytest.fixture(scope="module")
def section(tmp_path_factory):
    prune = made_prune()
    prune.tables["losses"] = Table.of("Losses.", LOSSES, [*losses(36), *losses(24)], n="the worst")
    prune.tables["phenomena"] = Table.of("Phenomena.", PHENOMENA, phenomena(), n="45 sentences")
    run = write_run(tmp_path_factory.mktemp("runs") / "made", prune)
    return read(build_page(run).read_text(encoding="utf-8")).one("section", id="translations")


def test_the_losses_of_the_answer_are_open_and_hostile_text_stays_text(section):
    figure = section.one("figure", id="figure-losses")
    assert figure.all("p", class_="note")[0].text == "With 24 heads:"  # the answer of this run
    assert [node.text for node in figure.all("summary")] == ["With 36 heads"]
    shown = [node.text for node in figure.all("dd")]
    for sentence in HOSTILE:
        assert shown.count(sentence) == 2 * 3 and f"{sentence} with 24 heads" in shown
    assert "chrF 40, −59; sense adjective; sentence 1" in shown
    assert next(node.text for node in figure.all("ins")) == "with 24 heads"


def test_the_phenomenon_that_loses_most_comes_first_and_sure_changes_are_starred(section):
    table = section.one("figure", id="figure-phenomena").one("table")
    rows = [
        [cell.text for cell in row.all() if cell.tag in ("th", "td")] for row in table.all("tr")
    ]
    assert rows[0] == ["phenomenon", "n", "72", "36", "24"]
    assert rows[1] == ["passive", "15", "100", "75*", "50*"]
    assert rows[2] == ["question", "15", "100", "95*", "90*"]
    assert rows[3] == ["sense adjective", "15", "100", "100", "100"]
    title = table.all("td")[2].attributes["title"]
    assert "passive, 36 heads left: BLEU 75.0 [65.0, 75.0], change −25.0 [−27.0, −23.0]" in title


def test_runs_of_an_older_version_have_the_examples_alone(tmp_path):
    page = read(build_page(write_run(tmp_path, made_prune())).read_text(encoding="utf-8"))
    figures = page.one("section", id="translations").all("figure")
    assert [figure.attributes["id"] for figure in figures] == ["figure-translations"]


def test_the_hardest_phenomenon_comes_first_in_the_quality(tmp_path):
    evaluate = made_evaluate()
    rows = [
        {"split": "test", "search": search, "phenomenon": name, "sentences": 15, "bleu": bleu}
        | {"bleu_low": bleu - 5, "bleu_high": bleu + 5, "exact": bleu / 200}
        for search in ("greedy", "beam 5")
        for name, bleu in (("passive", 90.0), ("sense_adjective", 70.0))
    ]
    evaluate.tables["phenomena"] = Table.of("Hard.", OF_WHOLE, rows, n="30 sentences")
    page = read(build_page(write_run(tmp_path, evaluate)).read_text(encoding="utf-8"))
    _, printed = sheet(page, "Quality by phenomenon, test, greedy")
    assert printed == [
        ["sense adjective", "15", "70.0", "[65.0, 75.0]", "35"],
        ["passive", "15", "90.0", "[85.0, 95.0]", "45"],
    ]
