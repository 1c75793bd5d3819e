"""Line charts with intervals and a band.

Every chart is drawn twice, for wide and for narrow screens, because text that is scaled down
with its chart cannot be read; the style sheet shows the one that fits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from .palette import class_of
from .svg import Value, element, group, line, path, text, titled

MARKERS = {
    "circle": "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
    "square": "M-3.2 -3.2H3.2V3.2H-3.2Z",
    "triangle": "M0 -4.4L4.2 3.2H-4.2Z",
    "diamond": "M0 -4.8L4.2 0L0 4.8L-4.2 0Z",
    "cross": "M-3.4 -3.4L3.4 3.4M-3.4 3.4L3.4 -3.4",
    "plus": "M-4.2 0H4.2M0 -4.2V4.2",
    "down": "M0 4.4L4.2 -3.2H-4.2Z",
    "left": "M-4.4 0L3.2 4.2V-4.2Z",
    "right": "M4.4 0L-3.2 4.2V-4.2Z",
    "star": "M0 -5L1.5 -1.5L5 0L1.5 1.5L0 5L-1.5 1.5L-5 0L-1.5 -1.5Z",
    "bar": "M-4.5 -1.4H4.5V1.4H-4.5Z",
    "pillar": "M-1.4 -4.8H1.4V4.8H-1.4Z",
}
WIDE = "wide"
_APART = 3.0  # pixels between lines that have intervals
_MOST_MARKERS = 40  # a line with more points than this is drawn without them


@dataclass(frozen=True)
class Point:
    """One measured value with its interval, if there is one, and what it says when pointed at."""

    x: float
    y: float
    low: float = math.nan
    high: float = math.nan
    title: str = ""


@dataclass(frozen=True)
class Line:
    """Points that belong together, drawn in the n-th style of the palette."""

    label: str
    points: Sequence[Point]
    style: int | str = 0
    marker: str = "circle"


@dataclass(frozen=True)
class Axis:
    """What an axis shows; its range covers the values that are drawn and `include`.

    Args:
        whole: whether only whole numbers mean something, such as layers.
    """

    label: str
    include: tuple[float, ...] = ()
    end_ticks: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Rule:
    """A labelled line across the chart at one height, or at one place if `vertical`."""

    at: float
    label: str
    vertical: bool = False


@dataclass(frozen=True)
class Chart:
    """A line chart before it has a size.

    Args:
        title: what the chart shows, for readers who cannot see it.
        band: (x, low, high) of a grey band, such as that of random orders.
        marks: lines across the chart.
    """

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    band: Sequence[tuple[float, float, float]] = ()
    marks: Sequence[Rule] = field(default_factory=tuple)


@dataclass(frozen=True)
class _Frame:
    """Where a chart's values lie on paper."""

    width: float
    height: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    left: float = 44
    right: float = 14
    top: float = 30
    bottom: float = 42

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        low, high = self.y_range
        inside = self.height - self.top - self.bottom
        return self.height - self.bottom - (value - low) / (high - low) * inside


def draw(chart: Chart, wide: tuple[int, int] = (760, 360), narrow: int = 300) -> Markup:
    """Draw a chart for wide and for narrow screens.

    Args:
        wide: width and height in pixels at full size.
        narrow: height at a width of 340 pixels.
    """
    # The script reads what the points of the narrow chart say from those of the wide one.
    versions = ((WIDE, *wide), ("narrow", 340, narrow))
    return Markup("").join(_svg(chart, name, width, height) for name, width, height in versions)


