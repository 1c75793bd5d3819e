"""Which metric to believe: what the page shows, and what it must not show."""

import re
from dataclasses import replace

import pytest
from made_reliability import METRICS, WRONG, made_proofs, made_reliability, tau
from made_results import ORDERS, made_prune, made_score, write_run
from reading import read, sheet

from headcount.reports.figures.heads import draw_heads
from headcount.reports.findings import Findings
from headcount.reports.page import build_page
from headcount.reports.unproven import unproven


def run_with(folder, failing=""):
    score = made_score()
    score = replace(score, tables={**score.tables, "proofs": made_proofs(failing)})
    return write_run(folder, score, made_prune(), made_reliability())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return build_page(run_with(tmp_path_factory.mktemp("whole"))).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    run = run_with(tmp_path_factory.mktemp("broken"), "gradient")
    return run, build_page(run).read_text(encoding="utf-8")


def section(html, name="metrics"):
    return read(html).one("section", id=name)


def test_the_verdict_comes_first_and_says_why(whole):
    shown = section(whole)
    assert "2 of 3 metrics can be believed on this model: leave-one-out and gradient." in shown.text
    headings, rows = sheet(shown, "Verdicts")
    assert headings[:4] == [
        "Metric",
        "Believe it?",
        "What speaks against it",
        "τ with leave-one-out",
    ]
    by_name = {row[0]: row[1:] for row in rows}
    assert by_name["Leave-one-out"][0] == "yes" and by_name["Leave-one-out"][2] == "itself"
    assert by_name["Leave-one-out"][3] == "−0.78"
    assert by_name["Gradient"] == ["yes", "nothing", "0.33", "−0.68", "+0.05", "0.85", "50"]
    assert by_name["Confidence"][:2] == ["no", "tau is <below> 0.3"]
    assert by_name["Confidence"][-1] == "–"
    assert by_name["Random order"][0] == "chance"


def test_every_pair_stands_twice_in_the_square_of_its_site(whole):
    squares = [t for t in section(whole).all("table") if "pairs-of" in t.attributes["class"]]
    captions = [table.all("caption")[0].text for table in squares]
    assert captions[0] == "All heads (72 heads)"
    assert len(captions) == 4
    for site, table in zip(("all", "encoder", "decoder", "cross"), squares, strict=True):
        rows = [row.all("td") for row in table.all("tr")[1:]]
        for down, one in enumerate(METRICS):
            for across, other in enumerate(METRICS[: down + 1]):
                below, above = rows[down][across].text, rows[across][down].text
                if down == across:
                    assert below == ""
                    continue
                value = tau(other, one, site)
                if value != value:
                    assert below == above == "n/d"
                    assert "not defined" in rows[down][across].attributes["title"]
                    continue
                assert float(below.replace("−", "-")) == pytest.approx(value, abs=0.006)
                assert float(above.replace("−", "-")) == pytest.approx(value + 0.2, abs=0.006)
                assert f"τ {value:.2f}".replace("-", "−") in rows[down][across].attributes["title"]


def test_areas_are_ranked_and_a_missing_difference_is_a_dash(whole):
    headings, rows = sheet(section(whole), "Area under the joint-removal curve")
    assert headings[1:] == ["NLL rise (nats a token)", "against random", "against greedy"]
    assert [row[0] for row in rows] == [
        "Greedy elimination",
        "Leave-one-out",
        "Gradient",
        "Confidence",
        "Random order",
    ]
    assert rows[1][1:] == ["0.50 [0.40, 0.60]", "−0.80 [−0.85, −0.75]", "0.00 [−0.05, +0.05]"]
    assert rows[0][2:] == ["–", "–"]


def test_curves_are_drawn_with_the_random_band(whole):
    (figure,) = [f for f in section(whole).all("figure") if f.attributes["id"] == "figure-areas"]
    titles = [title.text for title in figure.all("title")]
    assert any(t.startswith("Greedy, measured anew") and "72 heads left" in t for t in titles)
    assert len(figure.all("path", class_="band")) == 2  # wide and narrow


