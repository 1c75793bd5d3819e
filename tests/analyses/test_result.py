"""A Result that was written is read back as it was, whatever text it holds."""

import math

import pandas as pd
import pytest

from headcount.analyses.result import Column, Provenance, Result, Table
from headcount.models.errors import DataError

TEXTS = [
    "a\rb",
    "a\r\nb",
    "a\nb",
    '"',
    "\\",
    "NA",
    "nan",
    "",
    "  lead",
    "1.0",
    "\u2028\x85\x0b",
    "\x00",
]
FROM = Provenance("0.1", "", "headcount", 0, "ab", {}, "CPU", {}, "2026-01-01", 1.5, {"bleu": "s"})


def result():
    columns = [
        Column("text", "text", "words"),
        Column("number", "number", "a number", "nats"),
        Column("whole", "whole", "a count"),
        Column("truth", "truth", "yes or no"),
    ]
    records = [
        {"text": text, "number": 0.1 * place, "whole": place, "truth": place % 2 == 0}
        for place, text in enumerate(TEXTS)
    ]
    records.append({"text": "none", "number": math.nan, "whole": None, "truth": None})
    table = Table.of("Everything.", columns, records, n="13 rows", interval="none")
    return Result("trial", {"all": table}, {"key": [1, "a"]}, FROM, ("A remark.",))


def test_what_is_saved_is_loaded(tmp_path):
    saved = result()
    saved.save(tmp_path)
    loaded = Result.load(tmp_path)
    pd.testing.assert_frame_equal(loaded.tables["all"].rows, saved.tables["all"].rows)
    assert list(loaded.tables["all"].rows["text"]) == [*TEXTS, "none"]
    assert loaded.tables["all"].columns == saved.tables["all"].columns
    assert (loaded.settings, loaded.provenance) == (saved.settings, saved.provenance)
    assert loaded.remarks == saved.remarks


def test_the_same_result_gives_the_same_bytes(tmp_path):
    for name in ("one", "other"):
        result().save(tmp_path / name)
    for file in ("result.json", "all.csv"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


def test_an_unfinished_result_is_refused(tmp_path):
    result().save(tmp_path)
    (tmp_path / "all.csv").unlink()
    with pytest.raises(DataError, match=r"all\.csv is missing"):
        Result.load(tmp_path)
    with pytest.raises(DataError, match="no finished result"):
        Result.load(tmp_path / "nowhere")


def test_a_damaged_result_is_refused(tmp_path):
    result().save(tmp_path)
    (tmp_path / "result.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="damaged"):
        Result.load(tmp_path)
