"""`headcount prune` and `headcount translate` on a finished run."""

import io
import sys

import pytest

from headcount import cli
from headcount.models.transformer import TransformerTranslator


def test_prune_shows_the_curve(finished, capsys):
    assert cli.run(["prune", str(finished)]) == 0
    said = capsys.readouterr().out
    assert "leave_one_out" in said
    assert "random" in said


def test_prune_saves_a_smaller_model(finished, capsys, tmp_path):
    words = ["--keep", "5", "--save", str(tmp_path / "five")]
    assert cli.run(["prune", str(finished), *words]) == 0
    assert len(TransformerTranslator.load(tmp_path / "five").layout) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--keep", "13", "--save", "x"], "13 heads cannot be left of 12"),
        (["--metric", "lrp"], "was not measured"),
    ],
)
def test_prune_refuses(finished, capsys, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.run(["prune", str(finished), *words]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def translate(monkeypatch, capsys, finished, text: bytes, *words) -> tuple[int, str, str]:
    stdin = io.TextIOWrapper(io.BytesIO(text))
    monkeypatch.setattr(sys, "stdin", stdin)
    code = cli.run(["translate", str(finished), *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("block", ["1", "2", "512"])
def test_translate_keeps_the_lines(finished, monkeypatch, capsys, block):
    text = "oak fir\n\n  \nash\u2028elm\nlarch\r\npine".encode()
    code, out, _ = translate(monkeypatch, capsys, finished, text, "--block", block)
    lines = out.split("\n")
    assert code == 0
    assert len(lines) == 7
    assert lines[-1] == ""
    assert lines[1] == lines[2] == ""


def test_translate_reads_its_input_as_a_corpus_is_read(finished, monkeypatch, capsys):
    _, plain, _ = translate(monkeypatch, capsys, finished, b"oak fir\nash\n")
    marked = "\ufeffoak fir\r\nash\n\u200b\n\ufeff\n".encode()  # what cannot be seen is empty
    code, out, _ = translate(monkeypatch, capsys, finished, marked)
    assert (code, out) == (0, plain + "\n\n")


def test_translate_says_what_the_model_says(finished, monkeypatch, capsys):
    translator = TransformerTranslator.load(finished / "model")
    sentences = ["oak fir pine", "ash"]
    expected = [it.text for it in translator.translate(sentences)]
    code, out, _ = translate(monkeypatch, capsys, finished, "\n".join(sentences).encode())
    assert (code, out.splitlines()) == (0, expected)
    model = finished / "model"
    assert translate(monkeypatch, capsys, model, b"ash\n", "--beam", "3")[0] == 0


def test_translate_without_heads(finished, monkeypatch, capsys):
    words = ["--without", "cross.0.1", "--without", "encoder.0.3"]
    assert translate(monkeypatch, capsys, finished, b"ash oak\n", *words)[0] == 0
    code, _, error = translate(monkeypatch, capsys, finished, b"ash\n", "--without", "cross.7.1")
    assert code == 2
    assert "no head cross.7.1" in error


def test_translate_names_the_line_that_is_no_utf8(finished, monkeypatch, capsys):
    code, _, error = translate(monkeypatch, capsys, finished, b"oak\nf\xffr\n")
    assert code == 1
    assert "line 2" in error


@pytest.mark.parametrize("block", ["1", "3", "512"])
def test_translate_names_the_line_that_is_too_long(finished, monkeypatch, capsys, block):
    long = b" ".join([b"ash"] * 1024)
    words = ["--block", block]
    code, _, error = translate(monkeypatch, capsys, finished, b"oak\n\nfir\n" + long, *words)
    assert code == 1
    assert "line 4 has 1025 tokens, the model has positions for 1024" in error


def test_nothing_in_nothing_out(finished, monkeypatch, capsys):
    assert translate(monkeypatch, capsys, finished, b"") == (0, "", "")
