"""Figures for papers: one for every Result, and the same bytes again."""

import pytest
from made_results import made_prune, made_score, made_train, write_run

from headcount.models.errors import DataError
from headcount.reports.figures import FIGURES, draw_figures
from headcount.reports.page import build_page


def test_every_figure_is_drawn_as_svg_and_pdf_and_linked_from_the_page(tmp_path):
    run = write_run(tmp_path / "made", made_train(3), made_score(["gradient"]), made_prune())
    written = draw_figures(run)
    assert [path.name for path in written] == [
        f"{name}.{ending}" for name in FIGURES for ending in ("svg", "pdf")
    ]
    for path in written:
        start = path.read_bytes()[:200]
        assert start.startswith(b"%PDF") if path.suffix == ".pdf" else b"<?xml" in start
    page = build_page(run).read_text(encoding="utf-8")
    assert all(f'href="figures/{path.name}"' in page for path in written)


def test_only_what_was_found_is_drawn_and_the_bytes_are_the_same_again(tmp_path):
    run = write_run(tmp_path / "made", made_train())
    first = {path.name: path.read_bytes() for path in draw_figures(run)}
    assert set(first) == {"training.svg", "training.pdf"}
    assert {path.name: path.read_bytes() for path in draw_figures(run)} == first


def test_a_run_without_results_is_refused(tmp_path):
    with pytest.raises(DataError):
        draw_figures(tmp_path)
