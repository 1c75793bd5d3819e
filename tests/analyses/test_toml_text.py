"""TOML that is written must be read back as the same settings by Python's own reader."""

import math
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headcount.analyses.toml_text import toml_text

texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20
)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(texts, values))
def test_whatever_is_written_reads_back(wanted):
    assert tomllib.loads(toml_text(wanted)) == wanted


def test_a_float_stays_a_float_and_a_truth_value_is_no_number():
    read = tomllib.loads(toml_text({"rate": 1.0, "small": 1e-5, "steps": 1, "tie": True}))
    assert [type(value) for value in read.values()] == [float, float, int, bool]
    assert read["small"] == 1e-5


def test_not_a_number_is_written_as_such():
    assert math.isnan(tomllib.loads(toml_text({"value": math.nan}))["value"])


def test_scalars_stand_before_tables_or_they_would_fall_into_them():
    text = toml_text({"train": {"steps": 3, "clip": {"norm": 1.0}, "seed": 1}, "seed": 0})
    assert text == "seed = 0\n\n[train]\nsteps = 3\nseed = 1\n\n[train.clip]\nnorm = 1.0\n"


def test_none_is_left_out_and_a_path_is_a_text():
    settings = {"width": None, "file": Path("a/b.txt"), "splits": (Path("x"), "y")}
    assert tomllib.loads(toml_text(settings)) == {"file": "a/b.txt", "splits": ["x", "y"]}


def test_a_value_that_toml_cannot_hold_is_named_by_its_key():
    with pytest.raises(TypeError, match=r"train\.device cannot be written"):
        toml_text({"train": {"device": object()}})
