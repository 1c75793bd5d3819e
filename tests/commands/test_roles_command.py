"""`headcount roles`: what is shown, what is kept, and what is refused."""

import json

import pytest

from headcount import cli
from headcount.analyses.result import Result

FEW = ["--sentences", "16", "--random-networks", "1"]


def test_the_runs_own_text(finished, capsys, tmp_path):
    assert cli.run(["roles", str(finished), *FEW, "-o", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    kept = Result.load(tmp_path)
    assert "of 12 heads have a role" in shown
    assert all(remark in shown for remark in kept.remarks)
    assert kept.settings["sentences"] == 16
    odds = kept.tables["importance"].rows
    assert set(odds["metric"]) == {"confidence", "gradient", "leave_one_out", "random"}
    counts = ["important_with", "important_without", "others_with", "others_without"]
    assert (odds[odds["site"] == "all"][counts].sum(axis=1) == 12).all()


def test_links_as_json(finished, capsys, tmp_path):
    for name, lines in (("a", "oak fir elm"), ("b", "oak fir elm"), ("links", "0-0 1-1 2-2")):
        (tmp_path / name).write_text(f"{lines}\n" * 40, encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a", "b", "links")]
    words = ["roles", str(finished), "--links", *files, *FEW[2:], "-o", str(tmp_path / "out")]
    assert cli.run([*words, "--json", "--seed", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"roles", "arcs", "offsets", "sinks", "alignment", "remarks"} <= set(found)
    assert {row["family"] for row in found["arcs"]} >= {"alignment"}
    assert Result.load(tmp_path / "out").provenance.seed == 3


def test_a_treebank(finished, capsys, tmp_path):
    lines = ["1\toak\t_\tNOUN\t_\t_\t0\troot\t_\t_", "2\tfir\t_\tNOUN\t_\t_\t1\tnsubj\t_\t_"]
    text = "".join(
        f"# sent_id = {number}\n# text = oak fir\n" + "\n".join(lines) + "\n\n"
        for number in range(120)
    )
    (tmp_path / "made.conllu").write_text(text, encoding="utf-8")
    words = ["roles", str(finished), "--treebank", str(tmp_path / "made.conllu"), *FEW[2:]]
    assert cli.run([*words, "-o", str(tmp_path / "out")]) == 0
    assert "nsubj" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target-treebank", "b.conllu"], "needs the source's --treebank"),
        (["--links", "a", "b", "c", "--treebank", "d"], "give one of them"),
        (["--sentences", "1"], "sentences"),
    ],
)
def test_wrong_words_are_refused(finished, capsys, words, said):
    assert cli.run(["roles", str(finished), *words]) == 2
    assert said in capsys.readouterr().err


def test_help_has_examples(capsys):
    assert cli.run(["roles", "--help"]) == 0
    assert "Examples:" in capsys.readouterr().out
