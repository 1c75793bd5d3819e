"""Every head as one small square, so that what is left can be seen at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from .svg import Value, element, group, text

STEP, SIDE, APART, TOP = 14, 12, 18, 18


def minimap(heads: Sequence[tuple[str, int, int]]) -> Markup:
    """Draw one grid a site: a row a layer, a column a head.

    Args:
        heads: (site, layer, head); the square of the n-th one has `data-head="n"`.
    """
    sites: dict[str, list[tuple[int, int, int]]] = {}
    for place, (site, layer, head) in enumerate(heads):
        sites.setdefault(site, []).append((place, layer, head))
    drawn, left, height = [], 0, 0
    for site, own in sites.items():
        squares = [text(left, 11, site)]
        for place, layer, head in own:
            square: dict[str, Value] = {
                "data-head": str(place),
                "x": left + STEP * head + 1,
                "y": TOP + STEP * layer + 1,
                "width": SIDE,
                "height": SIDE,
                "rx": 2,
            }
            squares.append(element("rect", square))
        drawn.append(group("site", *squares))
        height = max(height, TOP + STEP * (1 + max(layer for _, layer, _ in own)))
        left += STEP * (1 + max(head for _, _, head in own)) + APART
    attributes: dict[str, Value] = {
        "class": "minimap",
        "viewBox": f"0 0 {max(left - APART, 1)} {height}",
        "role": "img",
        "aria-label": "The heads that are left",
    }
    return element("svg", attributes, *drawn)
