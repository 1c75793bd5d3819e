"""The sections of the page: one file each, found by being in this folder.

A section is a function from the run's `Findings` to markup. It names the Results it cannot
do without; where one of them is missing, or where the function finds nothing to show and
returns None, the page has no such section.

    @section("training", title="Training", place=60, needs=("train",))
    def training(findings: Findings) -> Markup | None:
        \"\"\"How loss and quality went while the model was trained.\"\"\"
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from markupsafe import Markup

from ...models.registry import Registry
from ..findings import Findings

Draw = Callable[[Findings], Markup | None]


@dataclass(frozen=True)
class Section:
    """One section of the page.

    Args:
        title: its heading and its line in the table of contents.
        place: sections stand in ascending order of this number.
        needs: analyses whose Results it reads and cannot do without.
        draw: makes its markup, or None where there is nothing to show.
    """

    title: str
    place: int
    needs: tuple[str, ...]
    draw: Draw


registry: Registry[Section] = Registry("section")


def section(name: str, *, title: str, place: int, needs: tuple[str, ...]) -> Callable[[Draw], Draw]:
    """Let a function join the page; `name` is its anchor, the rest as in `Section`."""

    def join(draw: Draw) -> Draw:
        registry(name)(Section(title, place, needs, draw))
        return draw

    return join


def in_order() -> list[tuple[str, Section]]:
    """Return every section by its place on the page, whatever order the files are found in."""
    for module in pkgutil.iter_modules(__path__):
        import_module(f".{module.name}", __name__)
    return sorted(((name, registry[name]) for name in registry), key=lambda pair: pair[1].place)
