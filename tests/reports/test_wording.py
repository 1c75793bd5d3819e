"""Numbers are written as readers expect them."""

import math

import pandas as pd
import pytest

from headcount.reports.wording import duration, fixed, interval, signed, significant, title_of


@pytest.mark.parametrize(
    ("value", "digits", "written"),
    [
        (1204224, 0, "1,204,224"),
        (-0.604, 2, "\u22120.60"),
        (-0.001, 2, "0.00"),
        (math.nan, 2, "–"),
        (None, 2, "–"),
        (pd.NA, 2, "–"),
    ],
)
def test_fixed(value, digits, written):
    assert fixed(value, digits) == written


def test_signed():
    assert [signed(value) for value in (0.314, -0.8, 0.0, -0.001)] == [
        "+0.31",
        "\u22120.80",
        "0.00",
        "0.00",
    ]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0"),
        (0.03124, "0.0312"),
        (3.1e-6, "3.10e\u221206"),
        (123.456, "123"),
        (99999, "99,999"),
        (-1.5, "\u22121.50"),
        (math.nan, "–"),
    ],
)
def test_significant(value, written):
    assert significant(value) == written


def test_intervals_and_durations():
    assert interval(87.811, 90.02) == "[87.81, 90.02]"
    assert interval(math.nan, 1) == "–"
    assert [duration(s) for s in (4.24, 185, 7800, math.nan)] == [
        "4.2 s",
        "3 min 5 s",
        "2 h 10 min",
        "–",
    ]


def test_titles():
    assert [title_of(name) for name in ("leave_one_out", "bleu", "weight_norm", "")] == [
        "Leave-one-out",
        "BLEU",
        "Weight norm",
        "",
    ]
