"""`headcount layers` on a treebank with a layer from another file, and what it refuses."""

import json

import pytest

from headcount import cli
from headcount.analyses.result import Result
from headcount.commands.records import records_of

FEW = ["--task", "upos", "--controls", "1", "--processes", "1", "--no-structure"]
UPOS = {"oak": "NOUN", "fir": "VERB", "elm": "NOUN"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A treebank of 60 sentences and supersenses of the first 45."""
    folder = tmp_path_factory.mktemp("treebank")
    trees, senses = [], []
    for number in range(60):
        words = ["oak", "fir", "elm"] if number % 2 else ["elm", "fir", "oak", "fir"]
        head = f"# sent_id = {number}\n# text = {' '.join(words)}\n"
        rows = [
            f"{at}\t{word}\t_\t{UPOS[word]}\t_\t_\t{at - 1}\t{'root' if at == 1 else 'dep'}\t_\t_"
            for at, word in enumerate(words, 1)
        ]
        trees.append(head + "\n".join(rows) + "\n")
        if number < 45:
            rows = [f"{at}\t{word}\tN\tn.{word}\t_\t_" for at, word in enumerate(words, 1)]
            senses.append(head + "\n".join(rows) + "\n")
    (folder / "made.conllu").write_text("\n".join(trees) + "\n", encoding="utf-8")
    (folder / "senses.tsv").write_text("\n".join(senses) + "\n", encoding="utf-8")
    return folder


def test_a_layer_from_another_file_is_probed_on_sentences_that_have_it(
    finished, files, tmp_path, capsys
):
    given = ["--treebank", str(files / "made.conllu"), "--target-treebank"]
    given += [str(files / "made.conllu"), "--layer", f"supersenses={files / 'senses.tsv'}"]
    words = ["layers", str(finished), *given, *FEW, "--task", "supersense", "--heads", "upos"]
    words += ["--pruned", str(finished), "-o", str(tmp_path / "out")]
    assert cli.run(words) == 0
    printed, kept = capsys.readouterr().out, Result.load(tmp_path / "out")
    assert "encoder upos: of single heads encoder.0." in printed
    asked = len(kept.tables["lost"].rows)
    assert f"without the heads 0 of {asked} tasks and layers are told worse" in printed
    assert all(remark in printed for remark in kept.remarks)
    shown = json.loads(json.dumps({**records_of(kept), "remarks": kept.remarks}, allow_nan=False))
    assert any("15 sentences without supersenses" in it for it in shown["remarks"])
    assert {row["side"] for row in shown["probes"]} == {"encoder", "decoder"}
    assert all(row["difference"] == 0 for row in shown["lost"])  # the model beside itself
    heads = {row["head"] for row in shown["heads"]}
    assert len(heads) == 4
    assert kept.tables["probes"].n.startswith("27 train, 9 valid, 9 test sentences (made)")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--layer", "uner=a"], "need a --treebank"),
        (["--treebank", "TREES", "--layer", "supersense=SENSES"], "did you mean 'supersenses'"),
        (["--treebank", "TREES", "--layer", "supersenses"], "it is supersenses=PATH"),
        (["--treebank", "TREES", "--layer", "uds=SENSES"], "it is uds=IDS,FILE"),
        (["--treebank", "TREES", "--layer", "conllu=TREES"], "no layer of a treebank"),
        (["--task", "upo"], "did you mean 'upos'"),
        (["--treebank", "TREES", "--same-words", "tree_depth"], "about sentences"),
        (["--treebank", "TREES", "--side", "decoder"], "give --target-treebank"),
        ([], "give a treebank"),
    ],
)
def test_wrong_words_are_refused(finished, files, capsys, words, said):
    names = {"TREES": str(files / "made.conllu"), "SENSES": str(files / "senses.tsv")}
    for name, path in names.items():
        words = [it.replace(name, path) for it in words]
    before = sorted(finished.rglob("*"))
    assert cli.run(["layers", str(finished), *words, *FEW[2:]]) in (1, 2)
    assert said in capsys.readouterr().err
    assert sorted(finished.rglob("*")) == before


@pytest.mark.parametrize(
    ("keep", "said"),
    [(2, "cannot be split in three parts"), (12, "labels occur at least 2 times")],
)
def test_treebanks_that_are_too_small_or_have_one_label_are_refused(
    finished, files, tmp_path, capsys, keep, said
):
    blocks = (files / "made.conllu").read_text(encoding="utf-8").split("\n\n")[:keep]
    text = "\n\n".join(blocks).replace("VERB", "NOUN") + "\n\n"
    (tmp_path / "few.conllu").write_text(text, encoding="utf-8")
    words = ["layers", str(finished), "--treebank", str(tmp_path / "few.conllu"), *FEW]
    assert cli.run(words) == 1
    assert said in capsys.readouterr().err
