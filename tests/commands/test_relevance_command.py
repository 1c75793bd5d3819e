"""`headcount relevance`: what is shown, what is kept, and what is refused."""

import json

import pytest

from headcount import cli
from headcount.analyses.result import Result


def test_the_runs_own_sentences(finished, capsys):
    assert cli.run(["relevance", str(finished)]) == 0
    shown = capsys.readouterr().out
    kept = Result.load(finished / "results" / "relevance")
    first = kept.tables["sentences"].rows.iloc[0]
    assert first["source"] in shown and first["target"] in shown
    assert "inputs alone miss the logits by" in shown and "source: " in shown
    assert all(remark in shown for remark in kept.remarks)


def test_a_given_sentence_as_json(finished, capsys):
    words = ["relevance", str(finished), "--source", "oak fir elm", "--json", "--per-token"]
    assert cli.run(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert [it["source"] for it in found["sentences"]] == ["oak fir elm"]
    assert {"shares", "tokens", "conservation", "heads", "remarks"} < set(found)
    shares = found["shares"]
    assert shares[0]["source"] + shares[0]["prefix"] + shares[0]["absorbed"] == pytest.approx(
        shares[0]["logit"], rel=1e-3, abs=1e-3
    )


def test_a_given_translation_is_contrasted_and_kept(finished, capsys, tmp_path):
    words = ["relevance", str(finished), "--source", "oak fir", "--target", "oak elm"]
    assert cli.run([*words, "--start", "contrast", "--rule", "cp", "-o", str(tmp_path)]) == 0
    kept = Result.load(tmp_path)
    assert kept.tables["sentences"].rows["target"].tolist() == ["oak elm"]
    assert (kept.tables["shares"].rows["rival"] != "").all()
    assert kept.settings["rule"] == "cp"
    assert kept.tables["conservation"].rows["softmax"].abs().max() == 0
    assert "held constant" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "oak"], "give --source too"),
        (["--source", " "], "--source is empty"),
        (["--source", "oak", "--sentences", "2"], "leave out --sentences"),
        (["--source", "oak", "--start", "contrast"], "give --target"),
        (["--rule", "alpha"], "attnlrp"),
        (["--epsilon", "-1"], "epsilon"),
    ],
)
def test_wrong_words_are_refused(finished, capsys, words, said):
    assert cli.run(["relevance", str(finished), *words]) == 2
    assert said in capsys.readouterr().err


def test_one_word_against_another(finished, capsys):
    words = ["relevance", str(finished), "--source", "oak fir", "--words"]
    assert cli.run([*words, "oak", "elm", "--json"]) == 0
    shares = json.loads(capsys.readouterr().out)["shares"]
    assert [{row["piece"] for row in shares}, {row["rival"] for row in shares}] == [
        {"▁oak"},
        {"▁elm"},
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--words", "oak", "xylophone"], "'xylophone' is unknown"),
        (["--words", "oak", "fir elm"], "'fir elm' is not one piece"),
        (["--words", "oak", "oak"], "contrasted with itself"),
        (["--words", "oak", "elm", "--start", "top"], "leave out --start"),
    ],
)
def test_words_that_cannot_be_contrasted(finished, capsys, words, said):
    assert cli.run(["relevance", str(finished), "--source", "oak", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_help_has_examples(capsys):
    assert cli.run(["relevance", "--help"]) == 0
    assert "Examples:" in capsys.readouterr().out


def test_heads_by_token_beside_the_scores(finished, capsys, tmp_path):
    words = ["score", str(finished), "--metrics", "lrp", "--option", "lrp.rule=cp", "--per-token"]
    assert cli.run([*words, "--sentences", "4", "--json", "-o", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    heads = {(row["site"], row["layer"], row["head"]) for row in found["heads"]}
    assert {(row["site"], row["layer"], row["head"]) for row in found["per_token"]} == heads
    assert Result.load(tmp_path / "per_token").settings["rule"] == "cp"
    assert cli.run([*words, "--sentences", "4"]) == 0
    assert "relevance by output token" in capsys.readouterr().out
    assert cli.run(["score", str(finished), "--metrics", "gradient", "--per-token"]) == 2
    assert "--metrics lrp" in capsys.readouterr().err