def swatch(style: int | str, marker: str) -> Markup:
    """Return the short piece of a line that stands in a legend."""
    drawn = [line(0, 7, 30, 7, "stroke")]
    drawn.append(_marker(15, 7, marker))
    attributes: dict[str, Value] = {
        "class": f"swatch {class_of(style)}",
        "viewBox": "0 0 30 14",
        "aria-hidden": "true",
    }
    return element("svg", attributes, *drawn)


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers from `low` to `high`: steps of 1, 2, 2.5 or 5 times a power of 10."""
    rough = (high - low) / max(1, about)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(n * step, 12) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _svg(chart: Chart, name: str, width: float, height: float) -> Markup:
    frame = _Frame(width, height, _range(chart, "x"), _range(chart, "y"))
    shifts = _shifts(chart.lines)
    attributes: dict[str, Value] = {
        "class": f"chart {name}",
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        "role": "img",
        "aria-label": chart.title,
    }
    if chart.x.end_ticks:
        # The script that moves a marker over the chart needs to know where the axis lies.
        ends = [frame.x(value) for value in frame.x_range]
        attributes["data-x"] = " ".join(f"{v:g}" for v in (*frame.x_range, *ends))
    return element(
        "svg",
        attributes,
        _axes(chart, frame),
        _band(chart, frame),
        *(_rule(rule, frame) for rule in chart.marks),
        *(
            _line(drawn, frame, shift, told=name == WIDE)
            for drawn, shift in zip(chart.lines, shifts, strict=True)
        ),
        line(0, frame.top, 0, height - frame.bottom, "cursor"),
    )


def _range(chart: Chart, axis: str) -> tuple[float, float]:
    """Return the smallest and largest value on an axis; equal ones are drawn apart."""
    of_axis = chart.x if axis == "x" else chart.y
    values = list(of_axis.include)
    for drawn in chart.lines:
        for point in drawn.points:
            values += [point.x] if axis == "x" else [point.y, point.low, point.high]
    for x, low, high in chart.band:
        values += [x] if axis == "x" else [low, high]
    values = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 0.5, high + 0.5
    if axis == "y":
        margin = (high - low) * 0.04
        low, high = (0.0 if low == 0 else low - margin), high + margin
    return low, high


def _axes(chart: Chart, frame: _Frame) -> Markup:
    bottom, right = frame.height - frame.bottom, frame.width - frame.right
    drawn: list[Markup] = []
    for value in ticks(*frame.y_range, about=5):
        y = frame.y(value)
        drawn.append(line(frame.left, y, right, y, "grid"))
        drawn.append(text(frame.left - 7, y + 4, f"{value:,g}", anchor="end"))
    places = ticks(*frame.x_range, about=8 if frame.width > 400 else 4)
    if chart.x.whole:
        places = [value for value in places if value == int(value)]
    if chart.x.end_ticks:
        # The whole model must be named on the axis, and not be printed over its neighbour.
        last, step = frame.x_range[1], places[1] - places[0]
        places = [value for value in places if last - value >= step * 0.6] + [last]
    for value in places:
        x = frame.x(value)
        drawn.append(line(x, bottom, x, bottom + 4, "tick"))
        drawn.append(text(x, bottom + 18, f"{value:,g}", anchor="middle"))
    drawn.append(line(frame.left, bottom, right, bottom, "axis"))
    drawn.append(text(2, 14, chart.y.label, "label"))
    drawn.append(text(right, frame.height - 6, chart.x.label, "label", "end"))
    return group("axes", *drawn)


def _band(chart: Chart, frame: _Frame) -> Markup:
    if not chart.band:
        return Markup("")
    upper = [(frame.x(x), frame.y(high)) for x, _, high in chart.band]
    lower = [(frame.x(x), frame.y(low)) for x, low, _ in reversed(chart.band)]
    return path(upper + lower, "band", closed=True)


def _rule(rule: Rule, frame: _Frame) -> Markup:
    if rule.vertical:
        x = frame.x(rule.at)
        on_left = x > frame.width / 2
        words = text(
            x + (-6 if on_left else 6),
            frame.height - frame.bottom - 8,
            rule.label,
            anchor="end" if on_left else "start",
        )
        return group("rule", line(x, frame.top, x, frame.height - frame.bottom), words)
    y = frame.y(rule.at)
    words = text(frame.left + 4, y - 5, rule.label)
    return group("rule", line(frame.left, y, frame.width - frame.right, y), words)


def _shifts(lines: Sequence[Line]) -> list[float]:
    """Return how far each line is moved aside, so that intervals do not cover each other."""
    barred = [any(math.isfinite(point.low) for point in drawn.points) for drawn in lines]
    shifts, middle, place = [], (sum(barred) - 1) / 2, 0
    for is_barred in barred:
        shifts.append((place - middle) * _APART if is_barred else 0.0)
        place += is_barred
    return shifts


def _line(drawn: Line, frame: _Frame, shift: float, *, told: bool) -> Markup:
    """Draw one line; its points say what they are only where they are `told`."""
    points = [point for point in drawn.points if math.isfinite(point.y)]
    if not points:
        return Markup("")
    parts = [path([(frame.x(p.x) + shift, frame.y(p.y)) for p in points], "stroke")]
    if len(points) <= _MOST_MARKERS:
        for point in points:
            x, y = frame.x(point.x) + shift, frame.y(point.y)
            title = point.title or f"{drawn.label}: {point.y:g}"
            shapes = [_whisker(point, frame, shift), _marker(x, y, drawn.marker)]
            # A marker is too small to be pointed at by a hand, so a bare disc lies around it.
            shapes.append(element("circle", {"class": "hit", "cx": x, "cy": y, "r": 7}))
            whole = Markup("").join(shapes)
            parts.append(titled(whole, title) if told else element("g", {}, whole))
    return group(f"line {class_of(drawn.style)}", *parts)


def _marker(x: float, y: float, name: str) -> Markup:
    """Draw a marker; a name that is none of the shapes draws nothing."""
    if name not in MARKERS:
        return Markup("")
    attributes: dict[str, Value] = {
        "class": "marker",
        "d": MARKERS[name],
        "transform": f"translate({x:.1f} {y:.1f})",
    }
    return element("path", attributes)


def _whisker(point: Point, frame: _Frame, shift: float) -> Markup:
    if not (math.isfinite(point.low) and math.isfinite(point.high)):
        return Markup("")
    x = frame.x(point.x) + shift
    return line(x, frame.y(point.low), x, frame.y(point.high), "whisker")
