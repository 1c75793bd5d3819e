"""The few lines that make SVG: elements, escaped text, short numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from markupsafe import Markup, escape

Value = str | int | float


def element(name: str, attributes: Mapping[str, Value], *children: str | Markup) -> Markup:
    """Return one SVG element; children that are plain text are escaped.

    Args:
        name: tag name.
        attributes: in the order in which they are written.
    """
    written = Markup("").join(
        Markup(' {}="{}"').format(key, _short(value)) for key, value in attributes.items()
    )
    inside = Markup("").join(children)
    if not children:
        return Markup("<{}{}/>").format(Markup(name), written)
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), written, inside)


def group(class_name: str, *children: Markup) -> Markup:
    """Return a `<g>` with a class for the style sheet."""
    return element("g", {"class": class_name}, *children)


def text(x: float, y: float, words: str, class_name: str = "", anchor: str = "start") -> Markup:
    """Return a line of text; `anchor` is start, middle or end."""
    attributes: dict[str, Value] = {"x": x, "y": y}
    if class_name:
        attributes["class"] = class_name
    if anchor != "start":
        attributes["text-anchor"] = anchor
    return element("text", attributes, words)


def line(x1: float, y1: float, x2: float, y2: float, class_name: str = "") -> Markup:
    """Return a straight line."""
    attributes: dict[str, Value] = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    if class_name:
        attributes["class"] = class_name
    return element("line", attributes)


def path(points: Iterable[tuple[float, float]], class_name: str, *, closed: bool = False) -> Markup:
    """Return a line through points, or a filled shape if `closed`."""
    steps = "L".join(f"{_short(x)} {_short(y)}" for x, y in points)
    return element("path", {"class": class_name, "d": f"M{steps}{'Z' if closed else ''}"})


def titled(shape: Markup, title: str) -> Markup:
    """Return a shape that tells what it is when it is pointed at."""
    return element("g", {}, element("title", {}, title), shape)


def _short(value: Value) -> str | Markup:
    """Write a coordinate with at most one decimal: a tenth of a pixel is finer than a screen."""
    if isinstance(value, str):
        return escape(value)
    rounded = f"{value:.1f}".removesuffix(".0")
    return "0" if rounded == "-0" else rounded
