"""The page in a real browser: chromium, headless, driven by playwright.

Skipped where either is missing: `pip install -e ".[dev]"` brings playwright, and chromium comes
from the operating system (`apt-get install chromium`).
"""

import csv
import json
import math
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest
from made_heads import made_attention, made_roles, seen, weight
from made_results import (
    COUNTS,
    HOSTILE,
    heads,
    importance,
    made_prune,
    made_score,
    made_train,
    whole_run,
    write_run,
)
from made_runs import REFERENCES, evaluated

from headcount.analyses.compare import compare
from headcount.reports.comparison import build_comparison
from headcount.reports.page import build_page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TITLES = ("The answer", "BLEU by heads left", "The map of heads", "Translations")
TITLES += ("Which metric to believe", "Quality", "Training", "Proof of the cut", "Provenance")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    run = whole_run(tmp_path_factory.mktemp("runs") / "made", HOSTILE)
    return build_page(write_run(run, made_roles(), made_attention(HOSTILE))).as_uri()


@pytest.fixture(scope="module")
def short_address(tmp_path_factory):
    """A page with one example sentence, for rules that are checked on every element."""
    run = whole_run(tmp_path_factory.mktemp("runs") / "short")
    return build_page(write_run(run, made_roles(), made_attention())).as_uri()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open the page; whatever it complains of or asks for from elsewhere fails the test."""

    @contextmanager
    def opened(width=1400, address=address, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        trouble = []
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        bare = address.partition("#")[0]
        page.on("request", lambda sent: sent.url == bare or trouble.append(sent.url))
        page.goto(address)
        yield page
        context.close()
        assert trouble == []

    return opened


def test_nothing_runs_but_the_pages_own_script(visit):
    with visit() as page:
        assert page.evaluate("window.broken") is None
        shown = page.locator("#translations dd").all_text_contents()
        assert all(shown.count(sentence) >= 3 for sentence in HOSTILE)


def test_a_narrow_screen_never_scrolls_sideways(visit):
    with visit(width=360) as page:
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        page.evaluate("location.hash = '#head-decoder-1-2'")
        page.locator(".card").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert page.locator("svg.chart.wide:visible").count() == 0
        chart = page.locator("#figure-curve svg.chart.narrow")
        assert chart.is_visible()
        chart.focus()
        page.keyboard.press("ArrowRight")
        told = page.locator("#figure-curve .reading").inner_text()
        assert told.startswith("Mean of 10 random orders, 0 heads left: BLEU")


def test_the_slider_takes_heads_away_by_keyboard_alone(visit):
    with visit() as page:
        page.locator("#left").focus()
        gone = page.locator(".map-panel:visible td.gone")
        squares = page.locator(".minimap rect.gone")
        assert gone.count() == squares.count() == 0
        for count in COUNTS[1:]:
            page.keyboard.press("ArrowLeft")
            assert gone.count() == squares.count() == 72 - count
            assert page.locator("#readout").inner_text() == f"{count} of 72"
        page.keyboard.press("End")
        assert gone.count() == squares.count() == 0


def facts(page):
    names, values = (page.locator(f"#facts {tag}").all_inner_texts() for tag in ("dt", "dd"))
    return dict(zip(names, values, strict=True))


def test_the_slider_says_what_the_model_then_costs(visit):
    with visit() as page:
        page.locator("#left").fill(str(sorted(COUNTS).index(24)))
        told = facts(page)
        assert told["BLEU"] == "88.30 [87.20, 89.40]"
        assert told["Change of BLEU"] == "\u22120.60 [\u22120.95, \u22120.25]"
        assert told["Parameters"] == "801,600 (\u221233 %)"
        assert told["Weights"] == "960 kB"
        assert told["Multiplications a token"] == "240,000 (\u221267 %)"
        assert told["Decoding"] == "3.0 s (1.67×)"
        assert page.locator(".minimap text").all_text_contents() == [
            "encoder 8",
            "decoder 8",
            "cross 8",
        ]
        page.locator("#order").select_option("Gradient")
        assert page.locator("#readout").inner_text() == "24 of 72"
        assert facts(page)["BLEU"] == "85.20 [84.10, 86.30]"


def test_samples_are_the_translations_at_that_many_heads(visit):
    with visit() as page:
        says = page.locator("[data-says]")
        assert says.all_text_contents() == list(HOSTILE[:3])
        page.locator("#left").fill(str(sorted(COUNTS).index(24)))
        new = page.locator("[data-says] ins")
        assert new.all_text_contents() == ["by leave_one_out with 24"] * 3
        page.locator("#order").select_option("Confidence")
        assert new.all_text_contents() == ["by confidence with 24"] * 3
        assert page.locator("dt[data-left]").first.inner_text() == "24 heads"


def test_the_map_is_chosen_by_keyboard_alone(visit):
    with visit() as page:
        page.locator("#metric").focus()
        panels = page.locator(".map-panel:visible")
        assert panels.get_attribute("data-metric") == "leave_one_out"
        page.keyboard.press("ArrowDown")
        assert panels.count() == 1 and panels.get_attribute("data-metric") == "gradient"
        page.locator("#metric").select_option("Role")
        assert panels.locator('td[data-head="10"]').inner_text() == "·"
        # Head 34 is decoder.1.2: a syntactic and a semantic role.
        assert panels.locator('td[data-head="34"]').inner_text() == "SM"
        page.locator("#metric").select_option("Step of removal")
        order = sorted(range(72), key=lambda place: (importance("gradient", place), place))
        page.locator("#order").select_option("Gradient")
        for step, place in enumerate(order[:5], 1):
            said = panels.locator(f'td[data-head="{place}"]').inner_text()
            assert said.split()[0] == str(step)


def sheet_of(page, label):
    rows = "it => [...it.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))"
    return page.get_by_role("region", name=label, exact=True).locator("table").evaluate(rows)


def test_a_link_opens_the_card_of_a_head(visit, address):
    with visit(address=f"{address}#head-decoder-1-2") as page:
        card = page.locator(".card")
        assert card.is_visible() and page.locator("#card-title").inner_text() == "decoder.1.2"
        assert page.evaluate("document.activeElement.id") == "head-decoder-1-2"
        ranks = {row[0].split(",")[0]: row[1] for row in sheet_of(page, "Importance")}
        score = made_score().tables["heads"].rows
        own = score[(score["site"] == "decoder") & (score["layer"] == 1) & (score["head"] == 2)]
        expected = dict(zip(own["metric"], own["rank"], strict=True))
        assert ranks["Gradient"] == str(expected["gradient"])
        assert ranks["Confidence"] == str(expected["confidence"])
        roles = sheet_of(page, "Roles")
        assert roles[0] == ["S: nsubj, dependent → head", "80 %", "50 %", "+35 [25, 35]"]
        assert roles[1][0] == "M: agent, argument → predicate"
        questions = sheet_of(page, "Best of all questions")
        assert [row[0].split(",")[0] for row in questions] == ["nsubj", "aux", "obj"]
        gone = sorted(range(72), key=lambda place: (importance("gradient", place), place))
        steps = dict(sheet_of(page, "When it is removed"))
        assert steps["Gradient"] == str(gone.index(34) + 1)
        assert sheet_of(page, "Most alike")[0] == ["decoder.1.1", "0.31", "no"]
        assert "\u22121: 60 %, 0: 25 %, further: 15 %" in card.inner_text()
        page.locator("#roles .sheet th a").first.click()
        page.locator("#card-title", has_text="encoder.0.3").wait_for()


def test_cards_are_walked_and_closed_by_keyboard_alone(visit):
    with visit() as page:
        cells = page.locator(".map-panel:visible td a")
        cells.first.focus()
        for key in ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft", "Enter"):
            page.keyboard.press(key)
        title = page.locator("#card-title")
        title.wait_for()
        assert title.inner_text() == "encoder.0.1"
        assert page.url.endswith("#head-encoder-0-1")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # the next head
        page.wait_for_function("document.querySelector('#card-title').innerText == 'encoder.0.2'")
        assert page.locator(".map-panel:visible td.chosen").get_attribute("data-head") == "2"
        page.keyboard.press("Escape")
        assert page.locator(".card").is_hidden()
        assert cells.nth(2).evaluate("it => it == document.activeElement")


def test_the_card_shows_the_attention_of_the_head(visit, address):
    source, target = ["A", "dog", "<b>", "</s>"], ["<s>", "Ein", "Hund"]
    tables = "it => [...it.querySelectorAll('tr')].map(r => [...r.cells].map(c => c.textContent))"
    with visit(address=f"{address}#head-encoder-0-3") as page:
        page.locator("#sentence").select_option("1")
        for head, rows, columns in (
            (3, source, source),
            (34, target, target),
            (71, target, source),
        ):
            page.evaluate(f"location.hash = '#head-{'-'.join(map(str, heads()[head]))}'")
            page.locator(".card", has_text=".".join(map(str, heads()[head]))).wait_for()
            first, *shown = page.locator("#weights").evaluate(tables)
            assert first[1:] == columns and [row[0] for row in shown] == rows
            for query, (_, *texts) in enumerate(shown):
                for key, text in enumerate(texts):
                    share = seen(head, query, key) * weight(head + 1, query, key) / 255
                    assert text == ("" if share < 0.01 else f"{math.floor(100 * share + 0.5)}")


def test_the_chart_is_read_by_arrow_keys(visit):
    with visit() as page:
        page.locator("#figure-curve svg.chart.wide").focus()
        reading = page.locator("#figure-curve .reading")
        assert reading.inner_text().startswith("Point at the chart")
        page.keyboard.press("ArrowRight")
        assert reading.inner_text().startswith("Mean of 10 random orders, 0 heads left: BLEU")
        page.keyboard.press("ArrowLeft")
        whole = "Confidence, 72 heads left: BLEU 88.90 [87.80, 90.00]"
        assert reading.inner_text() == whole


def test_the_methods_paragraph_is_copied(visit):
    with visit(permissions=["clipboard-read", "clipboard-write"]) as page:
        page.get_by_role("button", name="Copy the paragraph").click()
        page.get_by_role("button", name="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == page.locator(".quotable").text_content()


@pytest.mark.parametrize("made", [made_score, made_prune])
def test_a_part_of_a_run_can_be_explored_too(visit, tmp_path, made):
    address = build_page(write_run(tmp_path, made())).as_uri()
    with visit(address=address) as page:
        if made is made_score:
            page.locator("#metric").select_option("Gradient")
            page.locator(".map-panel:visible td a").nth(9).click()
            page.locator("#card-title", has_text="encoder.1.1").wait_for()
            page.get_by_role("button", name="Close").click()
            assert page.locator(".card").is_hidden()
        else:
            page.locator("#left").fill("0")
            assert page.locator("#readout").inner_text() == "0 of 72"


def test_without_scripts_everything_is_shown(visit):
    with visit(java_script_enabled=False) as page:
        assert page.locator(".map-panel:visible").count() == 3 + 2
        assert page.locator(".controls:visible").count() == 0
        assert page.locator(".samples dd").all_text_contents()[::3] == list(HOSTILE[:3])
        assert (
            page.locator("table:visible").count()
            == page.locator("table").count() - page.locator("details table").count()
        )
        assert page.locator("#translations dd").count() > len(HOSTILE) * 5


def test_a_dark_screen_gets_a_dark_page(visit):
    ground = "getComputedStyle(document.body).backgroundColor"
    with visit(color_scheme="dark") as page:
        assert page.evaluate(ground) == "rgb(20, 23, 28)"
        line = page.locator("#figure-curve .line-0 .stroke").first
        assert line.evaluate("e => getComputedStyle(e).stroke") == "rgb(108, 182, 255)"
    with visit(color_scheme="light") as page:
        assert page.evaluate(ground) == "rgb(255, 255, 255)"


def test_a_comparison_fits_a_narrow_screen_and_complains_of_nothing(visit, tmp_path):
    said = [f"{text} {HOSTILE[0]}" for text in REFERENCES]
    runs = {
        name: {
            "train": made_train(),
            "evaluate": evaluated(words, [5.0 + place] * len(words)),
            "score": made_score(),
            "prune": made_prune(),
        }
        for place, (name, words) in enumerate(((HOSTILE[0], REFERENCES), ("b" * 40, said)))
    }
    address = build_comparison(tmp_path / "both", compare(runs, resamples=20)).as_uri()
    with visit(width=360, address=address) as page:
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert page.locator("section").count() == 7
        assert page.locator("h1 .run").first.text_content() == HOSTILE[0]
        assert page.locator("#figure-curves svg.chart.narrow").is_visible()


def test_curves_are_chosen_by_what_they_ask(visit):
    with visit() as page:
        shown = page.locator("[data-curves]:visible")
        assert [it.get_attribute("data-curves") for it in shown.all()] == ["curve"]
        page.locator("#curves").focus()
        page.keyboard.press("ArrowDown")
        assert [it.get_attribute("data-curves") for it in shown.all()] == ["sites"]
        assert page.locator(".slider").is_visible()


def test_what_a_figure_shows_is_saved_from_the_page_alone(visit):
    def saved(page, name):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save {name}", exact=True).click()
        return download.value.suggested_filename, Path(download.value.path()).read_text("utf-8")

    with visit() as page:
        name, text = saved(page, "quality as CSV")
        rows = list(csv.reader(text.splitlines()))
        assert name == "quality.csv" and rows[0][:4] == ["Split", "Search", "Measure", "Value"]
        assert rows[1][:4] == ["valid", "greedy", "BLEU points", "89.91"] and len(rows) == 7
        name, text = saved(page, "quality as JSON")
        found = json.loads(text)
        assert found["tables"][0]["rows"][0][3] == 89.91 and found["n"] == "500 sentences a split"
        name, text = saved(page, "training as SVG")
        drawn = ElementTree.fromstring(text)
        inside = [it.get("fill") for it in drawn.iter("{http://www.w3.org/2000/svg}text")]
        assert (
            name == "training.svg"
            and len(drawn) == 1 + 2
            and set(inside)
            <= {
                "rgb(85, 93, 104)",
                "rgb(26, 30, 36)",
            }
        )
        _, text = saved(page, "translations as CSV")
        rows = list(csv.reader(text.splitlines()))
        assert rows[0] == ["Source", "Reference", "All 72 heads", "24 heads", "12 heads"]
        assert rows[1][3:] == [f"{HOSTILE[0]} with {heads} heads" for heads in (24, 12)]
        # A map is drawn as it stands: a square a head in the colour of its cell, with its number.
        _, text = saved(page, "heads as SVG")
        drawn = list(ElementTree.fromstring(text))
        squares = [it.get("fill") for it in drawn if it.tag.endswith("rect")]
        cells = page.locator(".map-panel:visible td")
        colours = "it => it.map(cell => getComputedStyle(cell).backgroundColor)"
        assert squares == ["rgb(255, 255, 255)", *cells.evaluate_all(colours)]
        words = [it.text for it in drawn if it.tag.endswith("text")]
        assert cells.first.text_content() in words and "head" not in words
        kinds = page.locator("figure").evaluate_all(
            "it => it.map(f => [...f.querySelectorAll('.links button')].map(b => b.textContent))"
        )
        assert kinds == [["CSV", "JSON", "SVG"]] * len(kinds) and len(kinds) > 12


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1400, "dark")])
def test_axe_finds_no_violation(visit, short_address, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    with visit(width, f"{short_address}#head-cross-2-7", color_scheme=scheme) as page:
        page.locator("#left").fill("4")
        found = axe.Axe().run(page).response["violations"]
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []


def test_paper_has_every_section_and_opens_what_is_closed(visit, tmp_path):
    with visit() as page:
        page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
        assert page.locator("details[open]").count() == 0
        page.emulate_media(media="print")
        assert page.locator(".map-panel:visible").count() == 3 + 2
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (poppler-utils) is not installed: the PDF was not read")
    text = subprocess.run(
        ["pdftotext", "-layout", str(tmp_path / "page.pdf"), "-"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert [title for title in TITLES if title not in text] == []
    assert "BLEU by heads left and removal order" in text and "@inproceedings{voita2019" in text
