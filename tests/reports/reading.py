"""A strict little reader of the page: every tag must be closed by its own end tag."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "img", "link", "hr"}


@dataclass
class Node:
    """One element with its attributes, and its children and texts in order."""

    tag: str
    attributes: dict[str, str]
    inside: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(part if isinstance(part, str) else part.text for part in self.inside)

    def all(self, tag=None, **wanted):
        """Every element below with such a tag and such attributes."""
        found = []
        for part in self.inside:
            if isinstance(part, str):
                continue
            if (tag is None or part.tag == tag) and all(
                part.attributes.get(name.rstrip("_")) == value for name, value in wanted.items()
            ):
                found.append(part)
            found += part.all(tag, **wanted)
        return found

    def one(self, tag=None, **wanted):
        (found,) = self.all(tag, **wanted)
        return found


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = [Node("document", {})]

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute of <{tag}> is given twice: {names}"
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        self.open[-1].inside.append(data)


def read(html):
    """Return the document; raises AssertionError where tags are not balanced."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert len(reader.open) == 1, f"never closed: {[node.tag for node in reader.open[1:]]}"
    return reader.open[0]


def sheet(document, label):
    """Return the printed table with such a caption: its headings, and its rows of texts."""
    (table,) = [
        table for table in document.all("table") if table.all("caption")[0].text.strip() == label
    ]
    rows = [
        [cell.text for cell in row.inside if not isinstance(cell, str)] for row in table.all("tr")
    ]
    return [text.strip() for text in rows[0]], rows[1:]
