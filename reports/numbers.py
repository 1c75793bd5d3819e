"""What a chart shows as a table, for a chart whose section prints its numbers nowhere else.

It is folded away below the chart: for readers without a pointer or without scripts, and for
the buttons that save what a figure shows.
"""

from __future__ import annotations

import math

from markupsafe import Markup

from .drawing.charts import Chart, Point
from .rendering import Sheet, render
from .wording import ABSENT, fixed, interval


def numbers_of(chart: Chart, digits: int = 2) -> Markup:
    """Return a folded table: one row a place on the x axis, one column a line."""
    return render("numbers.html", {"sheet": numbers_sheet(chart, digits)})


def numbers_sheet(chart: Chart, digits: int = 2) -> Sheet:
    """Return the values of all lines of a chart, with their intervals."""
    lines = [line for line in chart.lines if line.points]
    values = [{point.x: _written(point, digits) for point in line.points} for line in lines]
    places = sorted({x for own in values for x in own})
    columns = [chart.x.label.capitalize(), *(line.label for line in lines)]
    printed = [[f"{x:,g}", *(own.get(x, ABSENT) for own in values)] for x in places]
    return Sheet(f"{chart.title} ({chart.y.label})", columns, printed, words=frozenset())


def _written(point: Point, digits: int) -> str:
    bounded = math.isfinite(point.low) and math.isfinite(point.high)
    bounds = f" {interval(point.low, point.high, digits)}" if bounded else ""
    return fixed(point.y, digits) + bounds
