"""Colours stay apart for every kind of colour vision, and words stay readable on them."""

from itertools import combinations

import numpy as np
import pytest

from headcount.reports.drawing import charts, palette

# Machado, Oliveira and Fernandes 2009, severity 1.0, for linear RGB.
VISION = {
    "full": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def lab(colour, vision):
    """CIE L*a*b* (D65) of `#rrggbb` as someone with such a vision sees it."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISION[vision] @ linear, 0, 1)
    matrix = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    xyz = np.array(matrix) @ seen / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_stay_apart(vision, scheme):
    colours = [getattr(style, scheme) for style in palette.LINES]
    for one, other in combinations(colours, 2):
        distance = np.linalg.norm(lab(one, vision) - lab(other, vision))
        assert distance > 10, (one, other, distance)


def test_every_line_has_a_dash_and_a_marker_of_its_own():
    assert len({style.dash for style in palette.STYLES}) == len(palette.STYLES) == 12
    assert len({style.marker for style in palette.STYLES}) == len(palette.STYLES)
    assert {style.marker for style in palette.STYLES} == set(charts.MARKERS)


def test_every_line_of_a_chart_has_its_rules_in_the_style_sheet():
    sheet = palette.style_sheet()
    for style in (*range(15), "random"):
        assert sheet.count(f".{palette.class_of(style)}{{") == 2  # light, dark
    assert palette.class_of(13) == "line-1"


def test_letters_can_be_read_on_every_role():
    assert all(palette.contrast(palette.ink_on(it), it) >= 4.5 for it in palette.ROLES.values())


def test_lines_can_be_seen_on_both_backgrounds():
    for style in (*palette.LINES, palette.RANDOM_LINE):
        assert palette.contrast(style.light, palette.LIGHT_BACKGROUND) >= 4.5
        assert palette.contrast(style.dark, palette.DARK_BACKGROUND) >= 4.5


def test_numbers_can_be_read_in_every_cell():
    assert all(palette.contrast(palette.ink_on(colour), colour) >= 4.5 for colour in palette.HEAT)


def test_contrast_of_black_and_white_is_21():
    assert palette.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert palette.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_cells_grow_lighter_with_the_value():
    shades = [palette.luminance(colour) for colour in palette.HEAT]
    assert shades == sorted(shades)
    assert [palette.heat_step(share) for share in (-1, 0, 0.5, 1, 2)] == [0, 0, 8, 15, 15]
