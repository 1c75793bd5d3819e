"""`headcount prune --also ffn`: a second model beside the first, and off by default."""

import pytest

from headcount import cli
from headcount.analyses.result import Result
from headcount.models.transformer import TransformerTranslator


def prune(finished, *words) -> int:
    return cli.run(["prune", str(finished), *words])


def test_units_go_as_a_second_step_that_stands_apart(finished, capsys, tmp_path):
    folder = tmp_path / "five"
    words = ["--heads", "5", "--way", "gradient", "--save", str(folder), "--finetune", "none"]
    assert prune(finished, *words, "--also", "ffn", "--ffn-keep", "25%") == 0
    said = capsys.readouterr().out
    assert "heads removed" in said
    assert "units removed too" in said
    heads, both = (TransformerTranslator.load(it) for it in (folder, folder / "also-ffn"))
    assert heads.layout == both.layout
    whole = len(heads.network.units)
    assert len(both.network.units) == whole // 4
    rows = Result.load(folder / "also-ffn" / "results" / "units").tables["outcome"].rows
    assert list(rows["units"]) == [whole, whole, whole // 4]
    assert not (folder / "scratch").exists()
    assert both.translate(["oak fir"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--heads", "5", "--also", "ffn", "--ffn-keep", "half"], "write a share such as 50%"),
        (["--heads", "5", "--also", "ffn", "--ffn-keep", "0%"], "--ffn-keep: keep"),
        (["--heads", "5", "--ffn-keep", "50%"], "give both"),
        (["--also", "ffn"], "say how small"),
        (["--compare", "l0", "--also", "ffn"], "has no meaning with --compare"),
        (["--heads", "5", "--also", "heads"], "ffn"),
    ],
)
def test_what_makes_no_sense_is_said_and_changes_nothing(
    finished, capsys, tmp_path, words, message
):
    save = [] if "--compare" in words else ["--save", str(tmp_path / "x")]
    before = sorted(finished.rglob("*"))
    assert prune(finished, *words, *save) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())
    assert sorted(finished.rglob("*")) == before
