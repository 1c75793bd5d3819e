"""Corpora by name: own files, Multi30k, languages, fingerprints."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from headcount.models.data import multi30k
from headcount.models.data.corpora import (
    Corpus,
    CorpusSettings,
    ParallelText,
    cache_folder,
    corpus,
    load_corpus,
    whereabouts,
)
from headcount.models.data.fetch import RemoteFile
from headcount.models.errors import DataError, UsageError

TEXT = ParallelText("t", ["a b", "c", "d"], ["A B", "C", "D"])


def test_head_and_select() -> None:
    assert TEXT.head(2) == ParallelText("t", ["a b", "c"], ["A B", "C"])
    assert TEXT.head(99) == TEXT
    assert TEXT.select([2, 0]) == ParallelText("t", ["d", "a b"], ["D", "A B"])
    assert TEXT.reversed().source == TEXT.target
    with pytest.raises(DataError, match="1 source but 2 target"):
        ParallelText("t", ["a"], ["b", "c"])


def test_fingerprint_by_hand_and_what_it_depends_on() -> None:
    by_hand = hashlib.sha256("3:a b2:ü;1:x0:;".encode()).hexdigest()
    assert ParallelText("t", ["a b", "ü"], ["x", ""]).fingerprint == by_hand
    assert ParallelText("other name", *(TEXT.source, TEXT.target)).fingerprint == TEXT.fingerprint
    different = [
        TEXT.reversed(),
        TEXT.head(2),
        TEXT.select([1, 0, 2]),
        ParallelText("t", ["a", "bc", "d"], ["A B", "C", "D"]),
    ]
    assert len({text.fingerprint for text in [*different, TEXT]}) == 5


def made_corpus(**changes: object) -> Corpus:
    values = {
        "name": "c",
        "source_language": "en",
        "target_language": "de",
        "train": TEXT,
        "valid": TEXT.head(1),
        "tests": {"first": TEXT.head(1), "second": TEXT.head(2)},
        "licence": "none",
    }
    return Corpus(**{**values, **changes})  # type: ignore[arg-type]


def test_splits_and_fingerprint_of_a_corpus() -> None:
    made = made_corpus()
    assert list(made.splits) == ["train", "valid", "first", "second"]
    assert made.test is made.split("test") is made.split("first")
    with pytest.raises(UsageError, match="no split 'trian' \\(did you mean 'train'"):
        made.split("trian")
    assert made.fingerprint == made_corpus(name="d").fingerprint
    assert made.fingerprint != made_corpus(target_language="fr").fingerprint
    assert made.fingerprint != made_corpus(train=TEXT.head(2)).fingerprint
    with pytest.raises(DataError, match="no test split"):
        made_corpus(tests={})


@pytest.fixture
def own_files(tmp_path: Path) -> dict[str, tuple[str, str]]:
    given = {}
    for split in ("train", "valid", "test"):
        paths = (tmp_path / f"{split}.en", tmp_path / f"{split}.de")
        paths[0].write_text(f"{split}\n\nx\n")
        paths[1].write_text("eins\nzwei\ndrei\n")
        given[split] = (str(paths[0]), str(paths[1]))
    return given


def test_own_files_need_no_name_and_show_their_languages(
    own_files: dict[str, tuple[str, str]],
) -> None:
    with pytest.raises(DataError, match="1 empty lines"):
        load_corpus(CorpusSettings.from_dict({**own_files}))
    settings = CorpusSettings.from_dict({**own_files, "drop_empty": True})
    assert settings.name == "files"
    loaded = load_corpus(settings)
    assert (loaded.source_language, loaded.target_language) == ("en", "de")
    assert loaded.train.source == ["train", "x"]
    assert loaded.test.target == ["eins", "drei"]
    assert loaded.train.skipped == 1
    assert CorpusSettings.from_dict(settings.model_dump()) == settings


def test_a_corpus_larger_than_memory_is_mapped_and_equal(
    own_files: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    Path(own_files["train"][0]).write_text("one\n\nthree \u2028 ü 😀\nfour\n")
    Path(own_files["train"][1]).write_text("eins\nzwei\n\nvier\n")
    settings = CorpusSettings.from_dict({**own_files, "drop_empty": True})
    small, large = (
        load_corpus(settings.with_changes(memory_bytes=most), tmp_path / "cache")
        for most in (1_000, 0)
    )
    assert isinstance(small.train.source, list) and not isinstance(large.train.source, list)
    assert large.fingerprint == small.fingerprint
    assert list(large.train.source) == large.train.source[:] == ["one", "four"]
    assert large.train.source[-1:] == ["four"]
    assert (large.train.skipped, small.train.skipped) == (2, 2)
    assert large.train.head(1) == small.train.head(1)
    again = load_corpus(settings.with_changes(memory_bytes=0), tmp_path / "cache")
    assert again.fingerprint == small.fingerprint
    assert again.train.skipped == 2
    Path(own_files["train"][0]).write_text("changed\n" * 4)
    changed = load_corpus(settings.with_changes(memory_bytes=0), tmp_path / "cache")
    assert list(changed.train.source) == ["changed"] * 3


def test_of_a_large_text_that_fails_nothing_is_written(
    own_files: dict[str, tuple[str, str]], tmp_path: Path
) -> None:
    settings = CorpusSettings.from_dict({**own_files, "memory_bytes": 0})
    with pytest.raises(DataError, match="1 empty lines"):
        load_corpus(settings, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_own_tsv_needs_the_languages(tmp_path: Path) -> None:
    path = tmp_path / "all.tsv"
    path.write_text("hello\tbonjour\n")
    given = dict.fromkeys(("train", "valid", "test"), str(path))
    with pytest.raises(UsageError, match="give source_language and target_language"):
        load_corpus(CorpusSettings.from_dict(given))
    named = {**given, "source_language": "en", "target_language": "fr"}
    assert load_corpus(CorpusSettings.from_dict(named)).train.target == ["bonjour"]
    same = {**given, "source_language": "en", "target_language": "en"}
    with pytest.raises(UsageError, match="both en"):
        load_corpus(CorpusSettings.from_dict(same))


def test_wrong_settings_are_refused(own_files: dict[str, tuple[str, str]]) -> None:
    with pytest.raises(UsageError, match="train files go with corpus 'files'"):
        CorpusSettings.from_dict({**own_files, "name": "multi30k"})
    with pytest.raises(UsageError, match="needs valid files: give --valid SRC TGT"):
        load_corpus(CorpusSettings.from_dict({"train": own_files["train"]}))
    with pytest.raises(UsageError, match="unknown corpus 'multi30' \\(did you mean 'multi30k'"):
        load_corpus(CorpusSettings(name="multi30"))
    with pytest.raises(UsageError, match="did you mean 'drop_empty'"):
        CorpusSettings.from_dict({"dropempty": True})
    with pytest.raises(UsageError, match="at least 1"):
        CorpusSettings.from_dict({"longest_line": 0})


def test_a_home_folder_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADCOUNT_DATA", "~nobody-of-this-name/data")
    with pytest.raises(UsageError, match="~nobody-of-this-name/data: no such home folder"):
        cache_folder()
    files = dict.fromkeys(("train", "valid", "test"), ("~nobody-of-this-name/a.en", "a.de"))
    with pytest.raises(UsageError, match="~nobody-of-this-name/a\\.en: no such home folder"):
        load_corpus(CorpusSettings.from_dict(files), Path("cache"))


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HEADCOUNT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "headcount"
    monkeypatch.setenv("HEADCOUNT_DATA", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("HEADCOUNT_DATA")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "headcount"


@pytest.fixture
def small_multi30k(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Put a published data set of another size in the place of Multi30k."""
    import gzip

    monkeypatch.delenv("HEADCOUNT_SHARED", raising=False)
    folder = tmp_path / "site" / "multi30k"
    folder.mkdir(parents=True)
    files = []
    for split in multi30k.SPLITS:
        for language in ("en", "de"):
            content = gzip.compress(f"{split} {language}\n".encode(), mtime=0)
            name = f"{split}.{language}.gz"
            (folder / name).write_bytes(content)
            digest = hashlib.sha256(content).hexdigest()
            files.append(RemoteFile(name, "https://no.where/", len(content), digest))
    monkeypatch.setattr(multi30k, "FILES", files)
    return folder


