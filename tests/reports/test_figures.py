"""Figures for papers: one for every Result, and the same bytes again."""

import os
import subprocess
import sys

import pytest
from made_heads import made_roles
from made_reliability import made_reliability, tau
from made_results import (
    columns,
    made_evaluate,
    made_prune,
    made_score,
    made_train,
    provenance,
    write_run,
)
from made_runs import REFERENCES, evaluated
from test_gain_section import made_gain
from test_layers_section import made_layers
from test_pruning_sections import made_smaller, made_ways
from test_relevance_section import made_relevance
from test_translations import phenomena

from headcount.analyses.compare import compare
from headcount.analyses.prune_sentences import PHENOMENA
from headcount.analyses.result import Result, Table
from headcount.models.errors import DataError
from headcount.reports.comparison import build_comparison
from headcount.reports.drawing import charts
from headcount.reports.figures import draw_figures, figures
from headcount.reports.figures.style import MARKERS
from headcount.reports.page import build_page


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with every Result that a figure is made of."""
    prune = made_prune()
    prune.tables["phenomena"] = Table.of("Phenomena.", PHENOMENA, phenomena(), n="45 sentences")
    folder = tmp_path_factory.mktemp("runs") / "made"
    made_smaller().save(folder / "results" / "smaller-eighteen")
    return write_run(
        folder,
        made_train(3),
        made_evaluate(),
        made_score(["gradient"]),
        prune,
        made_reliability(),
        made_relevance(("▁$a$", "▁Hund")),
        made_roles(),
        made_layers(),
        made_ways(),
        made_gain(),
    )


@pytest.fixture(scope="module")
def written(run):
    return draw_figures(run, ("svg",))


def test_every_figure_is_drawn_and_its_words_are_those_of_the_results(written):
    assert [path.name for path in written] == [f"{it}.svg" for it in figures if it != "runs"]
    words = {
        "areas": "NLL, nats a token",
        "agreement": f"{tau('confidence', 'random', 'all'):.2f}",
        "curve": "Leave-one-out",
        "gain": "eighteen, equal lengths",
        "gates": "18 heads by L0 gates",
        "heads": "Gradient: encoder self-attention",
        "layers": "upos (syntax)",
        "likeness": "Jensen-Shannon distance",
        "phenomena": "50*",
        "probes": "encoder: upos",
        "profiles": "further",
        "proofs": "The largest logit",
        "quality": "unseen, greedy",
        "relevance": "$a$",
        "roles": "nsubj, dependent-&gt;head (decoder.1.2)",
        "sites": "Cross-attention",
        "smaller": "from scratch (18 heads by L0 gates)",
        "training": "Validation BLEU",
        "ways": "Random order",
    }
    assert set(words) == set(figures) - {"runs"}
    for path in written:
        assert words[path.stem] in path.read_text(encoding="utf-8")


def test_the_page_points_at_the_figures_of_its_sections(run, written):
    for path in written:
        path.with_suffix(".pdf").touch()
    page = build_page(run).read_text(encoding="utf-8")
    linked = {name for name in figures if f'href="figures/{name}.svg"' in page}
    assert linked == {name for name in figures if f'href="figures/{name}.pdf"' in page}
    assert linked == set(figures) - {"runs"}


def test_a_comparison_draws_its_curves(tmp_path):
    said = {"evaluate": evaluated(REFERENCES, [5.0] * 12), "prune": made_prune()}
    runs = {"one": said, "$two$": {**said, "train": made_train(3)}}
    page = build_comparison(tmp_path / "both", compare(runs, resamples=10))
    assert 'href="figures/runs.pdf"' in page.read_text(encoding="utf-8")
    drawn = (tmp_path / "both" / "figures" / "runs.svg").read_text(encoding="utf-8")
    assert "$two$: leave-one-out" in drawn and "one: mean of random orders" in drawn


def test_every_marker_of_the_page_has_one_of_its_own_on_paper():
    assert set(MARKERS) == {*charts.MARKERS, "none"}
    assert len(set(MARKERS.values())) == len(MARKERS)


def test_only_what_was_found_is_drawn_and_the_bytes_are_the_same_again(tmp_path):
    run = write_run(tmp_path / "made", made_train())
    first = {path.name: path.read_bytes() for path in draw_figures(run)}
    assert set(first) == {"training.svg", "training.pdf"}
    assert first["training.pdf"].startswith(b"%PDF")
    assert {path.name: path.read_bytes() for path in draw_figures(run)} == first


def test_tables_of_another_version_are_refused_in_one_line(tmp_path):
    centres = Table.of("Centres.", columns(side="text"), [{"side": "encoder"}])
    gains = Table.of("Gains.", columns(side="text"), [{"side": "encoder"}])
    run = write_run(
        tmp_path, Result("layers", {"gains": gains, "centres": centres}, {}, provenance())
    )
    with pytest.raises(DataError, match="'layers' does not find 'centre'"):
        draw_figures(run)


def test_a_run_without_results_is_refused(tmp_path):
    with pytest.raises(DataError):
        draw_figures(tmp_path)


@pytest.mark.slow
def test_another_process_with_another_order_of_hashes_gives_the_same_bytes(tmp_path):
    made = (made_train(3), made_score(["gradient"]), made_prune())
    code = (
        "import sys; from pathlib import Path\n"
        "from headcount.reports.figures import draw_figures\n"
        "from headcount.reports.page import build_page\n"
        "draw_figures(Path(sys.argv[1])); build_page(Path(sys.argv[1]))"
    )
    here, there = (write_run(tmp_path / name / "made", *made) for name in ("here", "there"))
    draw_figures(here)
    build_page(here)
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    subprocess.run([sys.executable, "-c", code, str(there)], env=environment, check=True)
    names = [path.relative_to(here) for path in (*here.glob("figures/*"), here / "report.html")]
    assert len(names) == 2 * 5 + 1
    assert all((here / name).read_bytes() == (there / name).read_bytes() for name in names)
