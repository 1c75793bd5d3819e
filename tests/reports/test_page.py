"""The page: whole, offline, the same bytes again, and every number as the Results have it."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from made_results import (
    BLEU,
    COUNTS,
    HOSTILE,
    ORDERS,
    heads,
    importance,
    made_evaluate,
    made_prune,
    made_score,
    made_train,
    whole_run,
    write_run,
)
from reading import read, sheet

from headcount.analyses.result import Result
from headcount.models.errors import DataError
from headcount.reports.page import build_page

ALL = ["answer", "curve", "heads", "translations", "metrics", "quality", "training", "proofs"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return whole_run(tmp_path_factory.mktemp("runs") / "made", HOSTILE)


@pytest.fixture(scope="module")
def html(run):
    return build_page(run).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html):
    return read(html)


def number(text):
    return float(text.replace("\u2212", "-").replace(",", ""))


def numbers(text):
    return [number(found) for found in re.findall(r"[\u2212-]?\d[\d,]*\.?\d*", text)]


def sections_of(page):
    return [node.attributes["id"] for node in page.all("section")]


def test_every_section_is_there_in_order(page):
    assert sections_of(page) == [*ALL, "provenance"]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([made_train()], ["training"]),
        ([made_evaluate()], ["quality"]),
        ([made_score()], ["heads", "metrics"]),
        ([made_prune()], ["answer", "curve", "translations", "proofs"]),
        ([made_train(), made_score()], ["heads", "metrics", "training"]),
    ],
)
def test_sections_appear_only_with_their_results(tmp_path, results, expected):
    page = read(build_page(write_run(tmp_path, *results)).read_text(encoding="utf-8"))
    assert sections_of(page) == [*expected, "provenance"]


def test_a_section_without_its_table_is_left_out(tmp_path):
    whole = made_prune()
    tables = {name: table for name, table in whole.tables.items() if name in ("curve", "band")}
    part = Result("prune", tables, whole.settings, whole.provenance)
    page = read(build_page(write_run(tmp_path, part)).read_text(encoding="utf-8"))
    assert sections_of(page) == ["answer", "curve", "provenance"]


def test_a_curve_of_random_orders_alone_has_no_answer(tmp_path):
    whole = made_prune()
    curve = whole.tables["curve"]
    rows = curve.rows[curve.rows["order"] == "random"]
    tables = {"curve": replace(curve, rows=rows), "band": whole.tables["band"]}
    run = write_run(tmp_path, replace(whole, tables=tables), made_score())
    page = read(build_page(run).read_text(encoding="utf-8"))
    assert sections_of(page) == ["curve", "heads", "metrics", "provenance"]


@pytest.mark.parametrize("count", [0, 200])
def test_the_curve_of_training_is_of_the_loss_that_was_written_down(tmp_path, count):
    """The `train` Result has the plain NLL; label smoothing is only what is minimised."""
    write_run(tmp_path)
    settings = {"training": {"validation_sentences": count}} if count else {}
    replace(made_train(), settings=settings).save(tmp_path / "results" / "train")
    said = " ".join(read(build_page(tmp_path).read_text(encoding="utf-8")).text.split())
    assert "training NLL" in said and "label-smoothed" not in said
    assert "without the label smoothing that is minimised with it" in said
    assert f"of {'the first 200' if count else 'some'} validation sentences" in said


def test_tables_without_rows_make_no_section(tmp_path):
    whole = made_prune()
    empty = {name: replace(table, rows=table.rows.iloc[:0]) for name, table in whole.tables.items()}
    run = write_run(tmp_path, replace(whole, tables=empty))
    assert sections_of(read(build_page(run).read_text(encoding="utf-8"))) == ["provenance"]


def test_a_run_without_results_is_refused(tmp_path):
    with pytest.raises(DataError, match="no finished results"):
        build_page(tmp_path)
    with pytest.raises(DataError, match="not a folder"):
        build_page(tmp_path / "nowhere")
    assert not (tmp_path / "report.html").exists()


def test_tables_of_another_version_are_refused_in_one_line(tmp_path):
    train = made_train()
    curve = train.tables["curve"]
    old = replace(
        curve,
        columns=curve.columns[:1] + curve.columns[2:],
        rows=curve.rows.drop(columns="train_loss"),
    )
    run = write_run(tmp_path, replace(train, tables={"curve": old}))
    with pytest.raises(DataError, match="'Training' does not find 'train_loss'"):
        build_page(run)
    assert not (run / "report.html").exists()


def test_an_unfinished_analysis_is_left_out_and_a_damaged_one_refused(tmp_path):
    run = write_run(tmp_path, made_train(), made_score())
    (run / "results" / "score" / "result.json").unlink()
    assert "heads" not in sections_of(read(build_page(run).read_text(encoding="utf-8")))
    before = (run / "report.html").read_bytes()
    (run / "results" / "train" / "result.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="train"):
        build_page(run)
    assert (run / "report.html").read_bytes() == before


def test_the_same_results_give_the_same_bytes(run, html):
    assert build_page(run).read_text(encoding="utf-8") == html
    assert list(run.glob(".report*")) == []


def test_the_page_fits_its_budget(html):
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL)[1]
    assert len(html.encode()) < 500_000
    assert len(script.encode()) < 15_000


def test_no_request_can_leave_the_page(page):
    policy = page.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    (script,) = [node for node in page.all("script") if "type" not in node.attributes]
    for rule, text in (("style-src", page.one("style").text), ("script-src", script.text)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    for node in page.all():
        for name in ("src", "srcset", "data", "action", "poster", "background", "style"):
            assert name not in node.attributes, f"<{node.tag} {name}>"
        assert not any(name.startswith("on") for name in node.attributes)
        assert node.tag not in {"link", "iframe", "img", "object", "embed", "base", "form"}
        link = node.attributes.get("href", "")
        assert not re.match(r"[a-z]+:|//", link), link
    assert "url(" not in page.one("style").text and "@import" not in page.one("style").text


def test_every_link_leads_somewhere(run, page):
    ids = [node.attributes["id"] for node in page.all() if "id" in node.attributes]
    assert len(ids) == len(set(ids))
    for link in page.all("a"):
        target = link.attributes["href"]
        assert target[1:] in ids if target.startswith("#") else (run / target).is_file(), target


def test_every_reference_inside_the_page_has_its_target(page):
    ids = {node.attributes["id"] for node in page.all() if "id" in node.attributes}
    for node in page.all():
        for name in ("for", "aria-labelledby", "aria-describedby"):
            assert node.attributes.get(name, next(iter(ids))) in ids


def test_every_table_has_a_caption_and_every_figure_its_data(page):
    for table in page.all("table"):
        assert table.all("caption")[0].text.strip()
        assert all("scope" in cell.attributes for cell in table.all("th"))
    for figure in page.all("figure"):
        (caption,) = figure.all("figcaption")
        assert [a for a in caption.all("a") if a.attributes["href"].endswith(".csv")]
    for chart in page.all("svg"):
        hidden = chart.attributes.get("aria-hidden") == "true"
        assert hidden or chart.attributes.get("aria-label")


def test_headings_leave_out_no_level(page):
    levels = [int(node.tag[1]) for node in page.all() if re.fullmatch("h[1-6]", node.tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


@pytest.mark.parametrize("sentence", HOSTILE, ids=lambda text: ascii(text[:20]))
def test_hostile_sentences_stay_text(page, sentence):
    shown = [node.text for node in page.one("section", id="translations").all("dd")]
    assert shown.count(sentence) >= 3
    assert any(text == f"{sentence} with 24 heads" for text in shown)


def test_hostile_names_stay_text(tmp_path):
    evil = '"><script>x</script>'
    score = made_score()
    rows = score.tables["heads"].rows
    rows["unit"] = evil
    rows.loc[rows["metric"] == "gradient", "metric"] = evil
    html = build_page(write_run(tmp_path / "<b>run", score)).read_text(encoding="utf-8")
    page = read(html)
    assert evil not in html and page.one("span", class_="run").text == "<b>run"
    assert evil in [node.attributes["value"] for node in page.one(id="metric").all("option")]


def test_data_for_the_script_cannot_end_it(tmp_path):
    prune = made_prune()
    prune.tables["removals"].rows["order"] = "</script><!--"
    prune.tables["curve"].rows["order"] = "</script><!--"
    page = read(build_page(write_run(tmp_path, prune, made_score())).read_text(encoding="utf-8"))
    data = json.loads(page.one("script", id="removal").text)
    assert data["orders"][0]["name"] == "</script><!--"


def test_the_answer_says_what_the_results_say(page):
    answer = page.one("section", id="answer")
    assert answer.one("p", class_="headline").text.startswith("24 of 72 heads")
    lead = answer.one("p", class_="lead").text
    assert numbers(lead)[:6] == pytest.approx([88.3, 87.2, 89.4, 72, 88.9, 87.8])
    facts = {
        node.one("dt").text: numbers(node.one("dd").text)
        for node in answer.one("dl", class_="facts").all("div")
    }
    assert facts["Change of BLEU"] == pytest.approx([-0.60, -0.95, -0.25])
    assert facts["Parameters"] == [-33, 801_600, 1_204_800]
    assert facts["Memory for weights"] == [960, 2.88]  # kB of 24 heads, MB of all
    assert facts["Decoding"] == pytest.approx([1.67, 3.0, 5.0])
    band = made_prune().tables["band"].rows.set_index("heads_left").loc[24]
    expected = [band["mean"], band["low"], band["high"], 10]
    assert facts["BLEU if random ones go"] == pytest.approx(expected, abs=0.0501)
    assert not answer.all("p", class_="caution")


def test_a_loss_that_is_much_of_the_quality_is_called_coarse(run):
    try:
        page = read(build_page(run, allowed_loss=10.0).read_text(encoding="utf-8"))
    finally:
        build_page(run)
    assert "only 88.9" in page.one("p", class_="caution").text


def test_the_table_of_the_curve_holds_every_bleu(page):
    columns, rows = sheet(page, "BLEU by heads left and removal order")
    assert columns[1:4] == ["Leave-one-out", "Gradient", "Confidence"]
    assert [int(row[0]) for row in rows] == list(COUNTS)
    for place, row in enumerate(rows):
        for order, cell in zip(ORDERS, row[1:4], strict=True):
            bleu = BLEU[order][place]
            assert numbers(cell) == pytest.approx([bleu, bleu - 1.1, bleu + 1.1], abs=0.00501)


def test_every_cell_of_the_map_holds_its_value(page):
    for metric, power in (("leave_one_out", -3), ("gradient", 0), ("confidence", 0)):
        panel = page.one("div", **{"data-metric": metric})
        assert ("10\u2212" in panel.text.replace("times ", "")) == (power != 0)
        cells = panel.all("td")
        assert len(cells) == 72
        for cell in cells:
            place = int(cell.attributes["data-head"])
            value = importance(metric, place)
            assert number(cell.text) * 10.0**power == pytest.approx(value, abs=0.0501 * 10**power)
            name = "{}.{}.{}".format(*heads()[place])
            assert cell.attributes["title"].startswith(f"{name}: ")


def test_brighter_cells_are_more_important(page):
    cells = page.one("div", **{"data-metric": "gradient"}).all("td")
    shades = [(number(c.text), int(c.attributes["class"].removeprefix("heat-"))) for c in cells]
    assert [shade for _, shade in sorted(shades)] == sorted(shade for _, shade in shades)
    assert {0, 15} <= {shade for _, shade in shades}


def test_the_quality_table_holds_every_measure(page):
    _, rows = sheet(page, "Quality by split, search and measure")
    expected = made_evaluate().tables["quality"].rows.to_dict("records")
    for row, record in zip(rows, expected, strict=True):
        assert row[:2] == [record["split"], record["search"]]
        assert number(row[3]) == record["value"]
        assert numbers(row[4]) == [record["low"], record["high"]]


def test_signatures_stand_below_the_quality_each_once(page):
    caption = page.one("figure", id="figure-quality").one("figcaption").text
    expected = made_evaluate().tables["quality"].rows
    for signature in set(expected["signature"]) - {""}:
        assert caption.count(signature) == 1


def test_the_script_gets_the_order_in_which_heads_go(page):
    data = json.loads(page.one("script", id="removal").text)
    assert data["orders"][data["first"]]["name"] == "leave_one_out"  # the one of the answer
    assert [order["name"] for order in data["orders"]] == list(ORDERS)
    for order in data["orders"]:
        values = [importance(order["name"], place) for place in order["gone"]]
        assert values == sorted(values) and sorted(order["gone"]) == list(range(72))
        assert [stop["left"] for stop in order["stops"]] == sorted(COUNTS)


def test_provenance_is_complete(page):
    shown = page.one("section", id="provenance").text
    for result in (made_train(), made_evaluate(), made_score(), made_prune()):
        source = result.provenance
        started = source.started[:16].replace("T", " ")
        for text in (source.command, source.commit, source.model, source.hardware, started):
            assert text in shown
        assert all(digest in shown for digest in source.data.values())
        assert all(signature in shown for signature in source.signatures.values())
    for key in ("vaswani2017", "voita2019", "michel2019", "post2018", "koehn2004", "popovic2015"):
        assert f"@inproceedings{{{key}," in shown
    assert "CC BY 4.0 & more" in shown
    assert "9 head counts on 500 sentences" in page.one("p", class_="quotable").text


def test_when_no_smaller_model_is_good_enough(run):
    try:
        page = read(build_page(run, allowed_loss=0.0).read_text(encoding="utf-8"))
    finally:
        build_page(run)
    assert page.one("p", class_="headline").text.startswith("All 72 heads are needed")
    nearest = numbers(page.one("section", id="answer").one("p", class_="lead").text)
    assert nearest == pytest.approx([60, 0.0, -0.35, 0.35])


def test_a_model_that_cannot_translate_gets_no_answer(tmp_path):
    whole = made_prune()
    curve = whole.tables["curve"].rows
    curve["bleu"] = curve["bleu"] / 100
    run = write_run(tmp_path, whole)
    answer = read(build_page(run).read_text(encoding="utf-8")).one("section", id="answer")
    assert "does not translate" in answer.one("p", class_="headline").text
    assert "Below 10 hardly a translation" in answer.one("p", class_="lead").text
    assert "heads within" not in answer.text


def test_what_was_not_measured_is_a_dash(tmp_path):
    score, prune = made_score(), made_prune()
    score.tables["heads"].rows.loc[3, ["value", "low", "high"]] = float("nan")
    curve = prune.tables["curve"].rows
    curve.loc[2, ["bleu_low", "bleu_high", "seconds", "difference_low"]] = float("nan")
    page = read(build_page(write_run(tmp_path, score, prune)).read_text(encoding="utf-8"))
    assert not re.search(r"\bnan\b", page.one("main").text, re.IGNORECASE)
    cell = page.one("div", **{"data-metric": "leave_one_out"}).all("td")[3]
    assert cell.text == "–" and cell.attributes["title"] == "encoder.0.3: not measured"
