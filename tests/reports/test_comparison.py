"""The page of a comparison says what its tables say."""

import pytest
from made_results import BLEU, COUNTS, heads, importance, made_prune, made_score, made_train
from made_runs import REFERENCES, evaluated
from reading import read, sheet

from headcount.analyses.compare import compare
from headcount.reports.comparison import build_comparison


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    worse = made_prune()
    curve = worse.tables["curve"].rows
    curve["bleu"] -= 2 * (72 - curve["heads_left"]) / 72
    areas = worse.tables["area"].rows
    areas.loc[areas["order"] == "gradient", "area"] = 0.9  # here another order keeps most
    said = [text.replace("old", "new") for text in REFERENCES]
    runs = {
        "one": {"train": made_train(), "score": made_score(), "prune": made_prune()},
        "two": {"train": made_train(60), "score": made_score(), "prune": worse},
    }
    runs["one"]["evaluate"] = evaluated(REFERENCES, [5.0] * 12)
    runs["two"]["evaluate"] = evaluated(said, [7.0] * 12)
    folder = tmp_path_factory.mktemp("both") / "one-against-two"
    result = compare(runs, resamples=50)
    return read(build_comparison(folder, result).read_text(encoding="utf-8"))


def test_the_curve_of_each_run_is_that_of_its_best_order(page):
    columns, rows = sheet(page, "BLEU by heads left, each run’s best order")
    assert columns == ["Heads left", "one", "two"]
    for row, count, first, other in zip(
        rows, COUNTS, BLEU["leave_one_out"], BLEU["gradient"], strict=True
    ):
        assert row[0] == str(count) and row[1].startswith(f"{first:.1f} [")
        assert row[2].startswith(f"{other - 2 * (72 - count) / 72:.1f} [".replace("-", "−"))
    legend = page.one("figure", id="figure-curves").one("ul", class_="legend").text
    assert "one: leave-one-out" in legend and "two: gradient" in legend


def test_differences_and_their_sense_are_in_the_first_sentence(page):
    section = page.one("section", id="difference")
    assert "On 12 common sentences (‘test’, greedy): two scores −" in section.text
    assert "surely different" in section.text
    _, rows = sheet(page, "Differences, sentence by sentence")
    assert rows[2][:5] == ["two − one", "test", "any", "NLL (nats a token)", "+0.400"]


def test_equal_orders_of_heads_agree_in_full(page):
    _, rows = sheet(page, "Rank correlation of heads")
    assert [row[0] for row in rows] == ["Leave-one-out", "Gradient", "Confidence"]
    assert all(row[3] == "1.00" and row[-1] == "14 of 14 (2.7)" for row in rows)
    _, rows = sheet(page, "Heads that two runs agree on")
    most = sorted(range(72), key=lambda place: -importance("gradient", place))[:14]
    named = {"{}.{}.{}".format(*heads()[place]) for place in most}
    assert rows[1][:3] == ["Gradient", "two", "one"] and set(rows[1][3].split(", ")) == named


def test_what_is_the_same_in_all_runs_is_no_difference(page):
    section = page.one("section", id="settings")
    assert "All settings are the same in all runs." in section.text and not section.all("table")
