"""The tutorial runs from its first cell to its last, in the smallest size."""

import re
import runpy
from pathlib import Path

import pytest

from headcount.models.transformer import TransformerTranslator

TUTORIAL = Path(__file__).parent.parent / "docs" / "tutorial.py"


def test_the_tutorial_is_cells_of_prose_and_code():
    cells = re.split(r"^# %%", TUTORIAL.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    prose = [cell for cell in cells if cell.startswith(" [markdown]")]
    assert len(prose) >= 8 and len(cells) - len(prose) >= 8
    for cell in prose:
        assert all(line.startswith("#") for line in cell.splitlines()[1:] if line)


@pytest.mark.slow
def test_every_cell_runs_and_ends_with_a_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HEADCOUNT_TUTORIAL", "smoke")
    monkeypatch.setenv("HEADCOUNT_TUTORIAL_FOLDER", str(tmp_path))
    names = runpy.run_path(str(TUTORIAL))
    said = capsys.readouterr().out
    run = tmp_path / "tutorial"
    assert f"Open {run / 'report.html'}" in said and (run / "report.html").stat().st_size > 50_000
    assert TransformerTranslator.load(run / "smaller").layout == names["smaller"].layout
    assert len(names["smaller"].layout) == 6
    assert set(names["alone"]) == set(names["translator"].layout)
    whole, smaller = (int(n.replace(",", "")) for n in re.findall(r"[\d,]+(?= (?:->|param))", said))
    assert smaller == names["smaller"].describe()["parameters"] < whole