def test_stability_over_sentences_and_seeds(whole):
    headings, rows = sheet(section(whole), "Stability over sentences")
    assert headings[3:] == ["ρ, 50 and the others", "ρ, 100 and the others", "ρ with <other> text"]
    assert rows[0][1:] == ["0.95 [0.90, 1.00]", "0.98", "0.95", "0.95", "0.95 [0.90, 1.00]"]
    assert rows[3][:3] == ["Random order", "reads no text", "–"]
    _, rows = sheet(section(whole), "Stability over training seeds")
    assert rows[0][1:] == ["this / that", "0.53", "0.51", "0.88", "0.91", "0.62", "0.07"]
    assert rows[2][-1] == "not defined"


def test_what_is_not_defined_is_said_in_words(whole):
    _, rows = sheet(section(whole), "Concentration")
    assert rows[2] == ["Confidence"] + ["not defined"] * 4
    assert rows[0][1:3] == ["0.61 [0.55, 0.66]", "0.12"]


def test_all_proofs_are_shown_those_that_fail_first(whole, broken):
    assert "6 of 6 proofs hold" in section(whole).text
    _, rows = sheet(section(broken[1]), "Proofs")
    assert "5 of 6 proofs hold" in section(broken[1]).text
    assert rows[0] == ["Gradient", WRONG, "0.25", "1.0e−06", "nats", "FAILS"]
    assert {row[-1] for row in rows[1:]} == {"holds"}


def test_a_metric_whose_proof_fails_is_never_shown_as_a_number(broken):
    _, html = broken
    metrics, heads = section(html), section(html, "heads")
    assert "Gradient is not shown as a number on this page" in metrics.text
    assert "1 of 3 metrics can be believed on this model: leave-one-out." in metrics.text
    numberless = 0
    for table in [*metrics.all("table"), *heads.all("table")]:
        for row in table.all("tr"):
            cells = [cell.text for cell in row.inside if not isinstance(cell, str)]
            named = cells and re.fullmatch(r"(\d )?Gradient", cells[0])
            if not named or cells[-1] in ("holds", "FAILS") or "What it is" in table.text:
                continue
            numberless += 1
            values = [cell for cell in cells[1:] if WRONG not in cell]
            assert not any(re.search(r"\d", value) for value in values), cells
    assert numberless >= 8
    squares = [t for t in metrics.all("table") if "pairs-of" in t.attributes["class"]]
    column = METRICS.index("gradient")
    for table in squares:
        cells = [row.all("td")[column].text for row in table.all("tr")[1:]]
        assert set(cells) == {"–", ""}
    headings, _ = sheet(heads, "Every head by every metric, and its rank")
    assert not any(heading.startswith("Gradient") for heading in headings)


def test_the_map_says_why_and_the_chooser_marks_it(broken):
    heads = section(broken[1], "heads")
    panels = {p.attributes["data-metric"]: p for p in heads.all("div", class_="map-panel")}
    assert not panels["gradient"].all("table")
    assert WRONG in panels["gradient"].text
    assert "allowed is 1.0e−06" in panels["gradient"].text
    assert panels["confidence"].all("table")
    names = [option.text for option in heads.one("select", id="metric").all("option")]
    assert "Gradient (a proof fails)" in names and "Confidence" in names


def test_the_figure_leaves_it_out(broken):
    findings = Findings.of_run(broken[0])
    titles = {axes.get_title() for axes in draw_heads(findings).axes}
    assert any(title.startswith("Confidence") for title in titles)
    assert not any(title.startswith("Gradient") for title in titles)
    assert list(unproven(findings)) == ["gradient"]


def test_without_a_reliability_result_the_section_still_stands(tmp_path):
    page = section(build_page(write_run(tmp_path, made_score())).read_text(encoding="utf-8"))
    _, rows = sheet(page, "Agreement of metrics")
    assert rows[0][2:] == ["0.41", "0.58"]
    assert not page.all("p", class_="lead")
    assert len(rows) == len(ORDERS) * (len(ORDERS) - 1) / 2


def test_the_page_stays_small(whole):
    assert len(whole.encode()) < 500_000
