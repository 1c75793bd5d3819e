"""`headcount roles`: what is shown, what is kept, and what is refused."""

import json
import shutil

import pytest

from headcount import cli
from headcount.analyses.result import Result
from headcount.models.transformer import TransformerTranslator

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


@pytest.mark.parametrize("option", ["--links", "--alibi"])
def test_links_as_json(finished, capsys, tmp_path, option):
    for name, line in (("a", "oak fir elm"), ("b", "oak fir elm"), ("links", "0-0 1-1 2-2")):
        lines = [f"{number}\t{line}" if option == "--alibi" else line for number in range(40)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a", "b", "links")]
    words = ["roles", str(finished), option, *files, *FEW[2:], "-o", str(tmp_path / "out")]
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


def test_what_pruning_and_another_seed_leave_of_the_roles(finished, capsys, tmp_path):
    whole = TransformerTranslator.load(finished / "model")
    removed = [head for head in whole.layout if head.head == 1]
    whole.without(removed).save(tmp_path / "smaller")
    shutil.copytree(finished, tmp_path / "again")
    table = tmp_path / "made.tsv"
    table.write_text("oak fir elm\tfir elm oak\t0-2 1-0 2-1\n" * 60, encoding="utf-8")
    words = ["roles", str(finished), "--xl-wa", str(table), "--random-networks", "0"]
    words += ["--pruned", str(tmp_path / "smaller"), "--seeds", str(tmp_path / "again")]
    assert cli.run([*words, "-o", str(tmp_path / "out")]) == 0
    tables = {name: it.rows for name, it in Result.load(tmp_path / "out").tables.items()}
    aligned = tables["alignment"]
    assert set(aligned["model"]) == {"whole", "cut", "smaller"}
    assert set(aligned["map"]) == {"weights", "norm", "relevance"}
    # The smaller model was cut and not trained on, so the two are the same.
    left = aligned[aligned["model"] == "cut"].drop(columns="model").reset_index(drop=True)
    again = aligned[aligned["model"] == "smaller"].drop(columns="model").reset_index(drop=True)
    assert left.equals(again)
    kept, drift = tables["kept"], tables["drift"]
    assert ((kept["removed"] + kept["stayed"]) <= kept["heads"]).all()
    assert not set(drift["head"]) & {1}
    # The other run is a copy: all of its roles are shared, and lie in the same heads.
    assert (tables["shared"]["having"] == 2).all()
    assert (tables["agreement"]["value"] == 1.0).all()
    shown = capsys.readouterr().out
    assert "heads unlike the rest, trained" in shown
    survival = tables["survival"]
    assert set(survival["order"]) >= {"random"} and (survival["having"] > 0).all()


def test_a_smaller_model_of_another_run_is_refused(finished, capsys, tmp_path):
    words = ["roles", str(finished), *FEW, "-o", str(tmp_path / "out")]
    assert cli.run([*words, "--pruned", str(finished / "model")]) == 2
    assert "no smaller model of this run" in capsys.readouterr().err
    assert cli.run([*words, "--seeds", str(finished)]) == 2
    assert "is the run itself" in capsys.readouterr().err
    assert cli.run([*words, "--causal", "5"]) == 2
    assert "a run on miniature" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target-treebank", "b.conllu"], "needs the source's --treebank"),
        (["--xl-wa", "a.tsv", "--alibi", "a", "b", "c"], "give one of them"),
        (["--bleu", "--causal", "0"], "ask for some"),
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
