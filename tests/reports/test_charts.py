"""Charts put points where their values say, and their words stay words."""

import math
import re

import pytest
from markupsafe import Markup
from reading import read, sheet

from headcount.reports.drawing import svg
from headcount.reports.drawing.charts import Axis, Chart, Line, Point, Rule, draw, ticks
from headcount.reports.numbers import numbers_of


def chart(**changes):
    points = [Point(0, 0), Point(5, 50, 40, 60, "half <way>"), Point(10, 100)]
    values = {
        "title": "A & B",
        "x": Axis("heads", end_ticks=True),
        "y": Axis("BLEU"),
        "lines": [Line("one", points, 0, "circle")],
    }
    return Chart(**{**values, **changes})


def markers(drawn):
    found = re.findall(r"translate\((\S+) (\S+)\)", drawn.attributes["transform"])
    return tuple(float(part) for part in found[0])


def wide(drawn):
    return read(drawn).one("svg", class_="chart wide")


def test_a_chart_as_a_table_has_every_point_and_its_interval():
    other = Line("<other>", [Point(5, 7.25), Point(2.5, 1)], 1, "square")
    drawn = read(numbers_of(chart(lines=[*chart().lines, other, Line("none", [])]), digits=1))
    columns, rows = sheet(drawn, "A & B (BLEU)")
    assert columns == ["Heads", "one", "<other>"]
    assert rows == [
        ["0", "0.0", "–"],
        ["2.5", "–", "1.0"],
        ["5", "50.0 [40.0, 60.0]", "7.2"],
        ["10", "100.0", "–"],
    ]


def test_points_lie_in_proportion():
    at = [markers(node) for node in wide(draw(chart())).all("path", class_="marker")]
    (x0, y0), (x1, y1), (x2, y2) = at
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11) and x2 > x1
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.11) and y0 > y1


def test_an_interval_is_drawn_around_its_point():
    drawn = wide(draw(chart()))
    whisker = drawn.one("line", class_="whisker").attributes
    _, y = markers(drawn.all("path", class_="marker")[1])
    assert float(whisker["y1"]) - y == pytest.approx(y - float(whisker["y2"]), abs=0.11)


def test_lines_with_intervals_stand_a_little_apart():
    line = chart().lines[0]
    bare = Line("bare", [Point(0, 0), Point(10, 100)])
    drawn = wide(draw(chart(lines=[line, bare, line])))
    first, second, middle = (
        markers(drawn.all("path", class_="marker")[place])[0] for place in (0, 5, 3)
    )
    assert second - first == pytest.approx(3, abs=0.11)
    assert middle == pytest.approx((first + second) / 2, abs=0.11)


def test_words_are_escaped_and_titles_told():
    drawn = read(draw(chart()))
    assert "half <way>" in [node.text for node in drawn.all("title")]
    assert drawn.all("svg")[0].attributes["aria-label"] == "A & B"


def test_values_that_were_not_measured_are_left_out():
    points = [Point(0, 1), Point(1, math.nan), Point(2, 3)]
    drawn = draw(chart(lines=[Line("gap", points)]))
    assert "nan" not in drawn
    assert len(wide(drawn).all("path", class_="marker")) == 2


@pytest.mark.parametrize("points", [[], [Point(3, 7)], [Point(3, 7), Point(3, 7)]])
def test_few_or_equal_points_still_make_a_chart(points):
    drawn = draw(chart(lines=[Line("few", points)], x=Axis("x"), marks=[Rule(7, "seven")]))
    assert "nan" not in drawn and "inf" not in drawn
    read(drawn)


def test_the_last_value_is_on_the_axis_and_covers_no_other():
    labels = [
        node.text
        for node in wide(draw(chart(lines=[Line("a", [Point(0, 1), Point(72, 2)])]))).all("text")
    ]
    assert "72" in labels and "70" not in labels and "60" in labels


@pytest.mark.parametrize(
    ("low", "high", "about", "expected"),
    [
        (0, 100, 5, [0, 20, 40, 60, 80, 100]),
        (0.03, 0.11, 4, [0.04, 0.06, 0.08, 0.1]),
        (-1.2, 3.4, 5, [-1, 0, 1, 2, 3]),
    ],
)
def test_ticks_are_round(low, high, about, expected):
    assert ticks(low, high, about) == pytest.approx(expected)


def test_svg_escapes_text_and_attributes():
    made = svg.element("text", {"class": '"><x'}, "<script>", Markup("<b>mine</b>"))
    assert made == '<text class="&#34;&gt;&lt;x">&lt;script&gt;<b>mine</b></text>'


def test_coordinates_are_short():
    assert svg.line(1.0, -0.04, 2.26, 3) == '<line x1="1" y1="0" x2="2.3" y2="3"/>'
