"""A finished run of the smallest size on a corpus of copying, made once."""

from pathlib import Path

import pytest
from made_translators import copies

from headcount import cli
from headcount.analyses.bench import size

SMALL = [
    "--set=training.updates=30",
    "--set=training.validate_every=10",
    "--set=training.batch_tokens=128",
    "--set=vocabulary.kind=word",
    "--set=vocabulary.size=12",
    '--set=score.metrics=["confidence", "gradient", "leave_one_out", "random"]',
    "--set=prune.draws=2",
    "--set=prune.shares=[1, 0.5]",
    "--set=prune.sentences=8",
]


@pytest.fixture(autouse=True)
def no_memory(monkeypatch) -> None:
    """Start no fresh process for every model, only to measure how much memory it takes."""
    monkeypatch.setattr(size, "can_measure", lambda device: False)


@pytest.fixture(scope="session")
def texts(tmp_path_factory) -> list[str]:
    """Options that name own files."""
    folder = tmp_path_factory.mktemp("texts")
    options = []
    for seed, (split, sentences) in enumerate([("train", 200), ("valid", 24), ("test", 24)]):
        text = copies(split, seed, sentences)
        for language, side in (("en", text.source), ("de", text.target)):
            (folder / f"{split}.{language}").write_text("\n".join(side) + "\n", encoding="utf-8")
        options += [f"--{split}", *(str(folder / f"{split}.{code}") for code in ("en", "de"))]
    return options


@pytest.fixture(scope="session")
def run_words(texts):
    """Return the words of a small `headcount run` into a folder."""
    return lambda folder: ["run", "--preset", "nano", "-o", str(folder), *texts, *SMALL]


@pytest.fixture(scope="session")
def finished(run_words, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "first"
    with pytest.MonkeyPatch.context() as patch:
        _leave_out_figures(patch)
        assert cli.run(run_words(folder)) == 0
    return folder


@pytest.fixture
def no_figures(monkeypatch) -> None:
    """Leave out the figures for papers, which take the longest of a page, where none is read."""
    _leave_out_figures(monkeypatch)


def _leave_out_figures(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("headcount.reports.figures.draw_figures", lambda run: [])