def test_multi30k_in_both_directions(small_multi30k: Path, tmp_path: Path) -> None:
    settings = CorpusSettings(name="multi30k", from_folder=str(small_multi30k))
    forward = load_corpus(settings, tmp_path)
    assert forward.train.source == ["train en"]
    assert list(forward.tests) == ["test_2016_flickr"]
    assert forward.valid.target == ["val de"]
    backward = load_corpus(settings.with_changes(source_language="de"), tmp_path)
    assert (backward.source_language, backward.target_language) == ("de", "en")
    assert backward.train == ParallelText("multi30k train", ["train de"], ["train en"])
    assert load_corpus(settings.with_changes(target_language="en"), tmp_path) == backward
    with pytest.raises(UsageError, match="has en and de, not en to fr"):
        load_corpus(settings.with_changes(target_language="fr"), tmp_path)


def test_multi30k_is_looked_for_in_the_cache_and_at_the_site(
    small_multi30k: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = CorpusSettings(name="multi30k")
    nowhere = tmp_path / "nowhere"
    with pytest.raises(DataError, match="headcount data fetch multi30k --from DIR"):
        load_corpus(settings, nowhere)
    assert whereabouts("multi30k", nowhere) == ""
    assert load_corpus(settings, small_multi30k.parent).test.source == ["test_2016_flickr en"]
    assert whereabouts("multi30k", small_multi30k.parent) == str(small_multi30k)
    monkeypatch.setenv("HEADCOUNT_SHARED", str(small_multi30k.parent))
    assert load_corpus(settings, nowhere).test.source == ["test_2016_flickr en"]


def test_a_changed_or_missing_file_is_refused(small_multi30k: Path) -> None:
    cache = small_multi30k.parent
    (small_multi30k / "val.de.gz").write_bytes(b"changed")
    with pytest.raises(DataError, match=r"val.de.gz: checksum differs.*headcount data fetch"):
        load_corpus(CorpusSettings(name="multi30k"), cache)
    (small_multi30k / "val.de.gz").unlink()
    with pytest.raises(DataError, match=r"val.de.gz: no such file.*headcount data fetch"):
        load_corpus(CorpusSettings(name="multi30k"), cache)


def test_miniature_is_made_from_the_seed_in_both_directions() -> None:
    settings = CorpusSettings(sentences=40)
    made = load_corpus(settings)
    assert (made.name, made.source_language, made.target_language) == ("miniature", "en", "de")
    assert [len(text) for text in made.splits.values()][:3] == [40, 10, 20]
    assert next(iter(made.tests)) == "test"
    assert set(made.train.source).isdisjoint(made.test.source)
    assert load_corpus(settings).fingerprint == made.fingerprint
    assert load_corpus(settings.with_changes(seed=1)).fingerprint != made.fingerprint
    backward = load_corpus(settings.with_changes(source_language="de"))
    assert (backward.source_language, backward.target_language) == ("de", "en")
    assert backward.test.source == made.test.target


def test_every_corpus_says_what_it_is() -> None:
    assert list(corpus) == ["miniature", "multi30k", "files"]
    for name in corpus:
        assert len(corpus.summary(name)) > 20


BESIDE = Path(__file__).resolve().parents[2].parent / "shared"
SHARED = Path(os.environ.get("HEADCOUNT_SHARED") or BESIDE) / "data" / "multi30k"


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs multi30k in HEADCOUNT_SHARED or ../shared")
def test_the_real_multi30k() -> None:
    loaded = load_corpus(CorpusSettings(name="multi30k", from_folder=str(SHARED)))
    assert [len(text) for text in loaded.splits.values()] == [29_000, 1_014, 1_000]
    assert loaded.test.source[0] == "A man in an orange hat starring at something."
