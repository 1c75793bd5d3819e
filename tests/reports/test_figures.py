"""Figures for papers: one for every Result, and the same bytes again."""

import os
import subprocess
import sys

import pytest
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
from test_translations import phenomena

from headcount.analyses.prune_sentences import PHENOMENA
from headcount.analyses.result import Result, Table
from headcount.models.errors import DataError
from headcount.reports.drawing import charts
from headcount.reports.figures import draw_figures, figures
from headcount.reports.figures.style import MARKERS
from headcount.reports.page import build_page


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with every Result that a figure is made of."""
    prune = made_prune()
    prune.tables["phenomena"] = Table.of("Phenomena.", PHENOMENA, phenomena(), n="45 sentences")
    made = (made_train(3), made_score(["gradient"]), prune, made_reliability(), *others())
    return write_run(tmp_path_factory.mktemp("runs") / "made", *made)


def others():
    """Results of roles, layers and ways, as far as their figures read them."""
    about = {"site": "encoder", "layer": 0, "head": 1, "family": "syntax", "role": "<obl>"}
    role = {**about, "share": 0.9, "baseline": 0.3, "effect": 0.6}
    role |= {"effect_low": 0.5, "effect_high": 0.7}
    kinds = dict.fromkeys(("site", "family", "role"), "text") | {"layer": "whole", "head": "whole"}
    roles = Table.of("Roles.", columns(**kinds, **dict.fromkeys(list(role)[5:], "number")), [role])
    task = {"side": "encoder", "task": "upos", "family": "syntax"}
    words = dict.fromkeys(task, "text")
    gains = Table.of(
        "Gains.",
        columns(**words, layer="whole", gain="number"),
        [{**task, "layer": layer, "gain": layer / 2} for layer in range(3)],
    )
    centres = Table.of("Centres.", columns(**words, centre="number"), [{**task, "centre": 1.5}])
    way = {"order": "l0", "where": "all", "bleu": 9.0, "bleu_low": 8.0, "bleu_high": 10.0}
    summary = Table.of(
        "Ways.",
        columns(order="text", where="text", heads_left="whole", bleu="number", bleu_low="number")
        + columns(bleu_high="number"),
        [{**way, "order": name, "heads_left": n} for name in ("l0", "random") for n in (4, 8)],
    )
    yield Result("roles", {"roles": roles}, {}, provenance())
    yield Result("layers", {"gains": gains, "centres": centres}, {}, provenance())
    yield Result("ways", {"summary": summary}, {}, provenance())


def test_every_figure_is_drawn_as_svg_and_pdf_and_its_words_are_those_of_the_results(run):
    written = draw_figures(run)
    assert [path.name for path in written] == [
        f"{name}.{ending}" for name in figures for ending in ("svg", "pdf")
    ]
    words = {
        "areas": "NLL, nats a token",
        "agreement": f"{tau('confidence', 'random', 'all'):.2f}",
        "curve": "Leave-one-out",
        "heads": "Gradient: encoder self-attention",
        "layers": "upos (syntax)",
        "phenomena": "50*",
        "roles": "&lt;obl&gt; (encoder.0.1)",
        "training": "Validation BLEU",
        "ways": "Random order",
    }
    assert set(words) == set(figures)
    for path in written:
        content = path.read_bytes()
        if path.suffix == ".pdf":
            assert content.startswith(b"%PDF")
        else:
            assert words[path.stem] in content.decode("utf-8")


def test_the_page_points_at_the_figures_of_its_sections(tmp_path):
    made = (made_train(3), made_score(["gradient"]), made_prune(), made_reliability())
    run = write_run(tmp_path / "made", *made)
    (run / "figures").mkdir()
    names = [f"{name}.{e}" for name in figures for e in ("svg", "pdf")]
    for name in names:
        (run / "figures" / name).touch()
    page = build_page(run).read_text(encoding="utf-8")
    without = {"layers", "phenomena", "roles", "ways"}  # sections that this run does not have
    for name in names:
        assert (f'href="figures/{name}"' in page) == (name.split(".")[0] not in without)


def test_every_marker_of_the_page_has_one_of_its_own_on_paper():
    assert set(MARKERS) == {*charts.MARKERS, "none"}
    assert len(set(MARKERS.values())) == len(MARKERS)


def test_only_what_was_found_is_drawn_and_the_bytes_are_the_same_again(tmp_path):
    run = write_run(tmp_path / "made", made_train())
    first = {path.name: path.read_bytes() for path in draw_figures(run)}
    assert set(first) == {"training.svg", "training.pdf"}
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
    made = (made_train(), made_evaluate(), made_score(), made_prune())
    code = (
        "import sys; from pathlib import Path\n"
        "from headcount.reports.figures import draw_figures\n"
        "from headcount.reports.page import build_page\n"
        "draw_figures(Path(sys.argv[1])); build_page(Path(sys.argv[1]))"
    )
    found = []
    for seed in ("1", "2"):
        run = write_run(tmp_path / seed / "made", *made)
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(run)], env=environment, check=True)
        found.append({path.name: path.read_bytes() for path in run.glob("figures/*")})
        found[-1]["page"] = (run / "report.html").read_bytes()
    assert found[0] == found[1] and len(found[0]) == 7
