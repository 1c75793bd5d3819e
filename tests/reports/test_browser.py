"""The page in a real browser: chromium, headless, driven by playwright.

Skipped where either is missing: `pip install -e ".[dev]"` brings playwright, and chromium comes
from the operating system (`apt-get install chromium`).
"""

import shutil
import subprocess
from contextlib import contextmanager

import pytest
from made_results import COUNTS, HOSTILE, whole_run

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
    return build_page(whole_run(tmp_path_factory.mktemp("runs") / "made", HOSTILE)).as_uri()


@pytest.fixture(scope="module")
def short_address(tmp_path_factory):
    """A page with one example sentence, for rules that are checked on every element."""
    return build_page(whole_run(tmp_path_factory.mktemp("runs") / "short")).as_uri()


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
        page.on("request", lambda sent: sent.url == address or trouble.append(sent.url))
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
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        assert page.locator("svg.chart.wide:visible").count() == 0
        assert page.locator("#figure-curve svg.chart.narrow").is_visible()


def test_the_slider_takes_heads_away_by_keyboard_alone(visit):
    with visit() as page:
        page.locator("#left").focus()
        gone = page.locator(".map-panel:visible td.gone")
        assert gone.count() == 0
        for count in COUNTS[1:]:
            page.keyboard.press("ArrowLeft")
            assert gone.count() == 72 - count
            assert page.locator("#readout b").inner_text() == f"{count} heads left"
        page.keyboard.press("End")
        assert gone.count() == 0


def test_samples_are_the_translations_at_that_many_heads(visit):
    with visit() as page:
        slider = page.locator("#left")
        slider.fill(str(sorted(COUNTS).index(24)))
        marks = page.locator(".samples ins:visible")
        assert marks.all_text_contents() == ["with 24 heads"] * 3
        assert page.locator("#samples-note").inner_text() == ""
        slider.fill(str(sorted(COUNTS).index(6)))
        assert "not kept at 6 heads" in page.locator("#samples-note").inner_text()
        assert marks.first.inner_text() == "with 12 heads"
        page.get_by_role("radio", name="Gradient").nth(1).check(force=True)
        assert "“Leave-one-out” only" in page.locator("#samples-note").inner_text()
        assert page.locator("#readout b").inner_text() == "6 heads left"


def test_the_metric_is_chosen_by_keyboard_alone(visit):
    with visit() as page:
        page.locator("#metric input").first.focus()
        panels = page.locator(".map-panel:visible")
        assert panels.get_attribute("data-metric") == "leave_one_out"
        page.keyboard.press("ArrowRight")
        assert panels.count() == 1 and panels.get_attribute("data-metric") == "gradient"


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


def test_without_scripts_everything_is_shown(visit):
    with visit(java_script_enabled=False) as page:
        assert page.locator(".map-panel:visible").count() == 3
        assert page.locator(".controls").is_hidden() and page.locator(".samples").is_hidden()
        assert page.locator("#translations dd").count() > len(HOSTILE) * 5


def test_a_dark_screen_gets_a_dark_page(visit):
    ground = "getComputedStyle(document.body).backgroundColor"
    with visit(color_scheme="dark") as page:
        assert page.evaluate(ground) == "rgb(20, 23, 28)"
        line = page.locator("#figure-curve .line-0 .stroke").first
        assert line.evaluate("e => getComputedStyle(e).stroke") == "rgb(108, 182, 255)"
    with visit(color_scheme="light") as page:
        assert page.evaluate(ground) == "rgb(255, 255, 255)"


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1400, "dark")])
def test_axe_finds_no_violation(visit, short_address, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    with visit(width, short_address, color_scheme=scheme) as page:
        page.locator("#left").fill("4")
        found = axe.Axe().run(page).response["violations"]
        assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found] == []


def test_paper_has_every_section_and_opens_what_is_closed(visit, tmp_path):
    with visit() as page:
        page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
        assert page.locator("details[open]").count() == 0
        page.emulate_media(media="print")
        assert page.locator(".map-panel:visible").count() == 3
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
